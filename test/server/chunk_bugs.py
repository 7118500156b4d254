#!/usr/bin/python3
"""Faults that users of such servers report about disk chunks, columnar tables and durability, each as a check that needs
more than statements: kills, limits, threads, many rows. Those that statements can show are in test/sql/bugs.

  chunk_bugs.py SEARCHD [--full] [CHECK...]        last line: "N passed, N failed"; --full: the sizes of the reports
"""

import importlib
import os
import pathlib
import pathlib
import random
import resource
import subprocess
import sys
import threading
import time

import pymysql

from server_under_test import (Server, affected, checksum, contents, error_of, expect, insert, one, optimize, run, run_checks,
                               status)

SEARCHD = os.path.realpath(sys.argv[1])
FULL = "--full" in sys.argv
ENGINES = ("rowwise", "columnar")
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def server(home, *lines, **more):
    return Server(SEARCHD, home, *lines, **more)


def size(small, full):
    return full if FULL else small


class Worker(threading.Thread):
    """Calls work(connection, round) until stopped; what it raises is told by done()."""

    def __init__(self, target, work, rounds=None):
        super().__init__()
        self.connection = target.connect()
        self.work = work
        self.left = rounds
        self.count = 0
        self.stopped = threading.Event()
        self.error = None
        self.start()

    def run(self):
        try:
            while not self.stopped.is_set() and self.count != self.left:
                self.work(self.connection, self.count)
                self.count += 1
        except Exception as error:  # told by done()
            self.error = error

    def done(self, stop=True):
        if stop:
            self.stopped.set()
        self.join()
        if self.error:
            raise self.error
        return self.count


# entry: (b) 24
@check
def multi64_column_added_to_several_chunks(home):
    with server(home) as first:
        connection = first.connect()
        rows = size(3000, 100_000)
        run(connection, "CREATE TABLE cb (s string attribute indexed, f text)")
        for chunk in range(4):
            insert(connection, "cb", "id, s, f", (f"({i}, 's{i % 97}', 'text {i}')"
                                                  for i in range(chunk * rows + 1, (chunk + 1) * rows + 1)))
            if chunk < 3:
                run(connection, "FLUSH RAMCHUNK cb")
        before = checksum(connection, "cb", "id, s, f")
        run(connection, "ALTER TABLE cb ADD COLUMN m multi64 engine='columnar'")
        insert(connection, "cb", "id, s, m", (f"({i}, 'new', ({i % 10}, {i}, 5))" for i in range(10_000_000, 10_000_500)))
        for step in ("", "FLUSH RAMCHUNK cb", "OPTIMIZE TABLE cb OPTION sync=1, cutoff=1", "restart"):
            if step == "restart":
                first.restart()
                connection = first.connect()
            elif step:
                run(connection, step)
            expect(one(connection, "SELECT count(*) FROM cb WHERE ANY(m) = 5") == 500, f"ANY(m) = 5 after {step}")
            expect(one(connection, "SELECT count(*) FROM cb WHERE ANY(m) = 3") == 50, f"ANY(m) = 3 after {step}")
            expect(one(connection, "SELECT count(*) FROM cb WHERE LENGTH(m) = 0") == 4 * rows, f"old rows after {step}")
        run(connection, "DELETE FROM cb WHERE id >= 10000000")
        expect(checksum(connection, "cb", "id, s, f") == before, "old rows have changed")


