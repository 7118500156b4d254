#!/usr/bin/python3
"""The same answers from a table whose columnar attributes are mapped and from one whose are read from the file.

  access_modes.py SEARCHD [--rows N] [--queries Q] [--seed S]        last line: "N passed, N failed"

Two tables get the same writes: chunks, updates and deletes in them, rows in RAM. Each generated query is asked of
both: as they were made, after ALTER has changed each to the other's mode, and over a restarted server. While
queries run /proc/PID/maps may only name columnar files of the table that is mapped.
"""

import argparse
import contextlib
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

import pymysql

from server_under_test import Failed, Server, run

COLUMNS = """(title text, n_one int, n_few int, n_up int, n_12 int, n_32 int, n_run int, big bigint, f_dec float, f_any float,
o bool, ts timestamp, s_low string, s_high string, s_low_plain string hash='0', s_high_plain string hash='0', m multi,
m8 multi64, v float_vector, j json, r int engine='rowwise')"""
NAMES = ("id, title, n_one, n_few, n_up, n_12, n_32, n_run, big, f_dec, f_any, o, ts, s_low, s_high, s_low_plain, "
         "s_high_plain, m, m8, v, j, r")
SEED_ROWS = 4000
# A document `{i}` further on, made of one of the seed rows: what has few values is taken over.
COPIED = ("id + {i}, concat(title, ' {i}'), n_one, n_few, id + {i}, n_12, crc32(to_string(id + {i})), idiv(id + {i}, 700) % 5, "
          "(id + {i}) * -1000000007 + n_32, f_dec, crc32(to_string(id + {i})) / 7.0, o, 1700000000 + (id + {i}) * 3, s_low, "
          "concat('key', to_string((id + {i}) * 7919 % 1000003)), s_low_plain, concat(s_low, to_string(id + {i})), "
          "m, m8, v, j, r")
CHUNKS = 4
WORDS = ["", "red", "Red", "green", "blue", "straße", "é", "É", "zz", "a b c", "0", "10", "x" * 120]
BIG = 1 << 62


