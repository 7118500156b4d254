#!/usr/bin/python3
"""Every fault point of flush, merge, ALTER, DROP, checkpoint and copy × kill, fail, full disk.

A case arms one point, runs one connection through a seeded workload that passes it (writes, FLUSH, OPTIMIZE, ALTER,
TRUNCATE, DROP and CREATE, BACKUP and IMPORT) and compares all tables with a model. After kill -9 the statement in flight may have
happened as a whole or not at all; a statement that was answered with an error has changed nothing, and the error names
the cause; the server lives on. Then a start without faults must have everything, no temporary or unneeded files, pass
--check-table, flush and merge. Cases of a point go to later and later passes until one is not reached any more; a point
that is never reached is a failure.

  fault_table.py --searchd PATH [--cases N] [--seed N] [--points a,b]

--cases: at most so many passes a point and action; 2 is quick. Last line: "N passed, N failed" (a case is one check).
"""
import argparse
import copy
import glob
import os
import random
import shutil
import sys
import tempfile

import pymysql

from ledger import LOST, Server, count_faults, is_refusal, leftovers, temporary_files

POINTS = ("flush.seal", "chunk.write", "chunk.rename", "chunk.after", "chunk.publish", "spknn.write", "spm.write",
          "spm.rename", "spu.write", "spu.rename", "manifest.write", "manifest.rename", "ram.write", "ram.rename", "ram.after",
          "drop.files", "copy.file", "env.create", "env.append", "env.append.torn", "env.sync", "env.rename", "env.read")
PASSES = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987)
ENV_PASSES = (2, 25, 110, 330, 9, 60, 170, 240, 450, 610, 800, 1000, 1300, 1600, 2000)  # early ones are of the start
QUICK = 2  # up to so many cases, only the most telling ones
COLUMNS = ("v int, b bigint, m multi, s string, body text, "
           "w float_vector knn_type='hnsw' knn_dims='2' hnsw_similarity='l2'")
CREATE = {
    "fp_rows": "CREATE TABLE fp_rows (%s)" % COLUMNS,
    "fp_columns": "CREATE TABLE fp_columns (%s) engine='columnar'" % COLUMNS,
    "fp_other": "CREATE TABLE fp_other (%s)" % COLUMNS,
}


class Step:
    """Statements that are one change: `after` is the model when they were acknowledged."""

    def __init__(self, statements, after):
        self.statements, self.after = statements, after


