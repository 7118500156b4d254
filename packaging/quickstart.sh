#!/bin/bash
# From a bare Debian 12 to a running server with a small table: installs packages, builds, starts searchd on the
# built-in config, loads the demo and runs its queries. Safe to run again: it starts over with an empty table.
#   packaging/quickstart.sh [DATA_FOLDER]     default: quickstart/ in the repository
set -eu
cd "$(dirname "$0")/.."
home=${1:-$PWD/quickstart}
searchd=$PWD/build/release/searchd
mysql=(mariadb --no-defaults --host=127.0.0.1 --port=9306 --table)

packaging/install-packages.sh build

echo "building (the first time takes some minutes)"
log=$(mktemp)
if ! { cmake --preset release && cmake --build --preset release -j "$(nproc)" --target searchd; } >"$log" 2>&1; then
  tail -n 40 "$log"
  echo "quickstart: the build failed" >&2
  exit 1
fi
rm -f "$log"

mkdir -p "$home"
cd "$home"
if "$searchd" --status >/dev/null 2>&1; then
  echo "searchd is running already"
else
  "$searchd"
fi

run() {
  echo
  echo "stoa> $1"
  "${mysql[@]}" --execute "$1"
}

"${mysql[@]}" --execute "
DROP TABLE IF EXISTS books;
CREATE TABLE books (title string, author string, year int, price float, tags multi, facts json);
INSERT INTO books (id, title, author, year, price, tags, facts) VALUES
  (1, 'The Time Machine', 'H. G. Wells', 1895, 7.5, (1, 3), '{\"pages\": 118, \"language\": \"en\"}'),
  (2, 'The War of the Worlds', 'H. G. Wells', 1898, 8.25, (1, 4), '{\"pages\": 287, \"language\": \"en\"}'),
  (3, 'Vingt mille lieues sous les mers', 'Jules Verne', 1870, 9.9, (1, 2), '{\"pages\": 427, \"language\": \"fr\"}'),
  (4, 'Le tour du monde en quatre-vingts jours', 'Jules Verne', 1872, 6.4, (2), '{\"pages\": 217, \"language\": \"fr\"}'),
  (5, 'Frankenstein', 'Mary Shelley', 1818, 5.95, (1, 5), '{\"pages\": 280, \"language\": \"en\"}');"

run "SELECT id, title, year FROM books WHERE year < 1880 ORDER BY year ASC"
run "SELECT author, COUNT(*) AS books, AVG(price) AS average FROM books GROUP BY author ORDER BY books DESC, author ASC"
run "SELECT id, title, facts.pages AS pages FROM books WHERE facts.language = 'en' AND tags IN (3, 4) ORDER BY id ASC"
run "UPDATE books SET price = 4.5 WHERE id = 5"
run "SELECT id, price FROM books WHERE id = 5"

cat <<END

The server is running; its data is in $home/data.
  connect:  mariadb --host=127.0.0.1 --port=9306        (or any MySQL client)
  stop:     (cd $home && $searchd --stopwait)
END
