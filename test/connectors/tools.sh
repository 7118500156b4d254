#!/usr/bin/env bash
# tools.sh HOST PORT: the command line programs that come with MariaDB.
set -eu
at=(--no-defaults -h"$1" -P"$2" -uscenario)
mariadb "${at[@]}" Manticore -e "DROP TABLE IF EXISTS tool_t; CREATE TABLE tool_t (n int); INSERT INTO tool_t (id, n) VALUES (1, 5)"
[ "$(mariadb "${at[@]}" -N Manticore -e 'select n from tool_t')" = 5 ]
[ "$(mariadb "${at[@]}" -N -C Manticore -e 'select n from tool_t')" = 5 ]  # compressed
mariadb "${at[@]}" -t Manticore -e 'status; show tables; desc tool_t' > /dev/null
mariadb-admin "${at[@]}" ping status processlist version > /dev/null
mariadb-show "${at[@]}" Manticore > /dev/null
mariadb-slap "${at[@]}" --create-schema=Manticore --query='select n from tool_t' --concurrency=4 --number-of-queries=200 > /dev/null
mariadb "${at[@]}" Manticore -e "DROP TABLE tool_t"
echo ok