class Workload:
    """Makes the steps. A model is table -> {"columns": names, "rows": id -> {column: value as text}}."""

    def __init__(self, seed, backups):
        self.random = random.Random(seed)
        self.backups = backups
        self.model = {}
        self.next_id = 1

    def cycle(self):
        """The steps of one pass: functions of no argument that give a Step, or None when it cannot be done now."""
        steps = []
        for table in ("fp_rows", "fp_columns"):
            steps += [self.creating(table), self.inserting(table, 30), self.plain("FLUSH RAMCHUNK " + table)]
        for table in ("fp_rows", "fp_columns"):
            steps += [self.replacing(table), self.updating(table), self.deleting(table), self.inserting(table, 10),
                      self.plain("FLUSH TABLE " + table), self.updating(table), self.plain("FLUSH RAMCHUNK " + table),
                      self.replacing(table)]
        steps += [self.transaction(), self.adding("fp_rows", "int"), self.updating("fp_rows"),
                  self.widening("fp_rows"),
                  self.updating("fp_rows"), self.adding("fp_columns", "string"), self.inserting("fp_columns", 5),
                  self.plain("ALTER TABLE fp_columns access_columnar_attrs='file'"),
                  self.plain("FLUSH RAMCHUNK fp_columns"), self.inserting("fp_rows", 5),
                  self.plain("OPTIMIZE TABLE fp_rows OPTION sync=1, cutoff=1"), self.updating("fp_rows"),
                  self.plain("OPTIMIZE TABLE fp_columns OPTION sync=1, cutoff=1"), self.deleting("fp_columns"),
                  self.plain("ALTER TABLE fp_columns REBUILD KNN"), self.updating("fp_columns"),
                  self.plain("ALTER TABLE fp_columns access_columnar_attrs='mmap'"),
                  self.plain("FLUSH TABLE fp_columns"), self.dropping_column("fp_rows"), self.replacing("fp_rows"),
                  self.dropping_column("fp_columns"), self.creating("fp_other"), self.inserting("fp_other", 20),
                  self.plain("FLUSH RAMCHUNK fp_other"), self.updating("fp_other"), self.truncating("fp_other"),
                  self.inserting("fp_other", 5), self.plain("FLUSH TABLE fp_other"), self.dropping("fp_other"),
                  self.creating("fp_other"), self.inserting("fp_other", 7), self.backup(), self.dropping("fp_copy"),
                  self.importing("fp_copy", "fp_rows"), self.updating("fp_copy"), self.dropping("fp_renamed"),
                  self.renaming("fp_copy", "fp_renamed"), self.inserting("fp_renamed", 3), self.deleting("fp_rows"),
                  self.plain("OPTIMIZE TABLE fp_rows OPTION sync=1, cutoff=1"), self.replacing("fp_columns")]
        return steps

    def step(self, statements, change=lambda after: None):
        after = copy.deepcopy(self.model)
        change(after)
        return Step(statements, after)

    def plain(self, statement):
        table = statement.split("TABLE ")[1].split()[0] if "TABLE " in statement else statement.split()[-1]
        return lambda: self.step([statement]) if table in self.model else None

    def creating(self, table):
        def make():
            if table in self.model:
                return None
            new = {"columns": ["v", "b", "m", "s", "body", "w"], "rows": {}}
            return self.step([CREATE[table]], lambda after: after.update({table: new}))
        return make

    def dropping(self, table):
        return lambda: self.step(["DROP TABLE " + table], lambda after: after.pop(table)) if table in self.model else None

    def truncating(self, table):
        return lambda: (self.step(["TRUNCATE TABLE " + table], lambda after: after[table]["rows"].clear())
                        if table in self.model else None)

    def adding(self, table, kind):
        def change(after):
            after[table]["columns"].append("e")
            for row in after[table]["rows"].values():
                row["e"] = "0" if kind == "int" else ""
        return lambda: (self.step(["ALTER TABLE %s ADD COLUMN e %s" % (table, kind)], change)
                        if table in self.model and "e" not in self.model[table]["columns"] else None)

    def widening(self, table):
        return lambda: (self.step(["ALTER TABLE %s MODIFY COLUMN e bigint" % table],
                                  lambda after: after[table].update(wide=True))
                        if "e" in self.model.get(table, {"columns": []})["columns"] and not self.model[table].get("wide")
                        else None)

    def dropping_column(self, table):
        def change(after):
            after[table].pop("wide", None)
            after[table]["columns"].remove("e")
            for row in after[table]["rows"].values():
                row.pop("e")
        return lambda: (self.step(["ALTER TABLE %s DROP COLUMN e" % table], change)
                        if table in self.model and "e" in self.model[table]["columns"] else None)

    def write(self, verb, table, ids):
        """The statement, and the change of the model."""
        columns = self.model[table]["columns"]
        version = self.random.randint(1, 10**6)
        rows = {i: {"v": str(version), "b": str(version * 10**6 + i), "m": "%d,%d" % (i % 5, version + 10),
                    "s": "text %d of %d" % (version, i), "body": "word %d %d" % (i, version), "e": "5",
                    "w": vector(i, version)} for i in ids}
        rows = {i: {c: row[c] for c in columns} for i, row in rows.items()}
        text = {"m": "(%s)", "w": "(%s)", "s": "'%s'", "body": "'%s'", "e": "'%s'" if table == "fp_columns" else "%s"}
        values = ",".join("(%d,%s)" % (i, ",".join(text.get(c, "%s") % row[c] for c in columns)) for i, row in rows.items())
        return ("%s INTO %s (id,%s) VALUES %s" % (verb, table, ",".join(columns), values),
                lambda after: after[table]["rows"].update(rows))

    def inserting(self, table, count):
        def make():
            if table not in self.model:
                return None
            statement, change = self.write("INSERT", table, range(self.next_id, self.next_id + count))
            self.next_id += count
            return self.step([statement], change)
        return make

    def some_ids(self, table, share):
        ids = sorted(self.model.get(table, {"rows": {}})["rows"])
        return self.random.sample(ids, int(len(ids) * share))

    def replacing(self, table):
        def make():
            ids = self.some_ids(table, 0.4)
            return self.step(*with_list(self.write("REPLACE", table, ids))) if ids else None
        return make

    def updating(self, table):
        def make():
            ids = self.some_ids(table, 0.5)
            if not ids:
                return None
            version = self.random.randint(1, 10**6)
            new = {"v": str(version), "b": str(version * 7), "m": "%d,%d" % (3, version + 10), "w": vector(3, version)}
            if table != "fp_columns" and "e" in self.model[table]["columns"]:
                new["e"] = str(version + 1)
            sets = ",".join("%s=%s" % (c, "(%s)" % value if c in "mw" else value) for c, value in new.items())

            def change(after):
                for i in ids:
                    after[table]["rows"][i].update(new)
            return self.step(["UPDATE %s SET %s WHERE id IN (%s)" % (table, sets, ",".join(map(str, ids)))], change)
        return make

    def deleting(self, table):
        def make():
            ids = self.some_ids(table, 0.3)

            def change(after):
                for i in ids:
                    after[table]["rows"].pop(i)
            return self.step(["DELETE FROM %s WHERE id IN (%s)" % (table, ",".join(map(str, ids)))], change) if ids else None
        return make

    def transaction(self):
        def make():
            if not {"fp_rows", "fp_columns"} <= set(self.model):
                return None
            writes = [self.write("REPLACE", t, self.some_ids(t, 0.2) + [self.next_id]) for t in ("fp_rows", "fp_columns")]
            self.next_id += 1

            def change(after):
                for _, one in writes:
                    one(after)
            return self.step(["BEGIN"] + [statement for statement, _ in writes] + ["COMMIT"], change)
        return make

    def backup(self):
        def make():
            shutil.rmtree(self.backups, ignore_errors=True)
            os.mkdir(self.backups)
            return self.step(["BACKUP TABLES fp_rows, fp_columns TO %s" % self.backups])
        return lambda: make() if {"fp_rows", "fp_columns"} <= set(self.model) else None


    def importing(self, table, source):
        def make():
            found = glob.glob("%s/*/%s.t*" % (self.backups, source))
            if not found or table in self.model or source not in self.model:
                return None
            return self.step(["IMPORT TABLE %s FROM '%s'" % (table, found[0])],
                             lambda after: after.update({table: copy.deepcopy(after[source])}))
        return make

    def renaming(self, table, name):
        return lambda: (self.step(["ALTER TABLE %s RENAME %s" % (table, name)],
                                  lambda after: after.update({name: after.pop(table)}))
                        if table in self.model and name not in self.model else None)


