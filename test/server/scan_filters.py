#!/usr/bin/python3
"""Conditions that storage tests itself, against the same conditions evaluated over rows.

  scan_filters.py SEARCHD [SEED [VARIANT]]        last line: "N passed, N failed"

A condition C inside a conjunction is handed to storage; (C OR C) is not. Both must find the same rows.
"""

import contextlib
import os
import random
import shutil
import sys
import tempfile

import pymysql

from server_under_test import Server, run

SEARCHD = os.path.realpath(sys.argv[1])
ROWS = 9000
QUERIES = 120
COLUMNS = "(title text, n int, b bit(5), w bigint, o bool, d timestamp, f float, s string, k string, c int, m multi)"
INSERTED = "id, title, n, b, w, o, d, f, s, k, c, m"
# Statements after the rows are in, and the options of the table.
VARIANTS = {
    "rowwise in memory": ("", ()),
    "columnar in memory": ("engine='columnar'", ()),
    "rowwise on disk": ("", ("FLUSH RAMCHUNK t",)),
    "columnar on disk": ("engine='columnar'", ("FLUSH RAMCHUNK t",)),
    "columnar on disk, read from the file": ("engine='columnar' access_columnar_attrs='file'",
                                             ("FLUSH RAMCHUNK t",)),
}
BIG = (1 << 63) - 1


class Data:
    """Values by column, with runs, blocks of one value, extremes and ties."""

    def __init__(self, dice):
        self.dice = dice
        self.floats = [0.0, -0.0, 0.1, -0.1, 1.5, 3.4e38, -3.4e38, 1e-40, 16777216.0, 0.3, 2.5]
        self.texts = ["", "a", "A", "ab", "Ab", "é", "É", "ß", "zz", "0", "10", "x" * 300, "straße", "a ", "'q'"]

    def row(self, i):
        dice = self.dice
        block = i // 1024
        return {
            "id": [i + 1, (1 << 63) + i, i * 1000 + 7, (1 << 64) - 1 - i][i % 4 if block % 2 else 0] ,
            "n": [i, dice.randrange(1 << 32), 7, dice.choice([0, 1, (1 << 32) - 1]), dice.randrange(50)][block % 5],
            "b": dice.randrange(32),
            "w": [dice.randrange(-BIG - 1, BIG + 1), i - 4000, -5, dice.choice([-BIG - 1, BIG, 0, -1, 1])][block % 4],
            "o": dice.randrange(2) if block % 3 else 1,
            "d": 1700000000 + (i * 60 if block % 2 else dice.randrange(10)),
            "f": dice.choice(self.floats) if block % 2 else dice.randrange(-1000, 1000) / 10,
            "s": dice.choice(self.texts),
            "k": f"key{i}" if block % 2 else "same",
            "c": 0 if block != 3 else dice.randrange(3),
            "m": "(" + ",".join(str(dice.randrange(9)) for _ in range(dice.randrange(3))) + ")",
        }

    def number(self, column):
        dice = self.dice
        if column == "id":
            return dice.choice([dice.randrange(ROWS), (1 << 63) + dice.randrange(ROWS), (1 << 64) - 1 - dice.randrange(ROWS)])
        if column == "w":
            return dice.choice([-BIG - 1, BIG, 0, -1, 1, -5, dice.randrange(-4000, 4000), dice.randrange(-BIG, BIG)])
        if column == "d":
            return 1700000000 + dice.choice([0, 3, 9, 60 * dice.randrange(ROWS)])
        if column == "n":
            return dice.choice([0, 1, 7, (1 << 32) - 1, 1 << 32, -1, dice.randrange(ROWS), dice.randrange(1 << 32), 2.5])
        return dice.choice([0, 1, 2, 3, 31, 32, -1, dice.randrange(40)])

    def text(self, value):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def constant(self, column):
        if column == "f":
            return str(self.dice.choice([*self.floats, 0, 1, 1e39, -1e39, self.dice.randrange(-1000, 1000) / 10]))
        if column == "s":
            return self.text(self.dice.choice(self.texts))
        if column == "k":
            return self.text(self.dice.choice(["same", "none", f"key{self.dice.randrange(ROWS)}"]))
        return str(self.number(column))

    def condition(self):
        dice = self.dice
        column = dice.choice(["id", "n", "b", "w", "o", "d", "f", "s", "k", "c", "n", "f"])
        kinds = ["=", "<>", "in", "not in"]
        if column not in ("s", "k"):
            kinds += ["<", "<=", ">", ">=", "between", "not between"]
        kind = dice.choice(kinds)
        if kind.endswith("between"):
            low, high = self.constant(column), self.constant(column)
            if float(low) > float(high) and dice.random() < 0.9:
                low, high = high, low
            return f"{column} {kind} {low} AND {high}"
        if kind.endswith("in"):
            values = [self.constant(column) for _ in range(dice.choice([1, 2, 3, 12, 40]))]
            return f"{column} {kind} ({', '.join(values)})"
        return f"{column} {kind} {self.constant(column)}"


