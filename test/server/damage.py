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
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pymysql

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


class Failed(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failed(text)


class Server:
    def __init__(self, searchd, data):
        self.searchd = searchd
        self.data = data
        self.process = None

    def config(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        path = self.data.parent / f"{self.data.name}.conf"
        path.write_text(f"searchd {{\nlisten = 127.0.0.1:{self.port}:mysql\ndata_dir = {self.data}\nauto_optimize = 0\n}}\n")
        return str(path)

    def start(self):
        """False when the server refuses to start; what it said is in self.said."""
        log = self.data.parent / f"{self.data.name}.log"
        with log.open("w") as output:
            self.process = subprocess.Popen([self.searchd, "--config", self.config(), "--nodetach"], stdout=output,
                                            stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connect().close()
                return True
            except pymysql.Error:
                self.said = log.read_text()
                if self.process.poll() is not None:
                    expect(self.process.returncode == 1, f"ended with {self.process.returncode}: {self.said}")
                    return False
                expect(time.monotonic() < deadline, "does not accept connections")
                time.sleep(0.01)

    def connect(self):
        return pymysql.connect(host="127.0.0.1", port=self.port, user="test", autocommit=True, read_timeout=60)

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise Failed("does not stop") from None
        return self.process.returncode if self.process else 0

    def check(self, table):
        return subprocess.run([self.searchd, "--config", self.config(), "--check-table", table], capture_output=True,
                              text=True, timeout=60, check=False)


def run(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


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
        server = Server(searchd, self.sound)
        expect(server.start(), "the server does not start")
        with server.connect() as connection:
            make_tables(connection)
            self.answers = {(t, q): run(connection, q.format(t=t)) for t in TABLES for q in QUERIES}
        expect(server.stop() == 0, "the server does not stop well")
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
    server = Server(folder.searchd, data)
    for table in TABLES:
        done = server.check(table)
        expect(done.returncode == 0, f"{table} without damage: {done}")
    checked = 0
    for file, table in folder.files.items():
        sound = (data / file).read_bytes()
        for i in range(count):
            what, damaged = damaged_bytes(dice, sound, i % 4 == 0)
            (data / file).write_bytes(damaged)
            done = server.check(table or "cols")
            said = done.stdout + done.stderr
            expect(done.returncode == 1 and str(data / file) in said and ("offset" in said or "bytes" in said),
                   f"{file}, {what}: {done.returncode} {said}")
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
            server = Server(folder.searchd, data)
            try:
                if server.start():
                    started += 1
                    errors += ask(folder, server, table, data, file)
                    expect(server.process.poll() is None, "the server has ended")
                else:
                    refused += 1
                    expect(str(data / file) in server.said, f"refused without the file's name: {server.said}")
                code = server.stop()
                expect(code in (0, 1), f"ended with code {code}")
            except Failed as failure:
                raise Failed(f"{file}, {what}: {failure}") from None
            finally:
                server.process.kill()
                server.process.wait()
    print(f"servers over a damaged file: {started} started, {refused} refused to; {errors} statements failed, the others were right")
    return started + refused


def cut_while_it_runs(folder, dice):
    """A columnar file is cut while the server has it mapped, or open: the statements fail, the server lives."""
    done = 0
    for table in ("cols", "read"):
        for warm, share in ((False, 0), (False, 3), (True, 0), (True, 3)):
            data = folder.copy()
            server = Server(folder.searchd, data)
            try:
                expect(server.start(), "the server does not start")
                file = next(file for file, of in folder.files.items() if of == table and file.suffix == ".spc")
                if warm:
                    expect(ask(folder, server, None, data, file) == 0, "a statement fails before the file is cut")
                size = (data / file).stat().st_size
                os.truncate(data / file, dice.randrange(64) if share == 0 else size * share // 8)
                errors = ask(folder, server, table, data, file)
                expect(errors > 0, f"{file}: cut, and nothing fails")
                expect(ask(folder, server, table, data, file) > 0 and server.process.poll() is None, "the server has ended")
                expect(server.stop() == 0, f"the server stops with {server.process.returncode}")
                print(f"{file.name} of {table} cut to {share}/8, {'all' if warm else 'nothing'} read before: {errors} of {len(QUERIES)} statements fail")
                done += 1
            finally:
                server.process.kill()
                server.process.wait()
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