def vector(first, second):
    return "%f,%f" % (first, second % 1000)


def with_list(write):
    return [write[0]], write[1]


def read_model(server):
    """The tables as the server shows them, and complaints about their counts."""
    model, complaints = {}, []
    connection = server.connect()
    with connection.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        for table in [row[0] for row in cursor.fetchall()]:
            cursor.execute("DESC " + table)
            columns = [row[0] for row in cursor.fetchall() if row[0] != "id"]
            cursor.execute("SELECT id,%s FROM %s ORDER BY id ASC LIMIT 100000" % (",".join(columns), table))
            rows = cursor.fetchall()
            cursor.execute("SELECT count(*), count(distinct id) FROM %s" % table)
            counts = [int(value) for value in cursor.fetchone()]
            found = {int(row[0]): dict(zip(columns, map(str, row[1:]))) for row in rows}
            if counts != [len(rows)] * 2 or len(found) != len(rows):
                complaints.append("%s: %d rows, %d ids, counts %s" % (table, len(rows), len(found), counts))
            model[table] = {"columns": columns, "rows": found}
    connection.close()
    return model, complaints


def differences(found, wanted):
    """What differs, in a few words; nothing when the models are the same."""
    result = ["table %s is %s" % (t, "missing" if t in wanted else "there") for t in set(found) ^ set(wanted)]
    for table in set(found) & set(wanted):
        is_there, should = found[table], wanted[table]
        if set(is_there["columns"]) != set(should["columns"]):
            result.append("%s has %s, not %s" % (table, is_there["columns"], should["columns"]))
            continue
        ids = [i for i in set(is_there["rows"]) | set(should["rows"]) if is_there["rows"].get(i) != should["rows"].get(i)]
        if ids:
            i = min(ids)
            result.append("%s: %d rows differ, e.g. %d is %s, not %s" % (table, len(ids), i, is_there["rows"].get(i),
                                                                         should["rows"].get(i)))
    return result


