#!/bin/bash
# Runs one fuzzer for some seconds on its corpus, which grows in the build folder only; a finding stays beside it.
#   test/fuzz/run-one.sh FUZZER CORPUS_FOLDER SECONDS
set -u
fuzzer=$1 corpus=$2 seconds=$3
work=$fuzzer.work
mkdir -p "$work/corpus"
inputs=("$work/corpus")
[ -d "$corpus" ] && inputs+=("$corpus")
if "$fuzzer" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$work/" "${inputs[@]}" \
    >"$work/log" 2>&1; then
  grep -E 'number_of_executed_units|cov:' "$work/log" | tail -n 2
  echo "1 passed, 0 failed"
else
  tail -n 40 "$work/log"
  echo "0 passed, 1 failed"
  exit 1
fi
