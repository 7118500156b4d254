#!/usr/bin/env bash
# run.sh SEARCHD [ROWS=8000000] [ROUNDS=5] [KEEP [QUERIES]]: a columnar table of random numbers that is 2.8 times as large as
# the memory of the group in which the server runs; aggregate, filter and group queries with access_columnar_attrs = mmap and
# = file, cold and hot. STOA_BENCH_SETTINGS: more lines of the searchd section. Needs root for the memory group; PYTHON (or python3) needs PyMySQL. See measure.py for what is printed.
set -eu
searchd=${1:?program searchd}
exec "${PYTHON:-python3}" "$(dirname "$0")/measure.py" "$(realpath "$searchd")" "${2:-8000000}" "${3:-5}" "${@:4}"
