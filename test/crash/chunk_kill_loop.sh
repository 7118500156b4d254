#!/usr/bin/env bash
# chunk_kill_loop.sh SEARCHD [ROUNDS]: kill -9, failing and full disks during flush, merge, ALTER, DROP and copies.
# The last line sums up: N passed, N failed.
set -u
searchd=${1:?path of searchd}
rounds=${2:-15}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/sum_up.bash"
check() {
  echo "$1"
  run /usr/bin/python3 "$here/$2" --searchd "$searchd" "${@:3}"
}
cases=2
[ "$rounds" -ge 100 ] && cases=6
check "kill loop over disk chunks" chunk_kill_loop.py --rounds "$rounds" --seed 31
check "kill loop over disk chunks, with failing steps" chunk_kill_loop.py --rounds $((rounds / 3 + 1)) --seed 32 \
  --faults 'env.sync=fail%1,env.append=full%1,env.append.torn=fail%1,env.rename=fail%3,chunk.write=fail%3,chunk.publish=fail%5,flush.seal=fail%5,manifest.write=full%5'
check "kill loop over disk chunks, with failing syncs and reads" chunk_kill_loop.py --rounds $((rounds / 3 + 1)) --seed 51 \
  --faults 'env.sync=fail%2,env.read=fail%0.3'
check "fault points" fault_table.py --cases "$cases" --seed 33
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
