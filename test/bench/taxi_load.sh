#!/usr/bin/env bash
# taxi_load.sh SEARCHD SHARED_DIR [ROWS=2000000] [NODE_DIR]: loads taxi-like rows (51 columns, columnar, batches of 1,000)
# through SQL, flushes the RAM chunk and merges to one disk chunk; prints the time and rate of each part and the bytes of the
# columnar files. SHARED_DIR has data/taxi_gen.cpp. With NODE_DIR, a folder where npm has installed @duckdb/node-api, the
# same rows are put into a DuckDB file with the same types, and its size is printed beside.
set -eu
searchd=${1:?program searchd} shared=${2:?folder with data/taxi_gen.cpp} rows=${3:-2000000} node_dir=${4:-}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/stoa-taxi-XXXXXX")
pid=
cleanup() { if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi; rm -rf "$work"; }
trap cleanup EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sql() { mariadb --no-defaults -h127.0.0.1 -P"$port" -uroot --max-allowed-packet=1G "$@"; }
now() { date +%s.%N; }
calc() { python3 -c "print('$1' % ($2))"; }
spc_bytes() { find "$work/data" -name '*.spc' -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }'; }
all_bytes() { find "$work/data" -path '*taxi*' -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }'; }
cpu() { awk -v hz="$(getconf CLK_TCK)" '{ printf "%.1f", ($14 + $15) / hz }' "/proc/$pid/stat"; }
chunks() { sql -N -e 'show table taxi status' | awk '$1 == "disk_chunks" { print $2 }'; }
written() { awk '$1 == "write_bytes:" { print $2 }' "/proc/$pid/io"; }

g++ -O2 -std=c++17 -o "$work/taxi_gen" "$shared/data/taxi_gen.cpp"
cat > "$work/searchd.conf" <<CONF
searchd {
  listen = 127.0.0.1:$port:mysql
  data_dir = $work/data
  log = $work/searchd.log
  pid_file = $work/searchd.pid
  binlog_flush = 2
}
CONF
"$searchd" --config "$work/searchd.conf" --nodetach >"$work/out" 2>&1 & pid=$!
for _ in $(seq 100); do sql -e 'select 1' >/dev/null 2>&1 && break; sleep 0.1; done

# The rows are made before the clock starts.
"$work/taxi_gen" --rows "$rows" --format sql --batch 1000 > "$work/rows.sql"
sql -e "$("$work/taxi_gen" --format ddl | sed "s/);\$/) engine='columnar'/")"

start=$(now); w0=$(written)
sql < "$work/rows.sql"
loaded=$(now)
load_chunks=$(chunks) load_cpu=$(cpu) w1=$(written)
before_flush=$(now)
sql -e 'flush ramchunk taxi'
flushed=$(now)
before=$(all_bytes) flush_cpu=$(cpu) w2=$(written)
before_optimize=$(now)
sql -e 'optimize table taxi option sync=1, cutoff=1'
optimized=$(now)
after=$(all_bytes) spc=$(spc_bytes)

load="$loaded-$start" flush="$flushed-$before_flush" optimize="$optimized-$before_optimize"
echo "rows $rows, $(stat -c %s "$work/rows.sql") bytes of SQL"
echo "load      $(calc '%.1f s, %.0f rows/s, %.1f MB/s of SQL' "$load,$rows/($load),$(stat -c %s "$work/rows.sql")/1e6/($load)"); server CPU $load_cpu s, written $(calc '%.0f MB' "($w1-$w0)/1e6"), disk chunks $load_chunks"
echo "flush     $(calc '%.2f s' "$flush"), $(calc '%.1f MB written, %.1f MB/s' "($w2-$w1)/1e6,($w2-$w1)/1e6/($flush)"); server CPU $(calc '%.1f s' "$flush_cpu-$load_cpu")"
echo "optimize  $(calc '%.1f s, %.0f rows/s, reads %.1f MB/s' "$optimize,$rows/($optimize),$before/1e6/($optimize)"); server CPU $(calc '%.1f s' "$(cpu)-$flush_cpu"), disk chunks $(chunks)"
echo "total     $(calc '%.1f s, %.0f rows/s' "($load+$flush+$optimize),$rows/($load+$flush+$optimize)")"
echo "files     $(calc '%.1f MB before OPTIMIZE, %.1f MB after; .spc %.1f MB, %.2f bytes a row' "$before/1e6,$after/1e6,$spc/1e6,$spc/$rows")"
echo "memory    $(awk '$1 == "VmHWM:" { printf "%.0f MB", $2 / 1024 }' "/proc/$pid/status") at most"
echo "answers   count, sum(fare_amount), sum(trip_distance): $(sql -N -e 'select count(*), sum(fare_amount), sum(trip_distance) from taxi' | tr '\t' ' ')"

if [ -n "$node_dir" ]; then
  rm "$work/rows.sql"
  "$work/taxi_gen" --rows "$rows" --format csv > "$work/rows.csv"
  types=$("$work/taxi_gen" --format cols | sed 's/text+string/VARCHAR/; s/\tstring/ VARCHAR/; s/\tfloat/ REAL/; s/\tuint/ UINTEGER/; s/\ttimestamp/ UINTEGER/; s/\tbigint/ BIGINT/; s/\t/ /' | paste -sd,)
  cat > "$work/duck.cjs" <<'JS'
const { createRequire } = require('module');
const [folder, file, types, csv] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(folder + '/')('@duckdb/node-api');
(async () => {
  const instance = await DuckDBInstance.create(file);
  const c = await instance.connect();
  await c.run(`CREATE TABLE taxi (${types})`);
  await c.run(`COPY taxi FROM '${csv}' (FORMAT csv, HEADER false)`);
  await c.run('CHECKPOINT');
  const version = (await c.runAndReadAll('SELECT version()')).getRows()[0][0];
  const answers = (await c.runAndReadAll('SELECT count(*), sum(fare_amount), sum(trip_distance) FROM taxi')).getRows()[0];
  const blocks = (await c.runAndReadAll('PRAGMA database_size')).getRows()[0];
  console.log(`duckdb    ${version}, answers ${answers.join(' ')}; blocks used ${blocks[4]} of ${blocks[3]}, ${blocks[2]} bytes each`);
})().catch((e) => { console.error(String(e)); process.exit(1); });
JS
  node "$work/duck.cjs" "$(realpath "$node_dir")" "$work/taxi.duckdb" "$types" "$work/rows.csv"
  duck=$(stat -c %s "$work/taxi.duckdb")
  echo "sizes     .spc $(calc '%.1f MB; DuckDB file %.1f MB, %.2f bytes a row; ratio %.2f' "$spc/1e6,$duck/1e6,$duck/$rows,$spc/$duck")"
fi