class ModesServer(Server):
    def mapped_columns(self):
        """Paths of the columnar files that the process has mapped, below the data folder."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/maps").read_text().splitlines()
        data = f"{self.data_dir}/"
        return {line.split(data)[1] for line in lines if data in line and ".spc" in line}


def text(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def seed_row(dice, i):
    items = ",".join(str(dice.randrange(12)) for _ in range(dice.randrange(5)))
    wide = ",".join(str(dice.choice([dice.randrange(-BIG, BIG), dice.randrange(-5, 5)])) for _ in range(dice.randrange(4)))
    vector = ",".join(f"{dice.gauss(0, 1):.4f}" for _ in range(8)) if i % 9 else ""
    json = ['{"a":%d,"tag":"%s","arr":[%d,%d]}' % (i % 50, WORDS[i % 4], i % 7, i % 3), '{"b":{"c":%d.5}}' % (i % 9), ""][i % 3]
    values = [i, text(f"title {i} {dice.choice(WORDS)}"), 7, dice.choice([3, 70000, 4000000000]), i, dice.randrange(4096),
              dice.randrange(1 << 32), i // 700 % 5, dice.randrange(-BIG, BIG), dice.randrange(-5000, 5000) / 100,
              repr(dice.gauss(0, 1e6)), dice.randrange(2), 1700000000 + 3 * i, text(dice.choice(WORDS)), text(f"key{i}"),
              text(dice.choice(WORDS)), text(f"plain{dice.random()}"), f"({items})", f"({wide})", f"({vector})", text(json),
              dice.randrange(300)]
    return "(" + ",".join(str(value) for value in values) + ")"


def fill_seed(connection, dice):
    run(connection, f"CREATE TABLE seed {COLUMNS} engine='columnar'")
    for start in range(1, SEED_ROWS + 1, 500):
        rows = ",".join(seed_row(dice, i) for i in range(start, start + 500))
        run(connection, f"INSERT INTO seed ({NAMES}) VALUES {rows}")


def writes_between(i):
    """What is changed after documents up to `i` are there; some of it lies in chunks by then."""
    return [f"UPDATE {{t}} SET n_12 = {i % 4096}, f_dec = 0.25 WHERE n_few = 3 AND n_12 BETWEEN 1000 AND 1200",
            f"UPDATE {{t}} SET s_low = 'updated', s_high = 'key{i}' WHERE n_12 = 17",
            f"UPDATE {{t}} SET big = -{i}, o = 1, ts = 5, m = (1,{i % 11}), m8 = (-{i}) WHERE n_12 % 97 = 5",
            "UPDATE {t} SET r = 7, s_low_plain = '', v = (1,2,3,4,5,6,7,8) WHERE n_12 % 101 = 6",
            f"DELETE FROM {{t}} WHERE n_12 BETWEEN 2000 AND 2010 OR id BETWEEN {i - 900} AND {i - 800}"]


def fill(server, table, mode, rows):
    with server.connect() as connection:
        run(connection, f"CREATE TABLE {table} {COLUMNS} engine='columnar' access_columnar_attrs='{mode}'")
        steps = rows // SEED_ROWS
        flush_at = {(chunk + 1) * steps // (CHUNKS + 1) for chunk in range(CHUNKS)}
        for step in range(steps):
            i = step * SEED_ROWS
            run(connection, f"INSERT INTO {table} ({NAMES}) SELECT {COPIED.format(i=i)} FROM seed")
            if step + 1 in flush_at:
                run(connection, f"FLUSH RAMCHUNK {table}")
                for sql in writes_between(i):
                    run(connection, sql.format(t=table))


class Queries:
    """Statements over `{t}` whose answer has one possible order."""

    NUMBERS = ["n_one", "n_few", "n_up", "n_12", "n_32", "n_run", "big", "f_dec", "f_any", "o", "ts", "r"]
    STRINGS = ["s_low", "s_high", "s_low_plain", "s_high_plain"]
    KEYS = ["n_one", "n_few", "n_12", "n_run", "o", "f_dec", "s_low", "s_low_plain", "r", "m", "m8", "j.a", "n_12 % 10"]
    EXPRESSIONS = ["n_12 * 2 + r", "length(s_low)", "length(m)", "big / 3", "concat(s_low, '-', s_high_plain)", "least(n_12, r)",
                   "f_dec * n_run", "if(o = 1, n_12, -1)", "upper(s_low_plain)", "year(ts)", "j.a + 1", "crc32(s_high)",
                   "abs(f_any)", "length(v)", "greatest(m)", "interval(n_12, 100, 1000, 3000)"]

    def __init__(self, dice, rows):
        self.dice = dice
        self.rows = rows

    def number(self, column):
        dice = self.dice
        return {"n_one": lambda: dice.choice([7, 7, 8, 0]),
                "n_few": lambda: dice.choice([3, 70000, 4000000000, 5]),
                "n_up": lambda: dice.randrange(-5, self.rows + 10),
                "n_12": lambda: dice.randrange(4200),
                "n_32": lambda: dice.randrange(1 << 32),
                "n_run": lambda: dice.randrange(6),
                "big": lambda: dice.choice([dice.randrange(-BIG, BIG), -1000000007 * dice.randrange(self.rows)]),
                "f_dec": lambda: dice.randrange(-5000, 5000) / 100,
                "f_any": lambda: round(dice.uniform(0, 6e8), 3),
                "o": lambda: dice.randrange(2),
                "ts": lambda: 1700000000 + 3 * dice.randrange(self.rows),
                "r": lambda: dice.randrange(310)}[column]()

    def on_number(self):
        dice = self.dice
        column = dice.choice(self.NUMBERS)
        kind = dice.choice(["=", "<>", "<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN", "IN", "NOT IN"])
        if kind.endswith("BETWEEN"):
            low, high = sorted([self.number(column), self.number(column)])
            return f"{column} {kind} {low} AND {high}"
        if kind.endswith("IN"):
            values = ", ".join(str(self.number(column)) for _ in range(dice.choice([1, 2, 5, 30])))
            return f"{column} {kind} ({values})"
        return f"{column} {kind} {self.number(column)}"

    def string(self, column):
        dice = self.dice
        if column == "s_high":
            return text(f"key{dice.randrange(self.rows)}")
        if column == "s_high_plain":
            return text(dice.choice(WORDS) + str(dice.randrange(self.rows)))
        return text(dice.choice([*WORDS, "updated", "none"]))

    def on_string(self):
        dice = self.dice
        column = dice.choice(self.STRINGS)
        kind = dice.choice(["=", "<>", "IN", "NOT IN", "<", ">=", "LIKE", "regex", "length"])
        if kind.endswith("IN"):
            return f"{column} {kind} ({', '.join(self.string(column) for _ in range(dice.choice([1, 3, 9])))})"
        if kind == "LIKE":
            return f"{column} LIKE '{dice.choice(['r%', '%e', 'key1%', '%9%', 'z_'])}'"
        if kind == "regex":
            return f"regex({column}, '{dice.choice(['^r', '[0-9]7$', 'ee|lu'])}')"
        return f"length({column}) > {dice.randrange(12)}" if kind == "length" else f"{column} {kind} {self.string(column)}"

    def on_set(self):
        dice = self.dice
        column, value = dice.choice([("m", lambda: dice.randrange(13)), ("m8", lambda: dice.randrange(-6, 6))])
        form = dice.choice(["{c} = {a}", "ANY({c}) > {a}", "ALL({c}) < {a}", "ANY({c}) IN ({a}, {b})", "ALL({c}) NOT IN ({a}, {b})",
                            "ANY({c}) BETWEEN {low} AND {high}", "ANY({c}) <> {a}", "length({c}) = {n}", "NOT ({c} = {a})"])
        a, b = value(), value()
        return form.format(c=column, a=a, b=b, low=min(a, b), high=max(a, b), n=dice.randrange(4))

    def on_other(self):
        dice = self.dice
        n = dice.randrange(50)
        return dice.choice([f"j.a = {n}", f"j.tag = {text(dice.choice(WORDS[:5]))}", "j.b.c IS NOT NULL", "j.a IS NULL",
                            f"any(x = {n % 7} FOR x IN j.arr)", f"j.b.c > {n % 9}", f"n_12 * 3 > n_up % {n * 100 + 7}",
                            f"n_12 % 50 = {n}", "length(v) = 8", "f_dec * 2 > f_any", f"n_12 > r * {n % 20 + 1}", f"o = 1 OR n_12 = {n}",
                            f"id BETWEEN {self.rows // 3} AND {self.rows // 3 + n * 40}", f"id IN ({n}, {n * 100}, {self.rows})",
                            f"NOT (n_12 < {n * 80} AND o = 0)"])

    def where(self):
        dice = self.dice
        kinds = [self.on_number, self.on_number, self.on_string, self.on_set, self.on_other]
        conditions = [dice.choice(kinds)() for _ in range(dice.choice([0, 1, 1, 1, 2, 2, 3]))]
        if len(conditions) > 1 and dice.random() < 0.2:
            return f" WHERE ({conditions[0]}) OR " + " AND ".join(f"({c})" for c in conditions[1:])
        return (" WHERE " + " AND ".join(f"({c})" if " OR " in c else c for c in conditions)) if conditions else ""

    def grouped(self):
        dice = self.dice
        keys = dice.sample(self.KEYS, dice.choice([1, 1, 2]))
        aggregates = ["count(*)"]
        for _ in range(dice.randrange(1, 4)):
            column = dice.choice(self.NUMBERS)
            aggregates.append(dice.choice([f"count(distinct {column})", f"avg({column})", f"sum({column})", f"min({column})",
                                           f"max({column})", f"count(distinct {dice.choice(self.STRINGS)})"]))
        named = [f"{key} AS k{at}" for at, key in enumerate(keys)]
        by = ", ".join(f"k{at}" for at in range(len(keys)))
        order = dice.choice(["", "count(*) DESC, "]) + ", ".join(f"k{at} {dice.choice(['ASC', 'DESC'])}" for at in range(len(keys)))
        return f"SELECT {', '.join(named + aggregates)} FROM {{t}}{self.where()} GROUP BY {by} ORDER BY {order} LIMIT 500"

    def counted(self):
        column = self.dice.choice([*self.NUMBERS, *self.STRINGS])
        other = self.dice.choice(self.NUMBERS)
        return f"SELECT count(*), count(distinct {column}), min({other}), max({other}), avg(n_12), sum(big) FROM {{t}}{self.where()}"

    def rows_of(self):
        dice = self.dice
        items = dice.choice(["*", "id, v, m, m8", "id, " + ", ".join(dice.sample(self.NUMBERS + self.STRINGS, 4)),
                             "id, " + ", ".join(f"{e} AS e{at}" for at, e in enumerate(dice.sample(self.EXPRESSIONS, 3))),
                             "id, j, j.a, title, r"])
        order = f"id {dice.choice(['ASC', 'DESC'])}"
        if dice.random() < 0.6:
            order = f"{dice.choice(self.NUMBERS + self.STRINGS)} {dice.choice(['ASC', 'DESC'])}, {order}"
        limit = dice.choice(["LIMIT 20", "LIMIT 300", "LIMIT 10 OFFSET 500", "LIMIT 7, 100", "LIMIT 2000"])
        return f"SELECT {items} FROM {{t}}{self.where()} ORDER BY {order} {limit}"

    def any(self):
        return self.dice.choice([self.rows_of, self.rows_of, self.grouped, self.counted])()


class MapsWatch:
    """Looks at the process's maps all the while: columnar files of `table` must never be among them."""

    def __init__(self, server, table):
        self.server = server
        self.prefix = f"{table}.t"
        self.stopped = threading.Event()
        self.looks = 0
        self.wrong = set()
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.stopped.set()
        self.thread.join()

    def work(self):
        while not self.stopped.wait(0.01):
            with contextlib.suppress(OSError):
                self.wrong |= {path for path in self.server.mapped_columns() if path.startswith(self.prefix)}
                self.looks += 1


