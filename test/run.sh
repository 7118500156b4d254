#!/bin/bash
# Installs what the tests need, builds, runs every test and ends with one line "N passed, N failed".
#   test/run.sh          what CI runs
#   test/run.sh --full   also: slow tests, the whole suite under sanitizers, long kill loops, clients in Go and Node,
#                        fuzzing time
# STOA_SHARED names the folder of shared cases (default: ../shared beside the repository), STOA_NODE_MODULES a folder
# with node_modules for the clients from npm (without it they are left out).
set -u
cd "$(dirname "$0")/.." || exit 1
shared=${STOA_SHARED:-../shared}
full=no
[ "${1-}" = --full ] && full=yes

passed=0
failed=0
part_seconds=1500
[ "$full" = yes ] && part_seconds=7200
layers="base storage knn sql config daemon"

# part NAME COMMAND...: runs it; its last line "N passed, N failed" is added to the sums.
part() {
  local name=$1 output code line
  shift
  echo "== $name"
  output=$(mktemp)
  timeout --kill-after=10 "$part_seconds" "$@" >"$output" 2>&1
  code=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$output" | tail -n 1)
  local shown=200  # a part without failures says little
  [[ $line == *", 0 failed" && $code -eq 0 ]] && shown=12
  grep -vE '^[0-9]+ passed, [0-9]+ failed$' "$output" | tail -n "$shown"
  rm -f "$output"
  if [ -z "$line" ]; then
    echo "FAIL $name: ended with code $code and no result"
    failed=$((failed + 1))
    return
  fi
  echo "$name: $line"
  local part_passed=${line%% *} rest=${line#*, }
  local part_failed=${rest%% *}
  passed=$((passed + part_passed))
  failed=$((failed + part_failed))
  if [ "$part_failed" -eq 0 ] && [ "$code" -ne 0 ]; then
    echo "FAIL $name: ended with code $code"
    failed=$((failed + 1))
  fi
}

# build PRESET TARGET...
build() {
  local preset=$1 log
  shift
  log=$(mktemp)
  echo "== build $preset"
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$(nproc)" --target "$@"; } >"$log" 2>&1; then
    grep -E 'error|FAILED|CMake Error' "$log" | head -n 40
    tail -n 40 "$log"
    echo "FAIL build $preset"
    rm -f "$log"
    failed=$((failed + 1))
    return 1
  fi
  rm -f "$log"
}

# The unit-test programs that this preset has.
unit_targets() {
  local layer
  for layer in $layers; do
    if compgen -G "test/unit/$layer/*_test.cpp" >/dev/null; then
      echo "unit_$layer"
    fi
  done
}

run_units() {
  local preset=$1 target
  for target in $(unit_targets); do
    part "$target ($preset)" "build/$preset/$target"
  done
}

run_sql() {
  local preset=$1
  shift
  part "sql tests ($preset${1:+, $1})" build/release/sql_test_runner --searchd "build/$preset/searchd" --jobs "$(nproc)" "$@" test/sql
}

run_cases() {
  local preset=$1
  if [ ! -x "$shared/tools/run-cases" ]; then
    echo "shared cases: left out, there is no $shared/tools/run-cases"
    return
  fi
  part "shared cases ($preset)" test/shared-cases.sh "build/$preset/searchd" "$shared"
  part "shared cases of vectors ($preset)" env KNN=1 test/shared-cases.sh "build/$preset/searchd" "$shared"
}

# Kill loops and the like: each executable script of test/crash, "script SEARCHD ROUNDS", last line as everywhere.
run_crash() {
  local preset=$1 rounds=$2 script
  for script in test/crash/*.sh; do
    if [ -x "$script" ]; then
      part "${script#test/} ($preset)" "$script" "build/$preset/searchd" "$rounds"
    fi
  done
}

# Everything at once over disk chunks.
run_mix() {
  part "chunk mix ($1)" test/stress/chunk_mix.py --searchd "build/$1/searchd" --seconds "$2"
}

# The documents, and the quickstart with its pictures where their package can be had.
run_docs() {
  if packaging/install-packages.sh images; then
    part quickstart test/docs/quickstart.py
  else
    echo "quickstart and guide to vectors: left out, dataset-fashion-mnist cannot be installed"
  fi
  part documents test/docs/run_docs.py build/release/searchd
}

run_connectors() {
  local more=""
  [ "$full" = yes ] && more=--more
  part connectors test/connectors/run.sh ${more:+$more} build/release/searchd ${STOA_NODE_MODULES:+"$STOA_NODE_MODULES"}
}

run_fuzzers() {
  local seconds=$1 fuzzer
  for source in test/fuzz/*_fuzz.cpp; do
    fuzzer=$(basename "$source" .cpp)
    part "$fuzzer" test/fuzz/run-one.sh "build/fuzz/$fuzzer" "test/fuzz/corpus/${fuzzer%_fuzz}" "$seconds"
  done
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit
}

lists="build test connectors"
[ "$full" = yes ] && lists="$lists more-connectors"
# shellcheck disable=SC2086
packaging/install-packages.sh $lists || { echo "FAIL packages cannot be installed"; failed=1; finish; }

# shellcheck disable=SC2046
build release searchd sql_test_runner $(unit_targets) || finish
run_units release
if [ "$full" = yes ]; then run_sql release --slow; else run_sql release; fi
run_sql release --prepared
run_cases release
part "start and stop" test/server/start_stop.py build/release/searchd
part protocol test/server/protocol.py build/release/searchd
part "scan filters" test/server/scan_filters.py build/release/searchd
part "access modes" test/server/access_modes.py build/release/searchd
part "kinds of tables" test/server/table_kinds.py build/release/searchd
part "vectors in chunks" test/server/knn_chunks.py build/release/searchd
part damage test/server/damage.py build/release/searchd
part "backup and import" test/server/backup.py build/release/searchd
if [ "$full" = yes ]; then part "reported faults of chunks" test/server/chunk_bugs.py build/release/searchd --full
else part "reported faults of chunks" test/server/chunk_bugs.py build/release/searchd; fi
run_docs
part "many connections" test/stress/connections.py --searchd build/release/searchd
run_mix release 15
if [ "$full" = yes ]; then run_crash release 200; else run_crash release 15; fi
run_connectors

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1
# shellcheck disable=SC2046
build asan $(unit_targets) && run_units asan
if [ "$full" = yes ]; then
  run_sql release --restart-often
  if build asan searchd; then
    run_sql asan
    run_cases asan
    run_crash asan 20
    run_mix asan 120
    part "kinds of tables (asan)" test/server/table_kinds.py build/asan/searchd --rounds 50 --seed 2
  fi
  # shellcheck disable=SC2046
  if build tsan searchd $(unit_targets); then
    run_units tsan
    run_sql tsan
    run_cases tsan
    run_crash tsan 10
    run_mix tsan 180
  fi
  fuzzers=$(for source in test/fuzz/*_fuzz.cpp; do basename "$source" .cpp; done)
  # shellcheck disable=SC2086
  build fuzz $fuzzers && run_fuzzers 600
fi
finish
