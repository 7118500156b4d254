#!/usr/bin/env bash
# dump.sh HOST PORT HOST2 PORT2: mariadb-dump of two tables from the first server, restored into the second: equal.
set -eu
from=(--no-defaults -h"$1" -P"$2" -uscenario) to=(--no-defaults -h"$3" -P"$4" -uscenario)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
sql() { local -n where=$1; mariadb "${where[@]}" --default-character-set=utf8mb4 -B -e "$2" Manticore; }
sql from "DROP TABLE IF EXISTS dump_a; DROP TABLE IF EXISTS dump_b"
sql to "DROP TABLE IF EXISTS dump_a; DROP TABLE IF EXISTS dump_b"
sql from "CREATE TABLE dump_a (title text, s string, n int, b bigint, f float, k bool, ts timestamp, j json, m multi, w multi64, v float_vector) min_infix_len='2';
CREATE TABLE dump_b (\`order\` int, a string) engine='columnar'"
python3 - > "$work/rows.sql" <<'PY'
rows = ["(%d,'title %d','it''s \\\\ \"%d\" \\n\\0 😀',%d,%d,%g,%d,%d,'{\"i\":%d,\"t\":\"q\\\\\"q\"}',(%d,%d),(-%d),(%d,0.25))" %
        (i, i, i, 4294967295 - i, -i * 10**12, i / 3, i % 2, i, i, i, i + 9, i, i) for i in range(1, 1501)]
print("INSERT INTO dump_a (id,title,s,n,b,f,k,ts,j,m,w,v) VALUES %s;" % ",".join(rows))
print("INSERT INTO dump_a (id) VALUES (18446744073709551615);")
print("INSERT INTO dump_b (id,`order`,a) VALUES (1,5,''),(2,0,'x');")
PY
mariadb "${from[@]}" --default-character-set=utf8mb4 Manticore < "$work/rows.sql"
mariadb-dump "${from[@]}" --default-character-set=utf8mb4 Manticore dump_a dump_b > "$work/dump.sql"
mariadb "${to[@]}" --default-character-set=utf8mb4 Manticore < "$work/dump.sql"
for table in dump_a dump_b; do
  for side in from to; do
    sql $side "SHOW CREATE TABLE $table; SELECT * FROM $table ORDER BY id ASC LIMIT 10000 OPTION max_matches=10000" > "$work/$table.$side"
  done
  cmp "$work/$table.from" "$work/$table.to"
done
[ "$(wc -l < "$work/dump_a.to")" -gt 1500 ]
mariadb-dump "${from[@]}" --default-character-set=utf8mb4 -etc --replace Manticore dump_a > "$work/replace.sql"
mariadb "${to[@]}" --default-character-set=utf8mb4 Manticore < "$work/replace.sql"
[ "$(sql to 'SELECT count(*) FROM dump_a' | tail -1)" = 1501 ]
sql from "DROP TABLE dump_a; DROP TABLE dump_b"; sql to "DROP TABLE dump_a; DROP TABLE dump_b"
echo ok