def columnar_files(connection, table):
    return {row[0] for row in run(connection, f"SELECT file FROM {table}.@files") if row[0].endswith(".spc")}


class Comparison:
    def __init__(self, server, queries):
        self.server = server
        self.queries = queries
        self.first_answers = [None] * len(queries)
        self.seconds = {"mmap": 0.0, "file": 0.0}
        self.best = {}  # by query and mode
        self.faults = []

    def ask(self, connection, table, mode, query):
        start = time.monotonic()
        try:
            answer = run(connection, query.format(t=table))
        except pymysql.Error as error:
            answer = (error.args[0], str(error.args[1]).replace(table, "t"))
        spent = time.monotonic() - start
        self.seconds[mode] += spent
        best = self.best.setdefault(query, {})
        best[mode] = min(best.get(mode, spent), spent)
        return answer

    def print_times(self):
        """How long the queries took at their best, and which differ most between the modes."""
        for kind, of_kind in (("whole tables", lambda q: " WHERE " not in q), ("with conditions", lambda q: " WHERE " in q)):
            times = [best for query, best in self.best.items() if of_kind(query)]
            mapped, read = (sum(best[mode] for best in times) for mode in ("mmap", "file"))
            print(f"{kind}: {len(times)} queries, at their best mmap {mapped:.2f} s, file {read:.2f} s")
        differ = sorted(self.best.items(), key=lambda item: -abs(item[1]["file"] - item[1]["mmap"]))
        for query, best in differ[:3]:
            print(f"  mmap {best['mmap']:.4f} s, file {best['file']:.4f} s: {query[:200]}")

    def pass_over(self, name, mapped, read):
        """All queries once over both tables; what was asked before must be answered as before."""
        before = dict(self.seconds)
        with self.server.connect() as connection, MapsWatch(self.server, read) as watch:
            files = columnar_files(connection, mapped)
            self.expect(len(files) >= CHUNKS, f"{name}: {mapped} has {len(files)} columnar files")
            for at, query in enumerate(self.queries):
                pair = [(mapped, "mmap"), (read, "file")]
                for table, mode in pair if at % 2 else pair[::-1]:
                    self.judge(name, at, self.ask(connection, table, mode, query), mode)
                seen = {path for path in self.server.mapped_columns() if path.startswith(f"{mapped}.t")}
                self.expect(seen == files, f"{name}: mapped are {sorted(seen)} of {sorted(files)}")
        self.expect(not watch.wrong, f"{name}: mapped though the mode is file: {sorted(watch.wrong)}")
        self.expect(watch.looks > 0, f"{name}: nobody looked at the maps")
        spent = ", ".join(f"{mode} {self.seconds[mode] - before[mode]:.2f} s" for mode in before)
        print(f"{name}: {len(self.queries)} queries, {spent}; maps read {watch.looks + len(self.queries)} times")

    def judge(self, name, at, answer, mode):
        if self.first_answers[at] is None:
            self.first_answers[at] = answer
        elif self.first_answers[at] != answer:
            first = self.first_answers[at]
            differ = next((pair for pair in zip(first, answer) if pair[0] != pair[1]), (len(first), len(answer)))
            self.faults.append(f"{name}, {mode}: {self.queries[at]}: {differ}"[:1500])

    def expect(self, condition, fault):
        if not condition and fault not in self.faults:
            self.faults.append(fault)