def fill(connection, options, after, data):
    run(connection, f"CREATE TABLE t {COLUMNS} {options}")
    for start in range(0, ROWS, 500):
        rows = []
        for i in range(start, start + 500):
            row = data.row(i)
            values = [str(row[c]) if c not in ("title", "s", "k") else data.text(row.get(c, f"word{i}"))
                      for c in INSERTED.split(", ")]
            rows.append("(" + ", ".join(values) + ")")
        run(connection, f"REPLACE INTO t ({INSERTED}) VALUES {', '.join(rows)}")
    for statement in after:
        run(connection, statement)
    run(connection, "UPDATE t SET n = 7, w = -1 WHERE b = 3")
    run(connection, "UPDATE t SET f = 0.1, c = 5 WHERE b = 4")
    run(connection, "DELETE FROM t WHERE b = 5")
    run(connection, "DELETE FROM t WHERE n BETWEEN 1024 AND 2100 AND id < 5000")


def compare(connection, dice, data):
    conditions = [data.condition() for _ in range(dice.choice([1, 1, 2, 3]))]
    rest = dice.choice(["", "", " AND length(s) < 200", " AND any(m) > 3"])
    pushed = " AND ".join(conditions) + rest
    evaluated = " AND ".join(f"({c} OR {c})" for c in conditions) + rest
    found = {}
    for where in (pushed, evaluated):
        ids = run(connection, f"SELECT id FROM t WHERE {where} ORDER BY id ASC LIMIT {ROWS} OPTION max_matches={ROWS}")
        count = run(connection, f"SELECT count(*) FROM t WHERE {where}")[0][0]
        groups = run(connection, f"SELECT b, count(*), sum(n) FROM t WHERE {where} GROUP BY b ORDER BY b ASC LIMIT 100")
        first = run(connection, f"SELECT id FROM t WHERE {where} LIMIT 3")
        meta = dict(run(connection, "SHOW META"))
        if count != len(ids) or int(meta["total_found"]) != count or len(first) != min(3, count):
            return f"{where}: {len(ids)} rows, count(*) {count}, total_found {meta['total_found']}"
        found[where] = (ids, count, groups, first)
    if found[pushed] != found[evaluated]:
        return f"{pushed}: {found[pushed][1]} rows, evaluated {found[evaluated][1]}"
    return None


def check_variant(server, seed, name):
    options, after = VARIANTS[name]
    dice = random.Random(f"{seed} {name}")
    data = Data(dice)
    with server.connect() as connection:
        try:
            fill(connection, options, after, data)
            for query in range(QUERIES):
                collation = "binary" if query % 2 else "libc_ci"
                run(connection, f"SET collation_connection = '{collation}'")
                wrong = compare(connection, dice, data)
                if wrong:
                    return f"{wrong} ({collation})"
        finally:
            with contextlib.suppress(pymysql.MySQLError):  # the server may have ended
                run(connection, "DROP TABLE IF EXISTS t")
    return None


def main():
    seed = sys.argv[2] if len(sys.argv) > 2 else "1"
    passed = failed = 0
    folder = tempfile.mkdtemp(prefix="stoa-filters-")
    server = Server(SEARCHD, folder, "binlog_flush = 0")
    server.start()
    for name in VARIANTS:
        if len(sys.argv) > 3 and name != sys.argv[3]:
            continue
        try:
            wrong = check_variant(server, seed, name)
        except Exception as error:  # any failure of a check is told and counted
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            print(f"FAIL {name}, seed {seed}: {wrong}"[:1500])
        failed += 1 if wrong else 0
        passed += 0 if wrong else 1
    if server.process.poll() is not None:
        print("FAIL the server has ended")
        failed += 1
    else:
        server.stop()
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
