#!/usr/bin/env bash
# kill_loop.sh SEARCHD [ROUNDS]: kill -9 under four writers, plain and with failing and torn log writes.
# The last line sums up: N passed, N failed.
set -u
searchd=${1:?path of searchd}
rounds=${2:-20}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/sum_up.bash"
loop() {
  run /usr/bin/python3 "$here/kill_loop.py" --searchd "$searchd" --rounds "$rounds" "$@"
}
echo "kill loop, binlog_flush=1"
loop --seed 11
echo "kill loop, binlog_flush=2"
loop --seed 12 --binlog-flush 2
echo "kill loop with failing syncs and torn writes"
loop --seed 13 --faults 'env.sync=fail%3,env.append=fail%1,env.append.torn=fail%1'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
