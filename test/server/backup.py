#!/usr/bin/python3
"""Copies tables with BACKUP, FREEZE and IMPORT TABLE while others write, and starts servers on the copies.

  backup.py SEARCHD        last line: "N passed, N failed"
"""

import contextlib
import os
import pathlib
import sys
import threading
import time

import pymysql

from server_under_test import Server, error_of, expect, run, run_checks, status

SEARCHD = os.path.realpath(sys.argv[1])
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def server(home, name, data_dir=None):
    return Server(SEARCHD, home / name, data_dir=data_dir)


ALL = "SELECT id, title, n, s, m, j FROM {} ORDER BY id ASC LIMIT 100000"


def make_table(connection, name, rows=300):
    """A table with two chunks, deleted and changed rows in them, and rows in RAM."""
    run(connection, f"CREATE TABLE {name} (title text, n int, s string engine='columnar', m multi, j json)")
    for part in range(3):
        values = ", ".join(f"({i}, 'row {i}', {i % 17}, 's{i % 5}', ({i % 3},{i % 7}), '{{\"k\":{i}}}')"
                           for i in range(part * rows + 1, (part + 1) * rows + 1))
        run(connection, f"INSERT INTO {name} (id, title, n, s, m, j) VALUES {values}")
        if part < 2:
            run(connection, f"FLUSH RAMCHUNK {name}")
    run(connection, f"DELETE FROM {name} WHERE n = 3")
    run(connection, f"UPDATE {name} SET s = 'changed', n = 99 WHERE n = 5")


@contextlib.contextmanager
def writing(server, table):
    """Somebody adds documents to the table all the while; yields the number of those acknowledged."""
    stop = threading.Event()
    written = []
    failures = []

    def work():
        connection = server.connect()
        i = 1_000_000
        while not stop.is_set():
            try:
                run(connection, f"INSERT INTO {table} (id, n) VALUES ({i}, {i})")
            except pymysql.Error as error:
                failures.append(error)
                return
            written.append(i)
            i += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        while not written and thread.is_alive():
            time.sleep(0.002)
        yield written
    finally:
        stop.set()
        thread.join()
    expect(not failures, f"a write failed: {failures}")


@check
def a_server_started_on_a_backup_has_the_tables_of_one_moment(home):
    with server(home, "first") as first:
        connection = first.connect()
        make_table(connection, "t")
        make_table(connection, "u")
        before = run(connection, ALL.format("u"))
        with writing(first, "t") as written:
            acknowledged = len(written)
            path = run(connection, f"BACKUP TO {home}/backups")[0][0]
            known = len(written)
        expect(path.startswith(f"{home}/backups/"), path)
        with server(home, "second", path) as second:
            copy = second.connect()
            expect(run(copy, ALL.format("u")) == before, "u differs")
            count = int(run(copy, "SELECT count(*) FROM t WHERE id >= 1000000")[0][0])
            expect(acknowledged <= count <= known + 1, f"{count} rows in the copy, {acknowledged} … {known} were written")
            top = run(copy, "SELECT max(id) FROM t")[0][0]
            expect(count == 0 or int(top) == 1_000_000 + count - 1, "the copy has holes")
            run(copy, "INSERT INTO u (id, n) VALUES (5000000, 1)")
            run(copy, "OPTIMIZE TABLE u OPTION sync=1, cutoff=1")
            second.stop()
            second.start()
            expect(len(run(second.connect(), ALL.format("u"))) == len(before) + 1, "the copy lost a row")
        expect(run(connection, ALL.format("u")) == before, "the copy is not a copy")
        run(connection, "FLUSH RAMCHUNK t, u")
        first.stop()


@check
def a_backup_has_the_tables_that_were_named(home):
    with server(home, "first") as first:
        connection = first.connect()
        for name in ("a", "b", "c"):
            make_table(connection, name, rows=10)
        path = run(connection, f"BACKUP TABLES a, c, a TO '{home}/backups' OPTION async=on")[0][0]
        run(connection, f"BACKUP TABLE b OPTION async=0 TO {home}/others")
        with server(home, "second", path) as second:
            expect([row[0] for row in run(second.connect(), "SHOW TABLES")] == ["a", "c"], "other tables")