def switch(server, table, mode):
    with server.connect() as connection:
        run(connection, f"ALTER TABLE {table} access_columnar_attrs='{mode}'")


def load(server, seed, rows):
    start = time.monotonic()
    with server.connect() as connection:
        fill_seed(connection, random.Random(f"{seed} rows"))
    failures = []

    def work(table, mode):
        try:
            fill(server, table, mode, rows)
        except (pymysql.Error, OSError) as error:
            failures.append(f"{table}: {error}")

    threads = [threading.Thread(target=work, args=pair) for pair in (("one", "mmap"), ("two", "file"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise Failed(f"loading failed: {failures}")
    with server.connect() as connection:
        counts = [run(connection, f"SELECT count(*) FROM {table}")[0][0] for table in ("one", "two")]
    print(f"loaded 2 × {rows} rows in {time.monotonic() - start:.1f} s, {counts} left after deletes")
    if counts[0] != counts[1]:
        raise Failed(f"the tables have {counts} rows")


def compare_all(server, arguments):
    load(server, arguments.seed, arguments.rows)
    queries = Queries(random.Random(f"{arguments.seed} queries"), arguments.rows)
    comparison = Comparison(server, [queries.any() for _ in range(arguments.queries)])
    comparison.pass_over("as made", "one", "two")
    switch(server, "one", "file")
    switch(server, "two", "mmap")
    comparison.pass_over("modes changed", "two", "one")
    server.restart()  # an error when it does not stop well
    comparison.pass_over("restarted", "two", "one")
    switch(server, "one", "mmap")
    switch(server, "two", "file")
    comparison.pass_over("changed back", "one", "two")
    answers = comparison.first_answers
    errors = [(query, answer) for query, answer in zip(comparison.queries, answers) if answer and isinstance(answer[0], int)]
    for query, answer in errors:
        comparison.faults.append(f"{query}: {answer}")
    empty = sum(1 for answer in answers if not answer)
    comparison.print_times()
    print(f"{sum(len(answer) for answer in answers)} rows in {len(answers)} answers, {empty} empty")
    comparison.expect(empty * 4 < len(answers), "most answers are empty")
    for fault in comparison.faults[:20]:
        print(f"FAIL {fault}")
    return 4 * len(answers), len(comparison.faults)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("searchd")
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="stoa-modes-")
    server = ModesServer(os.path.realpath(arguments.searchd), folder, "binlog_flush = 0")
    compared, failed = 0, 0
    try:
        with server:
            compared, failed = compare_all(server, arguments)
            server.stop()
    except (Failed, pymysql.Error, OSError) as error:
        print(f"FAIL {type(error).__name__}: {error}")
        failed += 1
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{max(compared - failed, 0)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
