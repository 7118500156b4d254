#!/usr/bin/env bash
# sql_bench.sh SEARCHD KNN_SQL_BENCH FOLDER PART [options]: vector search through SQL. PART is tables, three_way, fresh_rows,
# merge, overhead or cold (sql_bench.cpp has the options, such as --rows 20000). Vectors (made here), tables and the server,
# when it is not running yet, are kept in FOLDER, so that parts find the tables of earlier ones; PART stop ends the server.
# PORT of the environment is used when it is set.
set -eu
searchd=${1:?program searchd} bench=${2:?program knn_sql_bench} folder=${3:?folder} part=${4:?part}
shift 4
mkdir -p "$folder"
folder=$(realpath "$folder")
running() { [ -s "$folder/pid" ] && kill -0 "$(cat "$folder/pid")" 2>/dev/null; }

if [ "$part" = stop ]; then
  if running; then kill "$(cat "$folder/pid")"; while running; do sleep 0.1; done; fi
  exit 0
fi
if ! running; then
  port=${PORT:-$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')}
  cat > "$folder/searchd.conf" <<CONF
searchd {
  listen = 127.0.0.1:$port:mysql
  data_dir = $folder/data
  log = $folder/searchd.log
  binlog_flush = 2
  auto_optimize = 0
}
CONF
  "$searchd" --config "$folder/searchd.conf" --nodetach >"$folder/out" 2>&1 </dev/null &
  echo $! > "$folder/pid"
  echo "$port" > "$folder/port"
  for _ in $(seq 600); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
fi
exec "$bench" "$part" --port "$(cat "$folder/port")" --pid "$(cat "$folder/pid")" --folder "$folder" "$@"
