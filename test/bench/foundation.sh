#!/usr/bin/env bash
# foundation.sh SQL_RATES SEARCHD [SECONDS]: rows/s of INSERT and statements/s of point SELECT, Stoa beside MariaDB InnoDB
# with equal durability, in one run on one machine. Both write to folders of the same file system, over TCP on loopback.
set -eu
rates=${1:?program sql_rates} searchd=${2:?program searchd} seconds=${3:-5}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/stoa-bench-XXXXXX")
pids=()
cleanup() { for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done; wait 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
wait_for() { for _ in $(seq 300); do mariadb-admin --no-defaults -h127.0.0.1 -P"$1" -uroot ping >/dev/null 2>&1 && return; sleep 0.1; done; echo "no server on port $1" >&2; exit 1; }
inno="CREATE TABLE rates (id bigint unsigned primary key, n int unsigned, b bigint, f float, s varchar(255), t text) engine=InnoDB"

mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$work/mariadb" --auth-root-authentication-method=normal >/dev/null 2>&1

for flush in 1 2; do
  port=$(free_port) peer=$(free_port)
  mkdir -p "$work/stoa$flush"
  cat > "$work/stoa$flush/searchd.conf" <<CONF
searchd {
  listen = 127.0.0.1:$port:mysql
  data_dir = $work/stoa$flush/data
  log = $work/stoa$flush/searchd.log
  pid_file = $work/stoa$flush/searchd.pid
  binlog_flush = $flush
}
CONF
  "$searchd" --config "$work/stoa$flush/searchd.conf" --nodetach >"$work/stoa$flush/out" 2>&1 & pids=($!)
  mariadbd --no-defaults --user="$(id -un)" --datadir="$work/mariadb" --port="$peer" --bind-address=127.0.0.1 --socket="$work/m.sock" \
    --innodb-flush-log-at-trx-commit=$flush --innodb-buffer-pool-size=2G --innodb-log-file-size=1G --skip-log-bin --skip-name-resolve >"$work/mariadb.out" 2>&1 & pids+=($!)
  wait_for "$port"; wait_for "$peer"
  mariadb --no-defaults -h127.0.0.1 -P"$peer" -uroot -e 'CREATE DATABASE IF NOT EXISTS bench'
  for batch in 1 100 1000; do
    for connections in 1 4; do
      "$rates" 127.0.0.1 "$port" Manticore create; "$rates" 127.0.0.1 "$peer" bench create "$inno"
      ours=$("$rates" 127.0.0.1 "$port" Manticore insert $batch $connections "$seconds")
      theirs=$("$rates" 127.0.0.1 "$peer" bench insert $batch $connections "$seconds")
      echo "flush=$flush insert batch=$batch connections=$connections: stoa $ours rows/s, mariadb $theirs rows/s, ratio $(python3 -c "print('%.2f' % ($ours/$theirs))")"
    done
  done
  if [ $flush = 1 ]; then
    for connections in 1 4; do
      "$rates" 127.0.0.1 "$port" Manticore create; "$rates" 127.0.0.1 "$peer" bench create "$inno"
      ours=$("$rates" 127.0.0.1 "$port" Manticore point_select $connections "$seconds")
      theirs=$("$rates" 127.0.0.1 "$peer" bench point_select $connections "$seconds")
      echo "point select connections=$connections: stoa $ours/s, mariadb $theirs/s, ratio $(python3 -c "print('%.2f' % ($ours/$theirs))")"
    done
  fi
  for p in "${pids[@]}"; do kill "$p"; done; wait "${pids[@]}" 2>/dev/null || true; pids=()
done