def names_the_cause(text):
    return any(part in text for part in ("Input/output error", "No space left on device", "damaged and not available"))


class Runner:
    def __init__(self, args):
        self.args = args
        self.folder = tempfile.mkdtemp(prefix="stoa-faults-")
        # Nothing happens in the background: the passes of a point are the same in every run.
        self.server = Server(args.searchd, self.folder, ("auto_optimize = 0", "rt_flush_period = 0"))
        self.work = Workload(args.seed, os.path.join(self.folder, "backups"))
        self.in_flight = None
        self.refused = self.acknowledged = 0

    def run_cycle(self, connection):
        """True: to the end; False: the connection broke. Complaints are about answers."""
        complaints = []
        for make in self.work.cycle():
            step = make()
            if step is None:
                continue
            self.in_flight = step
            try:
                with connection.cursor() as cursor:
                    for statement in step.statements:
                        cursor.execute(statement)
            except LOST + (pymysql.MySQLError,) as error:
                if not is_refusal(error) and not isinstance(error, (pymysql.ProgrammingError, pymysql.InternalError,
                                                                    pymysql.NotSupportedError)):
                    return False, complaints
                self.refused += 1
                if not names_the_cause(str(error)):
                    complaints.append("%s … was answered %s" % (statement[:60], error))
                if step.statements[0] == "BEGIN":
                    connection.rollback()
                continue
            self.work.model = step.after
            self.acknowledged += 1
        self.in_flight = None
        return True, complaints

    def case(self, spec):
        """Runs with the faults of `spec`, then verifies; complaints."""
        self.in_flight = None
        armed = "%s,seed=%d,report=%s/faults.txt" % (spec, self.args.seed, self.folder)
        complaints = []
        if self.server.start(armed):
            finished, complaints = self.run_cycle(self.server.connect())
            if not finished:
                self.server.wait_for_end()
            if not finished and "kill" not in spec:
                complaints.append("the connection broke: the server %s" % ("lives" if self.server.alive() else "is dead"))
            if self.server.alive() and "env.read" not in spec:
                found, counts = read_model(self.server)
                complaints += ["live: " + c for c in counts + differences(found, self.work.model)]
                complaints += ["live: " + c for c in temporary_files(self.server)]
            self.server.kill()
        elif "kill" not in spec:
            with open(os.path.join(self.folder, "stderr.log")) as log:
                last = log.read().strip().split("\n")[-1]
            complaints += [] if "FATAL" in last and names_the_cause(last) else ["no start, and it says: " + last]
        return complaints + self.verify()

    def verify(self):
        tables = [t for t in self.work.model if self.in_flight is None or t in self.in_flight.after]
        complaints = [c for c in map(self.server.check_table, tables) if c]
        if not self.server.start():
            return complaints + ["the server does not start again"]
        found, counts = read_model(self.server)
        complaints += counts
        if self.in_flight is not None and not differences(found, self.in_flight.after):
            self.work.model = self.in_flight.after
        complaints += differences(found, self.work.model) + leftovers(self.server)
        if not complaints:
            complaints += self.verify_upkeep()
        if self.server.alive():
            self.server.kill()
        return complaints

    def verify_upkeep(self):
        """FLUSH and OPTIMIZE work and change no row; a clean stop leaves sound files."""
        connection = self.server.connect()
        try:
            with connection.cursor() as cursor:
                for table in self.work.model:
                    cursor.execute("FLUSH RAMCHUNK " + table)
                    cursor.execute("OPTIMIZE TABLE %s OPTION sync=1, cutoff=1" % table)
        except LOST + (pymysql.MySQLError,) as error:
            return ["FLUSH and OPTIMIZE after the restart: %s" % error]
        found, complaints = read_model(self.server)
        complaints += differences(found, self.work.model) + leftovers(self.server)
        code = self.server.stop()
        complaints += ["clean stop: exit code %s" % code] if code != 0 else []
        return complaints + [c for c in map(self.server.check_table, self.work.model) if c]