@check
def a_backup_that_fails_leaves_nothing_behind(home):
    with server(home, "first") as first:
        connection = first.connect()
        make_table(connection, "t", rows=10)
        (home / "file").write_text("x")
        code, _ = error_of(connection, f"BACKUP TO {home}/file/deeper")
        expect(code != 0, "a backup below a file")
        code, text = error_of(connection, f"BACKUP TABLES t, nosuch TO {home}/backups")
        expect(code == 1064 and "nosuch" in text, (code, text))
        expect(not list(home.glob("backups/*")), "a failed backup left files")
        run(connection, "FLUSH RAMCHUNK t")  # not frozen


@check
def import_takes_a_table_of_a_backup_under_any_name(home):
    with server(home, "first") as first:
        connection = first.connect()
        make_table(connection, "t")
        before = run(connection, ALL.format("t"))
        path = run(connection, f"BACKUP TABLE t TO {home}/backups")[0][0]
        folder = next(entry for entry in pathlib.Path(path).iterdir() if entry.is_dir() and entry.name != "binlog")
        code, text = error_of(connection, f"IMPORT TABLE t FROM '{folder}'")
        expect(code == 1064 and "already exists" in text, (code, text))
        run(connection, f"IMPORT TABLE back FROM '{folder}'")
        expect(run(connection, ALL.format("back")) == before, "the rows differ")
        with server(home, "second") as second:
            other = second.connect()
            run(other, f"IMPORT TABLE t FROM '{folder}'")
            run(other, "INSERT INTO t (title) VALUES ('new')")
            run(other, "UPDATE t SET n = 1 WHERE id = 7")
            second.stop()
            second.start()
            rows = run(second.connect(), ALL.format("t"))
            expect(len(rows) == len(before) + 1, f"{len(rows)} rows")
        run(connection, "DROP TABLE back")
        expect(run(connection, ALL.format("t")) == before, "t has changed")
        expect(folder.exists(), "IMPORT has moved the files of the backup")


@check
def import_of_what_is_no_table_changes_nothing(home):
    with server(home, "first") as first:
        connection = first.connect()
        make_table(connection, "t", rows=10)
        path = pathlib.Path(run(connection, f"BACKUP TABLE t TO {home}/backups")[0][0])
        folder = next(entry for entry in path.iterdir() if entry.is_dir() and entry.name != "binlog")
        (home / "empty").mkdir()
        for wrong in (home / "nosuch", home / "empty", home / "first/searchd.conf"):
            code, _ = error_of(connection, f"IMPORT TABLE x FROM '{wrong}'")
            expect(code != 0, f"{wrong} was imported")
        for damaged in sorted(folder.glob("chunk.*.sph")):
            damaged.write_bytes(damaged.read_bytes()[:-5])
        code, text = error_of(connection, f"IMPORT TABLE x FROM '{folder}'")
        expect(code != 0 and ".sph" in text, (code, text))
        expect([row[0] for row in run(connection, "SHOW TABLES")] == ["t"], "a failed import left a table")
        expect(not (first.data_dir / "x").exists(), "a failed import left files")


@check
def files_of_a_frozen_table_stay_as_they_are(home):
    with server(home, "first") as first:
        connection = first.connect()
        make_table(connection, "t")
        with writing(first, "t"):
            files = run(connection, "FREEZE t")
            expect(files and all(os.path.isfile(row[1]) for row in files), files)
            before = {row[1]: pathlib.Path(row[1]).read_bytes() for row in files}
            other = first.connect()
            run(other, "UPDATE t SET n = 7 WHERE id < 100")
            run(other, "DELETE FROM t WHERE id = 8")
            for statement in ("FLUSH RAMCHUNK t", "OPTIMIZE TABLE t OPTION sync=1, cutoff=1"):
                code, text = error_of(other, statement)
                expect(code == 1064 and "frozen" in text, (statement, code, text))
            error_of(other, "FLUSH TABLE t")  # refused or nothing to do
            after = {row[1]: pathlib.Path(row[1]).read_bytes() for row in files}
            expect(before == after, "files changed while they were frozen")
        run(connection, "UNFREEZE t")
        run(connection, "OPTIMIZE TABLE t OPTION sync=1, cutoff=1")