# entry: (b) 27
@check
def snowflake_ids_through_a_merge_of_sixty_chunks(home):
    with server(home, "binlog_flush = 2") as first:
        connection = first.connect()
        rows = size(40, 1000)
        for engine in ENGINES:
            run(connection, f"CREATE TABLE {engine} (b bigint, j json, f text, g text, s string, m multi) engine='{engine}'")
        draw = random.Random(27)
        chunks = size(25, 60)
        for _ in range(chunks):
            values = [f"({1_400_000_000_000_000_000 + draw.getrandbits(58)}, {draw.randint(-2**62, 2**62)}, "
                      f"'{{\"k\":{draw.randint(0, 99)},\"t\":\"{draw.random()}\"}}', 'word{draw.randint(0, 50)} and {i}', "
                      f"'{'long ' * draw.randint(0, 30)}', 's{draw.randint(0, 9)}', ({draw.randint(0, 9)},{i}))"
                      for i in range(rows)]
            for engine in ENGINES:
                insert(connection, engine, "id, b, j, f, g, s, m", values)
                run(connection, f"FLUSH RAMCHUNK {engine}")
        sums = []
        for engine in ENGINES:
            expect(status(connection, engine, "disk_chunks") == str(chunks), "other chunks")
            run(connection, f"DELETE FROM {engine} WHERE j.k = 7 OR s = 's3'")
            run(connection, f"UPDATE {engine} SET b = 77, s = 'changed' WHERE j.k = 9")
            before = checksum(connection, engine)
            words = run(connection, f"SELECT j.k k, count(*), sum(b), min(id), max(id) FROM {engine} GROUP BY k ORDER BY k ASC")
            optimize(connection, engine)
            expect(status(connection, engine, "disk_chunks") == "1", "more than one chunk")
            expect(checksum(connection, engine) == before, f"{engine}: rows differ after the merge")
            after = run(connection, f"SELECT j.k k, count(*), sum(b), min(id), max(id) FROM {engine} GROUP BY k ORDER BY k ASC")
            expect(after == words, f"{engine}: groups differ after the merge")
            sums.append(before)
        expect(sums[0] == sums[1], "the engines differ")
        first.restart()
        expect([checksum(first.connect(), engine) for engine in ENGINES] == sums, "rows differ after a restart")