def reached(runner, point):
    return count_faults(runner.folder).get(point, 0)


def during(point, action, first, last):
    return ",".join("%s=%s@%d" % (point, action, n) for n in range(first, last))


def specs_of(point, action, limit):
    """What to arm, case by case. searchd does not start while some env points fail always, so these fail later, too."""
    is_env = point.startswith("env.")
    specs = ["%s=%s@%d" % (point, action, n) for n in (ENV_PASSES if is_env else PASSES)[:limit]]
    if action == "kill":
        return specs
    for_a_while = during(point, action, 20, 60) if is_env else during(point, action, 2, 4)
    from_then_on = during(point, action, 30 if is_env else 2, 1500)
    if limit > QUICK:
        return specs + ["%s=%s%%30" % (point, action), "%s=%s" % (point, action), for_a_while, from_then_on]
    return [specs[1], for_a_while] if action == "fail" else [from_then_on]


def run_point(runner, point, action, limit, report):
    """Cases of a point and action; (passed, failed, whether the data folder is kept)."""
    passed = failed = 0
    specs = specs_of(point, action, limit)
    before_all = reached(runner, point)
    most = max(ENV_PASSES)
    for spec in specs:
        number = int(spec.split("@")[1]) if spec.count("@") == 1 else 0
        if number > most:
            continue  # an earlier pass was not reached any more
        before = reached(runner, point)
        complaints = runner.case(spec)
        if number and reached(runner, point) == before:
            most = number
        for complaint in complaints[:6]:
            print("%s: %s" % (spec[:80], complaint))
        failed += bool(complaints)
        passed += not complaints
        if complaints:
            print("data folder kept: %s" % runner.folder)
            return passed, failed, True
    count = reached(runner, point) - before_all
    report.append("%s=%s: reached %d times in %d cases" % (point, action, count, passed + failed))
    if count == 0:
        print("%s=%s was never reached" % (point, action))
        failed += 1
    return passed, failed, False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searchd", required=True)
    parser.add_argument("--cases", type=int, default=len(PASSES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--points", default="")
    args = parser.parse_args()
    passed = failed = acknowledged = refused = 0
    report = []
    runner = Runner(args)
    for point in args.points.split(",") if args.points else POINTS:
        for action in ("kill", "fail", "full"):
            more, bad, is_broken = run_point(runner, point, action, args.cases, report)
            passed, failed = passed + more, failed + bad
            if is_broken:
                acknowledged, refused = acknowledged + runner.acknowledged, refused + runner.refused
                runner = Runner(args)
    shutil.rmtree(runner.folder)
    for line in report:
        print(line)
    print("%d statements acknowledged, %d refused" % (acknowledged + runner.acknowledged, refused + runner.refused))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
