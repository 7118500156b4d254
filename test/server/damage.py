#!/usr/bin/python3
"""Damages the files of a data folder: the check reports it, a server serves right answers or errors and lives on.

  damage.py SEARCHD [--seed S] [--checks N] [--starts N]        last line: "N passed, N failed"

Each kind of file of a columnar and a row-wise table is cut and has bits flipped, N times for --check-table and some
of them for a server. test/unit/storage/damage_test.cpp does the same many more times without a server.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import pymysql

from server_under_test import Failed, Server, expect, run

COLUMNS = "(title text, n int, big bigint, f float, s string, key string, o bool, m multi, m8 multi64, v float_vector, j json)"
NAMES = "id, title, n, big, f, s, key, o, m, m8, v, j"
TABLES = {"cols": "engine='columnar'", "read": "engine='columnar' access_columnar_attrs='file'", "flat": ""}
ROWS = 1500
QUERIES = [
    "SELECT * FROM {t} ORDER BY id ASC LIMIT 5000",
    "SELECT count(*), sum(n), avg(f), count(distinct s), max(big) FROM {t}",
    "SELECT s, count(*), sum(big) FROM {t} GROUP BY s ORDER BY s ASC LIMIT 100",
    "SELECT id FROM {t} WHERE n BETWEEN 5 AND 11 AND s IN ('s1', 's3') ORDER BY id ASC LIMIT 5000",
    "SELECT id, title, j FROM {t} WHERE id IN (1, 700, 1400, 2999, 3100)  ORDER BY id ASC",
    "SELECT id FROM {t} WHERE ANY(m) = 3 AND NOT (key = 'key77') ORDER BY big DESC, id ASC LIMIT 500",
]


class FolderServer(Server):
    """A server over a data folder that may be damaged."""

    def __init__(self, searchd, data):
        super().__init__(searchd, data.parent / f"{data.name}.server", data_dir=data)

    def starts(self):
        """False when the server refuses to start; why is in error_text()."""
        try:
            self.start()
            return True
        except Failed as failure:
            expect(self.process.poll() == 1, f"ended with {self.process.returncode}: {failure}")
            return False


def row(i):
    vector = f"{i % 7}.5,-1,{i}" if i % 4 else ""
    return (f"({i}, 'title {i} {'x' * (i % 60)}', {i % 23}, {i * -1000000007}, {i / 8}, 's{i % 7}', 'key{i}', {i % 2}, "
            f"({i % 5},{i % 9}), ({-i}), ({vector}), '{{\"k\":{i},\"t\":\"v{i % 5}\"}}')")


def make_tables(connection):
    """Each table has two chunks with deleted and changed rows, and a RAM part file."""
    for table, options in TABLES.items():
        run(connection, f"CREATE TABLE {table} {COLUMNS} {options}")
        for part in range(2):
            rows = ",".join(row(i) for i in range(part * ROWS + 1, (part + 1) * ROWS + 1))
            run(connection, f"INSERT INTO {table} ({NAMES}) VALUES {rows}")
            run(connection, f"FLUSH RAMCHUNK {table}")
        run(connection, f"UPDATE {table} SET n = 99, s = 'changed', m = (3,4), f = 0.25 WHERE n = 7")
        run(connection, f"DELETE FROM {table} WHERE n = 11")
        run(connection, f"INSERT INTO {table} ({NAMES}) VALUES {','.join(row(i) for i in range(3001, 3201))}")
        run(connection, f"FLUSH TABLE {table}")


class Folder:
    """A sound data folder, the right answers, and a copy of it that gets damaged."""

    def __init__(self, searchd, home):
        self.searchd = searchd
        self.home = home
        self.sound = home / "sound"
        with FolderServer(searchd, self.sound) as server:
            with server.connect() as connection:
                make_tables(connection)
                self.answers = {(t, q): run(connection, q.format(t=t)) for t in TABLES for q in QUERIES}
            server.stop()
        self.files = {}
        for table in TABLES:
            folder = next(self.sound.glob(f"{table}.t*"))
            self.files |= {file.relative_to(self.sound): table for file in sorted(folder.iterdir())
                           if ".2." not in file.name}
        self.files[pathlib.Path("catalog.manifest")] = None

    def copy(self):
        damaged = self.home / "damaged"
        shutil.rmtree(damaged, ignore_errors=True)
        shutil.copytree(self.sound, damaged)
        return damaged


def damaged_bytes(dice, sound, cut):
    at = dice.randrange(len(sound))
    if cut:
        return f"cut to {at}", sound[:at]
    bit = dice.randrange(8)
    return f"bit {bit} of {at}", sound[:at] + bytes([sound[at] ^ 1 << bit]) + sound[at + 1:]


def check_reports(folder, dice, count):
    """--check-table of a table with one damaged file: exit code 1, and the file is named."""
    data = folder.copy()
    server = FolderServer(folder.searchd, data)
    for table in TABLES:
        code, said = server.check_table(table)
        expect(code == 0, f"{table} without damage: {code} {said}")
    checked = 0
    for file, table in folder.files.items():
        sound = (data / file).read_bytes()
        for i in range(count):
            what, damaged = damaged_bytes(dice, sound, i % 4 == 0)
            (data / file).write_bytes(damaged)
            code, said = server.check_table(table or "cols")
            expect(code == 1 and str(data / file) in said and ("offset" in said or "bytes" in said),
                   f"{file}, {what}: {code} {said}")
            checked += 1
        (data / file).write_bytes(sound)
    print(f"--check-table: {checked} damaged files of {len(folder.files)}, each reported")
    return checked


def ask(folder, server, damaged_table, data, file):
    """Every answer is right, or an error that names the file; others than the damaged table answer."""
    errors = 0
    with server.connect() as connection:
        for (table, query), right in folder.answers.items():
            sql = query.format(t=table)
            try:
                expect(run(connection, sql) == right, f"a wrong answer: {sql}")
            except pymysql.Error as error:
                expect(table == damaged_table and str(data / file) in str(error), f"{sql}: {error}")
                errors += 1
    return errors


def server_survives(folder, dice, count):
    """A server over damaged files serves right answers and errors, or refuses to start and says why."""
    refused = errors = started = 0
    for file, table in folder.files.items():
        for i in range(count):
            data = folder.copy()
            what, damaged = damaged_bytes(dice, (data / file).read_bytes(), i % 3 == 0)
            (data / file).write_bytes(damaged)
            server = FolderServer(folder.searchd, data)
            try:
                if server.starts():
                    started += 1
                    errors += ask(folder, server, table, data, file)
                    expect(server.process.poll() is None, "the server has ended")
                    server.stop(codes=(0, 1))
                else:
                    refused += 1
                    said = server.error_text()
                    expect(str(data / file) in said, f"refused without the file's name: {said}")
            except Failed as failure:
                raise Failed(f"{file}, {what}: {failure}") from None
            finally:
                server.kill()
    print(f"servers over a damaged file: {started} started, {refused} refused to; {errors} statements failed, the others were right")
    return started + refused


def cut_while_it_runs(folder, dice):
    """A columnar file is cut while the server has it mapped, or open: the statements fail, the server lives."""
    done = 0
    for table in ("cols", "read"):
        for warm, share in ((False, 0), (False, 3), (True, 0), (True, 3)):
            data = folder.copy()
            with FolderServer(folder.searchd, data) as server:
                file = next(file for file, of in folder.files.items() if of == table and file.suffix == ".spc")
                if warm:
                    expect(ask(folder, server, None, data, file) == 0, "a statement fails before the file is cut")
                size = (data / file).stat().st_size
                os.truncate(data / file, dice.randrange(64) if share == 0 else size * share // 8)
                errors = ask(folder, server, table, data, file)
                expect(errors > 0, f"{file}: cut, and nothing fails")
                expect(ask(folder, server, table, data, file) > 0 and server.process.poll() is None, "the server has ended")
                server.stop()
            print(f"{file.name} of {table} cut to {share}/8, {'all' if warm else 'nothing'} read before: {errors} of {len(QUERIES)} statements fail")
            done += 1
    return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("searchd")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--checks", type=int, default=5, help="a file")
    parser.add_argument("--starts", type=int, default=2, help="a file")
    arguments = parser.parse_args()
    home = pathlib.Path(tempfile.mkdtemp(prefix="stoa-damage-"))
    dice = random.Random(arguments.seed)
    passed = failed = 0
    try:
        folder = Folder(os.path.realpath(arguments.searchd), home)
        for part in (lambda: check_reports(folder, dice, arguments.checks),
                     lambda: server_survives(folder, dice, arguments.starts), lambda: cut_while_it_runs(folder, dice)):
            try:
                passed += part()
            except (Failed, pymysql.Error, OSError, subprocess.SubprocessError) as error:
                print(f"FAIL {type(error).__name__}: {error}"[:1500])
                failed += 1
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