# entry: 114
@check
def a_frozen_table_hinders_neither_stop_nor_drop(home):
    with server(home, "first") as first:
        connection = first.connect()
        make_table(connection, "t")
        make_table(connection, "u")
        run(connection, "FREEZE t, u")
        connection.close()  # who froze is gone; the tables stay frozen for whoever copies the files
        connection = first.connect()
        run(connection, "INSERT INTO t (id, n) VALUES (2000000, 5)")
        code, text = error_of(connection, "FLUSH RAMCHUNK t")
        expect(code == 1064 and "frozen" in text, (code, text))
        error_of(connection, "DROP TABLE u")
        expect(int(run(connection, "SELECT count(*) FROM t WHERE id = 2000000")[0][0]) == 1, "the row is not there")
        before = run(connection, ALL.format("t"))
        first.stop()
        first.start()
        connection = first.connect()
        expect(run(connection, ALL.format("t")) == before, "rows of the frozen table are lost")
        expect(status(connection, "t", "locked") == "0", "frozen after a start")
        run(connection, "FLUSH RAMCHUNK t")


@check
def kill_ends_an_optimize_and_the_next_one_works(home):
    with server(home, "first") as first:
        connection = first.connect()
        run(connection, "CREATE TABLE t (title text, n int, s string) engine='columnar'")
        for chunk in range(6):
            for batch in range(10):
                start = chunk * 20000 + batch * 2000 + 1
                values = ", ".join(f"({i}, 'title of {i}', {i}, 'string {i * 7919 % 100003}')"
                                   for i in range(start, start + 2000))
                run(connection, f"INSERT INTO t (id, title, n, s) VALUES {values}")
            run(connection, "FLUSH RAMCHUNK t")
        outcome = []
        worker = first.connect()
        thread = threading.Thread(
            target=lambda: outcome.append(error_of(worker, "OPTIMIZE TABLE t OPTION sync=1, cutoff=1")))
        thread.start()
        seen = False
        while thread.is_alive():
            for row in run(connection, "SHOW FULL PROCESSLIST"):
                seen = seen or (row[4] == "Daemon" and "table t" in row[7])
                if row[7] and row[7].startswith("OPTIMIZE"):
                    error_of(connection, f"KILL QUERY {row[0]}")
        thread.join()
        expect(outcome[0][0] in (0, 1317), outcome)
        print(f"OPTIMIZE ended with {outcome[0][0]}, seen in SHOW PROCESSLIST: {seen}")
        expect(int(run(connection, "SELECT count(*) FROM t")[0][0]) == 120000, "rows are lost")
        run(connection, "OPTIMIZE TABLE t OPTION sync=1, cutoff=1")
        expect(status(connection, "t", "disk_chunks") == "1", "more than one chunk")
        expect(run(connection, "SELECT count(*), sum(n) FROM t")[0] == (120000, 120000 * 120001 // 2), "rows differ")
        first.stop()


@check
def a_stop_ends_a_merge_in_the_background(home):
    with server(home, "first") as first:
        connection = first.connect()
        make_table(connection, "t", rows=3000)
        before = run(connection, ALL.format("t"))
        run(connection, "FLUSH RAMCHUNK t")
        run(connection, "OPTIMIZE TABLE t OPTION cutoff=1")
        first.stop()
        first.start()
        expect(run(first.connect(), ALL.format("t")) == before, "rows are lost")


sys.exit(run_checks(CHECKS, sys.argv[2:]))
