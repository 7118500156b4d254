#!/usr/bin/env bash
# kill_loop.sh SEARCHD [ROUNDS]: kill -9 under four writers, plain and with failing and torn log writes.
# The last line sums up: N passed, N failed.
set -u
searchd=${1:?path of searchd}
rounds=${2:-20}
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0
run() {
  local out
  out=$(/usr/bin/python3 "$here/kill_loop.py" --searchd "$searchd" --rounds "$rounds" "$@" 2>&1)
  echo "$out" | sed '$d'
  local last
  last=$(echo "$out" | tail -n 1)
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    echo "$last"
    failed=$((failed + 1))
  fi
}
echo "kill loop, binlog_flush=1"
run --seed 11
echo "kill loop, binlog_flush=2"
run --seed 12 --binlog-flush 2
echo "kill loop with failing syncs and torn writes"
run --seed 13 --faults 'env.sync=fail%3,env.append=fail%1,env.append.torn=fail%1'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
