#!/bin/bash
# Runs the shared cases that this version answers against a server of its own.
#   test/shared-cases.sh SEARCHD SHARED_FOLDER [OPTION OF run-cases]...
set -u
searchd=$(realpath "$1")
shared=$(realpath "$2")
shift 2
# KNN in the environment: the folder of vector search; else the others, without what they show of it.
if [ -n "${KNN:-}" ]; then
  folders="knn" without="fulltext,secondary"
else
  without="fulltext,knn,secondary"
  folders="protocol ddl dml types select filters expressions functions groupby facets json mva meta transactions subselect columnar maintenance"
fi

home=$(mktemp -d)
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
stop() {
  "$searchd" --config "$home/searchd.conf" --stopwait >/dev/null 2>&1
  rm -rf "$home"
}
trap stop EXIT

printf 'searchd {\n listen = 127.0.0.1:%s:mysql\n data_dir = data\n}\n' "$port" >"$home/searchd.conf"
TZ=UTC "$searchd" --config "$home/searchd.conf" || exit 1

paths=()
for folder in $folders; do
  [ -d "$shared/cases/$folder" ] && paths+=("$shared/cases/$folder")
done
"$shared/tools/run-cases" --host 127.0.0.1 --port "$port" --without "$without" "$@" "${paths[@]}"
