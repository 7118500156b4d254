#!/usr/bin/python3
"""The same answers from every kind of table: rows in memory (the judge), row-wise and columnar chunks, mapped and read from
the file, and a mixture of engines, after the same random writes.

  table_kinds.py SEARCHD [--rounds N] [--queries N] [--seed S]        last line: "N passed, N failed"

Each round writes to all tables (INSERT, REPLACE, UPDATE, DELETE, transactions, columns that come, change and go), flushes and
merges some, restarts or kills the server now and then, and asks all tables the same generated queries.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile

import pymysql

from access_modes import COLUMNS, NAMES, WORDS, Queries, seed_row, text
from server_under_test import Failed, Server, run

JUDGE = "memo"
KINDS = {
    JUDGE: "rt_mem_limit='1G'",
    "flat": "rt_mem_limit='256K'",
    "cols": "engine='columnar' rt_mem_limit='256K' access_columnar_attrs='mmap'",
    "read": "engine='columnar' rt_mem_limit='256K' access_columnar_attrs='file'",
    "both": "rt_mem_limit='256K'",
}
ADDED = {"int": "7", "bigint": "-9", "float": "1.5", "string": "'new'", "bool": "1", "multi": "(3,1)", "multi64": "(-4)",
         "json": "'{\"a\":[1,2]}'", "timestamp": "1700000001", "float_vector": "(0.5,2)"}
SETTABLE = {"n_few": "{n}", "n_12": "{n}", "n_32": "{n}", "n_run": "{n}", "big": "-{n}", "f_dec": "{n}.25", "f_any": "{n}.125",
            "o": "{bit}", "ts": "{n}", "s_low": "{word}", "s_high": "'key{n}'", "s_low_plain": "{word}", "m": "({n},{bit})",
            "m8": "(-{n})", "j": "'{{\"a\":{n},\"arr\":[{bit}]}}'", "r": "{n}", "v": "(1,2,3,4,5,6,7,{n})"}


def columns_of(kind):
    """The columns; those of the mixture are kept in turn by row and by column."""
    if kind in ("cols", "read"):
        return COLUMNS
    plain = COLUMNS.replace(" hash='0'", "")
    if kind != "both":
        return plain
    parts = plain.strip("()").replace("\n", " ").split(", ")
    is_free = [" text" not in part and "engine=" not in part and " json" not in part for part in parts]
    return "(" + ", ".join(part + f" engine='{('rowwise', 'columnar')[i % 2]}'" * free
                           for i, (part, free) in enumerate(zip(parts, is_free))) + ")"


class Writes:
    """Statements over `{t}` that do the same to each table."""

    def __init__(self, dice):
        self.dice = dice
        self.next_id = 11  # of which none is there at first
        self.added = {}

    def rows(self, verb, ids):
        values = ",".join(seed_row(self.dice, i) for i in ids)
        return f"{verb} INTO {{t}} ({NAMES}) VALUES {values}".replace("{", "{{").replace("}", "}}").replace("{{t}}", "{t}", 1)

    def insert(self):
        count = self.dice.choice([1, 3, 40, 300, 900])
        ids = range(self.next_id, self.next_id + count)
        self.next_id += count
        return [self.rows("INSERT", ids)]

    def some_ids(self, most):
        return sorted(self.dice.sample(range(1, self.next_id), min(self.next_id - 1, self.dice.randint(1, most))))

    def replace(self):
        return [self.rows("REPLACE", self.some_ids(200))]

    def value(self, form):
        dice = self.dice
        return form.format(n=dice.randrange(1, 5000), bit=dice.randrange(2), word=text(dice.choice([*WORDS, "updated"])))

    def update(self):
        dice = self.dice
        names = dice.sample(sorted(SETTABLE), dice.choice([1, 1, 2, 4]))
        sets = [f"{name} = {self.value(SETTABLE[name])}" for name in names]
        if self.added and dice.random() < 0.5:
            name = dice.choice(sorted(self.added))
            sets.append(f"{name} = {ADDED[self.added[name]]}")
        return [f"UPDATE {{t}} SET {', '.join(sets)}".replace("{", "{{").replace("}", "}}").replace("{{t}}", "{t}") +
                self.condition()]

    def condition(self):
        dice = self.dice
        ids = ",".join(map(str, self.some_ids(60)))
        low = dice.randrange(4096)
        return " WHERE " + dice.choice([f"id IN ({ids})", f"n_12 BETWEEN {low} AND {low + 200}", f"s_low = {text(dice.choice(WORDS))}",
                                        f"m = {dice.randrange(12)} AND o = 1", f"n_run = {dice.randrange(5)} AND n_12 % 7 = {low % 7}",
                                        f"id % {dice.choice([3, 50, 211])} = 1", f"j.a = {dice.randrange(50)}"])

    def delete(self):
        return ["DELETE FROM {t}" + self.condition() + " AND n_32 % 3 = 1"]

    def transaction(self):
        return ["BEGIN", *self.replace(), *self.update(), *self.delete(), self.dice.choice(["COMMIT", "COMMIT", "ROLLBACK"])]

    def alter(self):
        dice = self.dice
        if self.added and (len(self.added) > 3 or dice.random() < 0.4):
            name = dice.choice(sorted(self.added))
            if self.added[name] == "int" and dice.random() < 0.5:
                self.added[name] = "bigint"
                return [f"ALTER TABLE {{t}} MODIFY COLUMN {name} bigint"]
            del self.added[name]
            return [f"ALTER TABLE {{t}} DROP COLUMN {name}"]
        name = next(f"x{i}" for i in range(9) if f"x{i}" not in self.added)
        self.added[name] = dice.choice(sorted(ADDED))
        return [f"ALTER TABLE {{t}} ADD COLUMN {name} {self.added[name]}"]

    def any(self):
        kinds = [self.insert] * 4 + [self.replace] * 3 + [self.update] * 5 + [self.delete, self.transaction, self.alter]
        return self.dice.choice(kinds)()


class Comparison:
    def __init__(self, server, arguments):
        self.server, self.arguments = server, arguments
        self.dice = random.Random(f"{arguments.seed} kinds")
        self.writes = Writes(random.Random(f"{arguments.seed} writes"))
        self.connection = server.connect()
        self.compared = self.empty = self.errors = 0
        self.faults = []
        for kind, options in KINDS.items():
            run(self.connection, f"CREATE TABLE {kind} {columns_of(kind)} {options}")

    def ask(self, kind, sql):
        try:
            with self.connection.cursor() as cursor:
                count = cursor.execute(sql.format(t=kind))
                return cursor.fetchall() if cursor.description else count
        except pymysql.Error as error:
            return error.args[0], str(error.args[-1]).replace(kind, "t")

    def same(self, sql):
        """Whether all tables answer as the judge does."""
        right = self.ask(JUDGE, sql)
        self.compared += 1
        self.empty += right == ()
        self.errors += isinstance(right, tuple) and len(right) == 2 and isinstance(right[1], str)
        for kind in KINDS:
            answer = right if kind == JUDGE else self.ask(kind, sql)
            if answer != right:
                pairs = zip(right, answer) if isinstance(answer, tuple) and isinstance(right, tuple) else ()
                differ = next((pair for pair in pairs if pair[0] != pair[1]), (right, answer))
                self.faults.append(f"{kind}: {sql[:300]}: right is {differ[0]!s:.600}, it says {differ[1]!s:.600}")

    def maintain(self):
        dice = self.dice
        for kind in KINDS:
            if kind == JUDGE:
                continue
            statement = dice.choice(["FLUSH RAMCHUNK {t}", "FLUSH RAMCHUNK {t}", "FLUSH TABLE {t}", "", "", "OPTIMIZE TABLE {t}",
                                     "OPTIMIZE TABLE {t} OPTION sync=1, cutoff=%d" % dice.choice([1, 2, 4])])
            if statement:
                run(self.connection, statement.format(t=kind))
        if dice.random() < 0.1:
            run(self.connection, f"ALTER TABLE {dice.choice(['cols', 'read'])} access_columnar_attrs='{dice.choice(['mmap', 'file'])}'")
        end = dice.random()
        if end < 0.2:
            self.server.kill() if end < 0.1 else self.server.stop()
            self.server.start()
            self.connection = self.server.connect()

    def round(self):
        for _ in range(self.dice.randint(1, 6)):
            for statement in self.writes.any():
                self.write(statement)
        self.maintain()
        queries = Queries(self.dice, max(self.writes.next_id, 10))
        for sql in ["SELECT * FROM {t} ORDER BY id ASC LIMIT 1000000"] + [queries.any() for _ in range(self.arguments.queries)]:
            self.same(sql)
        return not self.faults

    def write(self, statement):
        if statement in ("BEGIN", "COMMIT", "ROLLBACK"):
            run(self.connection, statement)  # one for all tables
        else:
            self.same(statement)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("searchd")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--queries", type=int, default=20, help="a round")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="stoa-kinds-")
    server = Server(os.path.realpath(arguments.searchd), folder, "auto_optimize = 1", "optimize_cutoff = 3")
    compared, faults = 0, []
    try:
        with server:
            comparison = Comparison(server, arguments)
            done = 0
            while done < arguments.rounds and comparison.round():
                done += 1
            compared, faults = comparison.compared, comparison.faults
            print(f"{done} rounds, {compared} statements of {len(KINDS)} tables compared, {comparison.empty} answers empty, {comparison.errors} errors; "
                  f"{comparison.ask(JUDGE, 'SELECT count(*) FROM {t}')[0][0]} rows at the end")
            server.stop()
            for kind in KINDS:
                code, said = server.check_table(kind)
                faults += [said] if code != 0 else []
    except (Failed, pymysql.Error, OSError) as error:
        faults.append(f"{type(error).__name__}: {error}")
    for fault in faults[:10]:
        print(f"FAIL {fault}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{max(compared - len(faults), 0)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