# entry: (b) 30
@check
def filters_of_columnar_numbers_equal_a_scan_by_hand(home):
    with server(home) as first:
        connection = first.connect()
        draw = random.Random(30)
        rows = [(i, draw.randint(1, 3), 1 + (i // 1000) % 3, 7, draw.choice((-2**63, 0, 17, 2**63 - 1)), 10**18 + i * 3)
                for i in range(1, size(12_000, 200_000) + 1)]
        run(connection, "CREATE TABLE ca (a int, b int, same bigint, few bigint, delta bigint) engine='columnar'")
        for part in range(3):
            insert(connection, "ca", "id, a, b, same, few, delta", (str(row) for row in rows[part::3]))
            if part < 2:
                run(connection, "FLUSH RAMCHUNK ca")
        tests = {
            "a = 1 AND b = 1": lambda r: r[1] == 1 and r[2] == 1,
            "a = 1 AND b BETWEEN 1 AND 1": lambda r: r[1] == 1 and r[2] == 1,
            "b = 2 AND same = 7 AND few = 17": lambda r: r[2] == 2 and r[4] == 17,
            "same = 8 OR few > 17": lambda r: r[4] > 17,
            "same <> 7 OR delta < 1000000000000000100": lambda r: r[5] < 10**18 + 100,
            "few IN (-9223372036854775808, 1, 2) AND NOT a = 2": lambda r: r[4] == -2**63 and r[1] != 2,
            "delta IN (1000000000000000003, 1000000000000000004, 1000000000000003000)": lambda r: r[5] in (10**18 + 3, 10**18 + 3000),
            "delta > 9000000000000000000 AND a = 1": lambda r: False,
            "delta > 1000000000000005000 AND delta <= 1000000000000006000 AND b <> 3":
                lambda r: 10**18 + 5000 < r[5] <= 10**18 + 6000 and r[2] != 3,
        }
        for text, wanted in tests.items():
            ids = [str(row[0]) for row in run(connection, f"SELECT id FROM ca WHERE {text} ORDER BY id ASC LIMIT 1000000")]
            expect(ids == [str(row[0]) for row in rows if wanted(row)], text)
            if ids:
                found = run(connection, f"SELECT * FROM ca WHERE {text} ORDER BY RAND() LIMIT 20")
                expect(all(wanted(tuple(map(int, row))) for row in found), f"{text}: ORDER BY RAND()")


# entry: (b) 30
@check
def twelve_threads_filter_equal_values(home):
    with server(home, "threads = 8") as first:
        connection = first.connect()
        run(connection, "CREATE TABLE ca (a int, b int) engine='columnar'")
        count = size(20_000, 300_000)
        insert(connection, "ca", "id, a, b", (f"({i}, 5, {i % 2})" for i in range(1, count + 1)))
        run(connection, "FLUSH RAMCHUNK ca")

        def work(mine, _):
            rows = run(mine, "SELECT id, a, b FROM ca WHERE a = 5 AND b = 1 LIMIT 20")
            expect(len(rows) == 20 and all(row[1:] == (5, 1) for row in rows), rows)

        workers = [Worker(first, work, rounds=size(60, 20_000 // 12)) for _ in range(12)]
        for worker in workers:
            worker.done(stop=False)


def dump(source, target, table):
    """mariadb-dump of a table into another server."""
    options = ["--host=127.0.0.1", "--user=test", "--default-character-set=utf8mb4"]
    text = subprocess.run(["mariadb-dump", *options, f"--port={source.port}", "Manticore", table], capture_output=True, check=False)
    expect(text.returncode == 0, text.stderr.decode()[-500:])
    loaded = subprocess.run(["mariadb", *options, f"--port={target.port}", "--binary-mode", "Manticore"], input=text.stdout,
                            capture_output=True, check=False)
    expect(loaded.returncode == 0, loaded.stderr.decode()[-500:])


# entry: (b) 32
@check
def a_dump_of_chunks_loads_into_an_equal_table(home):
    with server(home / "a") as first, server(home / "b") as second:
        connection = first.connect()
        odd = ["", "'", '"', "\\", "a\nb\r\tc", "nul\0inside", "\U0001f600 emoji", "%_;--/*", "größe"]
        for engine in ENGINES:
            run(connection, f"CREATE TABLE {engine} (f text, m multi, w multi64, j json, s string, v float_vector, x float, "
                            f"o bool, ts timestamp) engine='{engine}'")
            for i in range(size(300, 3000)):
                text = odd[i % len(odd)]
                sets = ("()", "(1)", "(3,2,1)", "(0,4294967295)")[i % 4]
                wide = ("(-5,9223372036854775807)", "()", "(-9223372036854775808)")[i % 3]
                document = ("NULL", "'{}'", "'{\"a\":null,\"b\":[1,\"x\"]}'", "'{\"q\":\"it\\'s\"}'")[i % 4]
                with connection.cursor() as cursor:
                    cursor.execute(f"INSERT INTO {engine} (id, f, m, w, j, s, v, x, o, ts) VALUES (%s, %s, {sets}, {wide}, "
                                   f"{document}, %s, ({i}, 0.5), {i / 8}, {i % 2}, {i * 1000})", (i + 1, text, text))
                if i % 100 == 99:
                    run(connection, f"FLUSH RAMCHUNK {engine}")
            run(connection, f"DELETE FROM {engine} WHERE id % 7 = 3")
            run(connection, f"UPDATE {engine} SET s = 'it''s changed', m = (9,8) WHERE id % 7 = 4")
            dump(first, second, engine)
            expect(contents(connection, engine) == contents(second.connect(), engine), f"{engine}: the copy differs")
            expect(run(connection, f"SHOW CREATE TABLE {engine}") == run(second.connect(), f"SHOW CREATE TABLE {engine}"), engine)


# entry: (b) 33
@check
def check_table_finds_a_flipped_byte_and_nothing_else(home):
    with server(home) as first:
        connection = first.connect()
        run(connection, "CREATE TABLE t (ts timestamp, s string, j json, f text, m multi, v float_vector, n int "
                        "engine='rowwise') engine='columnar'")
        for chunk in range(3):
            insert(connection, "t", "id, ts, s, j, f, m, v, n", (
                f"({i}, {i * 60}, 's{i % 13}', '{{\"k\":{i}}}', 'stored text {i}', ({i % 3},{i}), ({i},1,2), {i})"
                for i in range(chunk * 500 + 1, chunk * 500 + 501)))
            run(connection, "FLUSH RAMCHUNK t")
            run(connection, f"DELETE FROM t WHERE id % 7 = {chunk}")
            run(connection, f"UPDATE t SET s = 'changed', n = 1 WHERE id % 11 = {chunk}")
        optimize(connection, "t", cutoff=2)
        insert(connection, "t", "id, n", ["(9001, 1)", "(9002, 2)"])
        run(connection, "FLUSH TABLE t")
        run(connection, "DELETE FROM t WHERE id % 17 = 1")
        first.stop()
        code, text = first.check_table("t")
        expect(code == 0, f"a sound table: {text}")
        draw = random.Random(33)
        endings = set()
        for file in first.files("t"):
            endings.add(file.suffix)
            sound = file.read_bytes()
            for _ in range(size(2, 40)):
                damaged = bytearray(sound)
                at = draw.randrange(len(sound))
                damaged[at] ^= 1 << draw.randrange(8)
                file.write_bytes(damaged)
                code, text = first.check_table("t")
                expect(code == 1 and file.name in text, f"{file.name}: byte {at} of {len(sound)}: {code} {text[-300:]}")
            file.write_bytes(sound)
        expect({".spc", ".spa", ".spt", ".spds"} <= endings or len(endings) > 4, f"only files {endings}")
        code, text = first.check_table("t")
        expect(code == 0, f"the table as it was: {text}")
        code, text = first.check_table("nosuch")
        expect(code == 1 and "nosuch" in text, (code, text))


# entry: (b) 34
@check
def a_flush_of_forty_columns_with_few_descriptors(home):
    limits = ((resource.RLIMIT_NOFILE, 64),)
    with server(home, limits=limits) as first:
        connection = first.connect()
        kinds = ("int", "string", "bigint", "float")
        columns = ", ".join(f"c{i} {kinds[i % 4]}" for i in range(40))
        document = ", ".join(f'"key{i}": {i}' for i in range(200))
        for engine in ENGINES:
            run(connection, f"CREATE TABLE {engine} ({columns}, j json) engine='{engine}'")
            count = size(1500, 50_000)
            values = ", ".join("'text'" if i % 4 == 1 else str(i) for i in range(40))
            insert(connection, engine, ", ".join(["id"] + [f"c{i}" for i in range(40)] + ["j"]),
                   (f"({i}, {values}, '{{{document}, \"i\": {i}}}')" for i in range(1, count + 1)))
            run(connection, f"FLUSH RAMCHUNK {engine}")
            run(connection, f"UPDATE {engine} SET c0 = 5, c1 = 'changed' WHERE id = 7")
            expect(one(connection, f"SELECT count(*) FROM {engine}") == count, "rows are lost")
        expect(len(run(connection, "SHOW TABLES")) == 2, "a table is lost")
        first.restart()
        for engine in ENGINES:
            expect(one(first.connect(), f"SELECT count(*) FROM {engine} WHERE j.key199 = 199") == count, "rows are lost")


# entry: (b) 34: more chunks than the process may have descriptors or memory for
@check
def more_chunks_than_the_limits_allow(home):
    def fill(first, rounds):
        """Rows written and the first error of a flush."""
        connection = first.connect()
        for i in range(rounds):
            values = ", ".join(f"({i * 5 + k + 1}, {i}, 'text {i}')" for k in range(5))
            code, text = error_of(connection, f"INSERT INTO t (id, n, s) VALUES {values}")
            if code:
                return i * 5, text
            code, text = error_of(connection, "FLUSH RAMCHUNK t")
            if code:
                return (i + 1) * 5, text
        return rounds * 5, ""

    rounds = size(120, 3000)
    with server(home, limits=((resource.RLIMIT_NOFILE, 64),)) as first:
        run(first.connect(), "CREATE TABLE t (n int, s string) engine='columnar' access_columnar_attrs='file'")
        rows, text = fill(first, rounds)
        connection = first.connect()
        print(f"{status(connection, 't', 'disk_chunks')} chunks, then: {text}")
        expect(one(connection, "SELECT count(*) FROM t") == rows, f"rows are lost: {text}")
        if text:
            expect("Too many open files (limit of the process, ulimit -n: 64)" in text, f"the error does not name the limit: {text}")
        first.kill()
        first.limits = {}
        first.start()
        connection = first.connect()
        expect(one(connection, "SELECT count(*) FROM t") == rows, "rows are lost after a kill")
        run(connection, "FLUSH RAMCHUNK t")
        expect(int(one(connection, "SELECT sum(n) FROM t")) == sum(i // 5 for i in range(rows)), "other rows after a flush")


# entry: (b) 34: a chunk needs few maps; descriptors up to the hard limit
@check
def many_chunks_need_few_maps_and_descriptors(home):
    chunks = size(80, 3000)
    with server(home, "binlog_flush = 2", limits=((resource.RLIMIT_NOFILE, (64, chunks + 64)),)) as first:
        connection = first.connect()
        run(connection, "CREATE TABLE t (n int, s string, r int engine='rowwise', f text) engine='columnar'")
        for i in range(chunks):
            run(connection, f"INSERT INTO t (id, n, s, r, f) VALUES ({i + 1}, {i}, 's{i}', 1, 'text')")
            run(connection, "FLUSH RAMCHUNK t")
        maps = len(pathlib.Path(f"/proc/{first.process.pid}/maps").read_text().splitlines())
        expect(status(connection, "t", "disk_chunks") == str(chunks) and maps < 12 * chunks + 1000, f"{maps} maps")
        first.kill()
        first.start()
        expect(run(first.connect(), "SELECT count(*), sum(n), sum(r) FROM t")[0] ==
               (chunks, chunks * (chunks - 1) // 2, chunks), "rows differ after a kill")
        optimize(first.connect(), "t", cutoff=chunks // 2)


# entry: (b) 36
@check
def counts_of_a_time_range_agree_on_every_plan(home):
    count = size(30_000, 2_000_000)
    with server(home, "threads = 8") as first:
        connection = first.connect()
        draw = random.Random(36)
        run(connection, "CREATE TABLE ch (ts timestamp, sp string, bc string, n int) engine='columnar'")
        pairs = {}
        wanted = 0
        low, high = 1_700_000_000 + count // 5, 1_700_000_000 + count // 2
        for chunk in range(6):
            rows = []
            for i in range(chunk * count // 6 + 1, (chunk + 1) * count // 6 + 1):
                sp, bc, ts = draw.choice("abcde"), draw.choice("xyz"), 1_700_000_000 + i
                rows.append(f"({i}, {ts}, '{sp}', '{bc}', {i % 100})")
                pairs[bc, sp] = pairs.get((bc, sp), 0) + 1
                wanted += low <= ts < high and sp == "c"
            insert(connection, "ch", "id, ts, sp, bc, n", rows)
            if chunk < 5:
                run(connection, "FLUSH RAMCHUNK ch")
        where = f"ts >= {low} AND ts < {high}"
        for _ in range(3):
            forms = [f"SELECT count(*) FROM ch WHERE {where} AND sp = 'c'",
                     f"SELECT count(*) FROM ch WHERE sp = 'c' AND {where}",
                     f"SELECT count(*) FROM ch WHERE id >= {low - 1_700_000_000} AND id < {high - 1_700_000_000} AND sp = 'c'",
                     f"SELECT count(*) FROM ch WHERE {where} AND sp IN ('c', 'nosuch')",
                     f"SELECT count(*) FROM ch WHERE {where} AND NOT (sp <> 'c')"]
            for option in ("", " OPTION threads=1", " OPTION threads=8", " /*+ NO_ColumnarScan(sp) */", " /*+ ColumnarScan(ts) */"):
                for form in forms:
                    got = one(connection, form + option)
                    expect(got == wanted, f"{form + option}: {got}, not {wanted}")
            groups = dict(run(connection, f"SELECT sp, count(*) FROM ch WHERE {where} GROUP BY sp"))
            expect(groups["c"] == wanted, f"GROUP BY sp: {groups['c']}, not {wanted}")
            rows = run(connection, "SELECT bc, sp, count(*) FROM ch GROUP BY bc, sp")
            expect({row[:2]: row[2] for row in rows} == pairs and len(rows) == len(pairs), "GROUP BY bc, sp")
            if status(connection, "ch", "disk_chunks") == "6":
                optimize(connection, "ch", cutoff=2)
            else:
                run(connection, "FLUSH RAMCHUNK ch")

        def write(mine, i):
            insert(mine, "ch", "id, ts, sp, bc, n", (f"({10_000_000 + i * 50 + k}, 5, '{'abcde'[k % 5]}', '{'xyz'[k % 3]}', 1)"
                                                     for k in range(50)))
            if i % 10 == 9:
                run(mine, "FLUSH RAMCHUNK ch")

        writer = Worker(first, write)
        for _ in range(size(30, 300)):
            rows = run(connection, "SELECT bc, sp, count(*) FROM ch GROUP BY bc, sp")
            expect(len({row[:2] for row in rows}) == len(rows) == len(pairs), f"a group twice: {rows}")
        written = writer.done() * 50
        rows = run(connection, "SELECT bc, sp, count(*) FROM ch GROUP BY bc, sp")
        expect(sum(row[2] for row in rows) == count + written == one(connection, "SELECT count(*) FROM ch"), "sums differ")


# entry: (c) 44, without MATCH
@check
def junk_bytes_survive_many_replaces(home):
    with server(home, "binlog_flush = 2") as first:
        connection = first.connect()
        draw = random.Random(44)
        kept = {}
        for engine in ENGINES:
            run(connection, f"CREATE TABLE {engine} (f text, s string, n int) engine='{engine}'")
        junk = [bytes(range(32)), bytes(range(128, 256)), b"\xc3", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"w" * 65536, b"\0" * 100, b""]
        for i in range(size(2000, 20_000)):
            identity = draw.randint(1, 500)
            text = draw.choice(junk) if i % 3 else draw.randbytes(draw.randint(0, 50))
            if len(text) > 1000 and i % 10:
                text = b"short"
            escaped = b"".join(b"\\" + bytes([c]) if c in b"'\\" else (b"\\0" if c == 0 else bytes([c])) for c in text)
            kept[identity] = (text, i)
            for engine in ENGINES:
                sql = f"REPLACE INTO {engine} (id, f, s, n) VALUES ({identity}, '".encode() + escaped + b"', '" + escaped
                connection.query(sql + f"', {i})".encode())
            if i % 500 == 499:
                for engine in ENGINES:
                    run(connection, f"FLUSH RAMCHUNK {engine}")
        binary = pymysql.connect(host="127.0.0.1", port=first.port, user="test", charset="latin1", use_unicode=False)
        for engine in ENGINES:
            optimize(connection, engine, cutoff=2)
            rows = run(binary, f"SELECT id, f, s, n FROM {engine} ORDER BY id ASC LIMIT 1000")
            found = {int(row[0]): (row[1], row[2], int(row[3])) for row in rows}
            for identity, (text, number) in kept.items():
                expect(found[identity] == (text, text, number), f"{engine} {identity}: {found[identity]!r:.200}, not {text!r:.200}")
            expect(len(rows) == len(kept), "too many rows")
        first.stop()
        for engine in ENGINES:
            code, text = first.check_table(engine)
            expect(code == 0, text)


# entry: (c) 46
@check
def readers_always_see_one_version_of_a_replaced_row(home):
    with server(home, "threads = 8") as first:
        connection = first.connect()
        run(connection, "CREATE TABLE t (n int, s string) engine='columnar'")
        insert(connection, "t", "id, n, s", (f"({i}, 0, 'v0')" for i in range(1, 1001)))

        def replace(mine, i):
            affected(mine, f"REPLACE INTO t (id, n, s) VALUES ({i % 1000 + 1}, {i}, 'v{i}')")

        def maintain(mine, i):
            run(mine, "FLUSH RAMCHUNK t")
            if i % 4 == 3:
                optimize(mine, "t", cutoff=2)

        def read(mine, i):
            rows = run(mine, f"SELECT n, s FROM t WHERE id = {i * 7 % 1000 + 1}")
            expect(len(rows) == 1 and rows[0][1] == f"v{rows[0][0]}", rows)
            if i % 20 == 0:
                expect(one(mine, "SELECT count(*) FROM t") == 1000, "count(*)")
                expect(one(mine, "SELECT count(*) FROM t WHERE n >= 0") == 1000, "count of a scan")

        workers = [Worker(first, replace), Worker(first, maintain)] + [Worker(first, read) for _ in range(4)]
        time.sleep(size(3, 60))
        for worker in reversed(workers):
            worker.done()


def main():
    importlib.import_module("chunk_durability_bugs")  # its checks register themselves
    return run_checks(CHECKS, [name for name in sys.argv[2:] if not name.startswith("--")])


if __name__ == "__main__":
    sys.modules["chunk_bugs"] = sys.modules["__main__"]
    sys.exit(main())
