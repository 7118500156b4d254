#!/bin/bash
# From a bare Debian 12 to a running server with tables: installs packages, builds, starts searchd on the built-in
# config, loads the demos and runs their queries: a few books; 60,000 pictures of Debian's dataset-fashion-mnist with a
# vector each; and, if npm and ../shared/data are there, passages of text that are found by what they mean.
# Safe to run again: each demo starts over with an empty table.
#   packaging/quickstart.sh [DATA_FOLDER]     default: quickstart/ in the repository
# STOA_DEMO_IMAGES=6000 loads fewer pictures, 0 none; STOA_SHARED names the folder shared, STOA_PORT another port.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
home=${1:-$PWD/quickstart}
images=${STOA_DEMO_IMAGES:-60000}
programs=${STOA_SHARED:-$root/../shared}/data
searchd=$root/build/release/searchd
port=${STOA_PORT:-9306}
mysql=(mariadb --no-defaults --host=127.0.0.1 --port="$port" --table)

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
where=(${STOA_PORT:+--port "$port"})
if "$searchd" --status "${where[@]}" >/dev/null 2>&1; then
  echo "searchd is running already"
else
  "$searchd" "${where[@]}"
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

# title TEXT: the head of a demo.
title() {
  printf '\n== %s\n' "$1"
}

title "pictures: the nearest of $images vectors"
if [ "$images" -eq 0 ]; then
  echo "left out: STOA_DEMO_IMAGES is 0"
elif "$root/packaging/install-packages.sh" images; then
  "$root/packaging/demo/fashion.py" --port "$port" --images "$images"
else
  echo "left out: the packages cannot be installed"
fi

title "sentences: passages by what they mean"
if ! command -v npm >/dev/null || [ ! -e "$programs/minilm_docs.py" ] || [ ! -e "$programs/use_embed.py" ]; then
  echo "left out: it needs npm and the programs of $programs"
elif ! "$root/packaging/install-packages.sh" sentences; then
  echo "left out: the packages cannot be installed"
else
  "$root/packaging/demo/sentences.py" "$programs" "$home/sentences" --port "$port" || echo "left out: see above"
fi

cat <<END

The server is running; its data is in $home/data.
  connect:  mariadb --host=127.0.0.1 --port=$port        (or any MySQL client)
  stop:     (cd $home && $searchd --stopwait)
END
