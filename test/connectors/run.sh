#!/usr/bin/env bash
# run.sh [--more] SEARCHD [NODE_MODULES_PARENT]: every client library and tool that is installed, against two servers of
# its own; with --more also those of Go and Node. The last line is "N passed, N failed".
set -u
more=no
[ "${1-}" = --more ] && { more=yes; shift; }
searchd=${1:?path of searchd} node=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); ports=(); pids=()
stop() { for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done; wait 2>/dev/null; rm -rf "$work"; }
trap stop EXIT
for i in 1 2; do
  port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  printf 'searchd {\n listen = 127.0.0.1:%s:mysql\n data_dir = %s/data%s\n log = %s/log%s\n pid_file = %s/pid%s\n}\n' \
    "$port" "$work" $i "$work" $i "$work" $i > "$work/conf$i"
  "$searchd" --config "$work/conf$i" --nodetach > "$work/out$i" 2>&1 & pids+=($!); ports+=("$port")
  for _ in $(seq 200); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.05; done
done
h=127.0.0.1 p=${ports[0]}
passed=0 failed=0
run() {
  local name=$1 out; shift
  if out=$(timeout 120 "$@" 2>&1) && [[ $out == *ok* ]]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "failed: $name: $(echo "$out" | tail -n 3 | tr '\n' ' ' | cut -c1-300)"; fi
}
absent() { echo "not installed, not run: $1"; }
py() { /usr/bin/python3 -c "import $1" 2>/dev/null; }
py pymysql && run pymysql /usr/bin/python3 "$here/scenario.py" pymysql $h "$p" || absent pymysql
py MySQLdb && run mysqlclient /usr/bin/python3 "$here/scenario.py" mysqldb $h "$p" || absent mysqlclient
if py sqlalchemy; then for d in pymysql mysqldb; do run "sqlalchemy-$d" /usr/bin/python3 "$here/scenario.py" sqlalchemy-$d $h "$p"; done; else absent sqlalchemy; fi
py pyodbc && run odbc /usr/bin/python3 "$here/scenario.py" odbc $h "$p" || absent odbc
if command -v php > /dev/null; then for c in mysqli pdo-emulated pdo-native; do run "php $c" php "$here/scenario.php" $c $h "$p"; done; else absent php; fi
for c in mysql mysql-server-prepare MariaDB MariaDB-server-prepare; do
  if perl -MDBI -e "require DBD::${c%%-*}" 2> /dev/null; then run "perl $c" perl "$here/scenario.pl" $c $h "$p"; else absent "perl $c"; fi
done
jar=/usr/share/java/mariadb-java-client.jar
if [ -e $jar ] && command -v java > /dev/null; then
  for c in client-prepare server-prepare; do run "java $c" java -cp $jar "$here/Scenario.java" $c $h "$p"; done
else absent java; fi
if [ $more = no ]; then :; elif command -v go > /dev/null && [ -d /usr/share/gocode/src/github.com/go-sql-driver/mysql ]; then
  cp "$here/scenario.go" "$work/"
  if (cd "$work" && GO111MODULE=off GOCACHE="$work/cache" GOPATH=/usr/share/gocode go build -o go-scenario scenario.go); then
    for c in interpolate prepare; do run "go $c" "$work/go-scenario" $h "$p" $c; done
  else failed=$((failed + 1)); echo "failed: go build"; fi
else absent go; fi
if [ $more = no ]; then :; elif [ -n "$node" ] && [ -d "$node/node_modules" ]; then
  cp "$here/scenario.mjs" "$node/"
  for c in mysql mysql2 mysql2-execute mysql2-sha2 mariadb mariadb-execute knex sequelize; do
    if [ -d "$node/node_modules/${c%%-*}" ]; then (cd "$node" && true); run "node $c" bash -c "cd '$node' && node scenario.mjs $c $h $p"; else absent "node $c"; fi
  done
else absent node; fi
if command -v mariadb-dump > /dev/null; then
  run mariadb-dump "$here/dump.sh" $h "$p" $h "${ports[1]}"
  run mariadb-tools "$here/tools.sh" $h "$p"
else absent mariadb-client; fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
