#!/usr/bin/env bash
# coverage.sh NAME SECONDS: builds one fuzzer alone with coverage, runs it on its corpus and reports the lines it reached of
# the readers it is for. NAME: packet, sql_text, config, binlog. Needs clang-16, libclang-rt-16-dev and llvm-16.
set -eu
cd "$(dirname "$0")/../.."
name=${1:?packet, sql_text, config or binlog} seconds=${2:-60}
work=build/coverage/$name
mkdir -p "$work/corpus"
base=$(ls storage/base/*.cpp)
case $name in
  packet) sources="daemon/mysql/auth.cpp daemon/mysql/command.cpp daemon/mysql/compression.cpp daemon/mysql/handshake.cpp
    daemon/mysql/error_packet.cpp daemon/mysql/packet.cpp daemon/mysql/prepared.cpp daemon/mysql/wire.cpp sql/sql_error.cpp $base"
    readers="daemon/mysql"; libraries="-lcrypto -lz" ;;
  sql_text) sources="$(ls sql/parser/*.cpp) sql/sql_error.cpp $base"; readers="sql/parser"; libraries="" ;;
  config) sources="$(ls config/*.cpp) $base"; readers="config"; libraries="" ;;
  binlog) sources="$(ls storage/binlog/*.cpp storage/format/*.cpp) $base"; readers="storage/binlog"; libraries="" ;;
  *) echo "unknown fuzzer $name" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086
clang++-16 -std=c++20 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
  -fprofile-instr-generate -fcoverage-mapping -DFMT_SHARED -I. $sources "test/fuzz/${name}_fuzz.cpp" -lfmt -lpthread $libraries \
  -o "$work/fuzz"
corpus=()
[ -d "test/fuzz/corpus/$name" ] && corpus=("test/fuzz/corpus/$name")
dictionary=()
[ -f "test/fuzz/$name.dict" ] && dictionary=("-dict=test/fuzz/$name.dict")
LLVM_PROFILE_FILE="$work/profile" "$work/fuzz" -max_total_time="$seconds" -print_final_stats=1 "${dictionary[@]}" \
  -artifact_prefix="$work/" "$work/corpus" "${corpus[@]}" > "$work/log" 2>&1 || { tail -n 40 "$work/log"; echo "0 passed, 1 failed"; exit 1; }
grep number_of_executed_units "$work/log"
llvm-profdata-16 merge -o "$work/profdata" "$work/profile"
llvm-cov-16 report "$work/fuzz" -instr-profile="$work/profdata" "$PWD/$readers" | awk 'NF >= 13 && $10 ~ /%/ {print $1 ": " $8 " lines, " $10 " reached"}'
echo "1 passed, 0 failed"
