"""The second half of chunk_bugs.py: kills, damaged files, merges under load, memory, speed. Run by chunk_bugs.py."""

import pathlib
import random
import shutil
import threading
import time

import pymysql

from chunk_bugs import ENGINES, Worker, check, server, size
from server_under_test import (affected, best_time, checksum, contents, error_of, expect, insert, milliseconds, one,
                               optimize, run, status)


def many_rows(connection, table, start, count):
    """Rows with n, g, s, m by a few statements."""
    insert(connection, table, "id, n, g, s, m", (f"({i}, {i}, {i % 100}, 's{i % 1000}', ({i % 7},{i % 11}))"
                                                 for i in range(start, start + count)))


def make_chunks(connection, table, chunks, rows, options=""):
    run(connection, f"CREATE TABLE {table} (n int, g int, s string, m multi, f text) {options}")
    for chunk in range(chunks):
        many_rows(connection, table, chunk * rows + 1, rows)
        run(connection, f"FLUSH RAMCHUNK {table}")


def newest_log(target):
    return max((target.data_dir / "binlog").glob("binlog.0*"))


# entry: (c) 38
@check
def a_torn_tail_of_the_log_loses_only_the_torn_statement(home):
    with server(home, "binlog_flush = 2") as first:
        connection = first.connect()
        run(connection, "CREATE TABLE t (n int) engine='columnar'")
        count = size(600, 10_000)
        for i in range(1, count + 1):
            run(connection, f"INSERT INTO t (id, n) VALUES ({i}, {i})")
            if i == count // 2:
                run(connection, "FLUSH RAMCHUNK t")
        first.kill()
        log = newest_log(first)
        whole = log.read_bytes()
        for cut in (1, 7, 100, -50):
            log.write_bytes(whole[:-cut] if cut > 0 else whole + b"\0" * -cut)
            first.start()
            found = one(first.connect(), "SELECT count(*) FROM t")
            first.kill()
            expect(count - 6 <= found <= count - (cut > 0), f"cut {cut}: {found} rows of {count}")
            for file in (first.data_dir / "binlog").glob("binlog.0*"):
                if file > log:
                    file.unlink()


# entry: (c) 39
@check
def a_damaged_record_of_the_log_is_told_and_can_be_skipped(home):
    with server(home, "binlog_flush = 2") as first:
        connection = first.connect()
        run(connection, "CREATE TABLE t (n int)")
        for i in range(1, 201):
            run(connection, f"INSERT INTO t (id, n) VALUES ({i}, 1)")
            if i == 100:
                run(connection, "FLUSH RAMCHUNK t")
        first.kill()
        log = newest_log(first)
        damaged = bytearray(log.read_bytes())
        damaged[len(damaged) * 3 // 4] ^= 0x10
        log.write_bytes(damaged)
        try:
            first.start()
            raise AssertionError("the server has started")
        except Exception as error:  # how a failed start is told
            text = str(error)
        expect(log.name in text and "offset" in text and "replay-flags" in text, text)
        expect(log.read_bytes() == damaged, "a failed start has changed the log")
        first.arguments = ["--replay-flags", "ignore-trx-errors"]
        first.start()
        found = one(first.connect(), "SELECT count(*) FROM t")
        expect(100 <= found <= 199, f"{found} rows")
        first.stop()


# entry: (c) 41: there is no index of log files; a file that is gone
@check
def a_log_file_that_is_gone_is_skipped_or_told(home):
    with server(home) as first:
        connection = first.connect()
        make_chunks(connection, "t", 2, 100)
        first.restart()
        many_rows(first.connect(), "t", 1001, 10)
        first.kill()
        for file in (first.data_dir / "binlog").glob("*"):
            file.unlink()
        try:
            first.start()
        except Exception as error:
            expect("binlog" in str(error), str(error))
            return
        found = one(first.connect(), "SELECT count(*) FROM t")
        expect(found in (200, 210), f"{found} rows")


# entry: (c) 48
@check
def updates_during_a_merge_are_fast_and_survive_it(home):
    rows = size(12_000, 500_000)
    with server(home, "threads = 4", "binlog_flush = 2") as first:
        connection = first.connect()
        for engine in ENGINES:
            make_chunks(connection, engine, 5, rows, f"engine='{engine}'")
            merge = Worker(first, lambda mine, _, name=engine: optimize(mine, name), rounds=1)
            readers = [Worker(first, lambda mine, i, name=engine: run(mine, f"SELECT id FROM {name} WHERE g = {i % 100} LIMIT 5"))]
            draw = random.Random(48)
            during = 0
            times = []
            wanted = {}
            for i in range(1000):
                identity = draw.randint(1, 5 * rows)
                during += merge.is_alive()
                value = ("n = %d" % (10**7 + i), "s = 'new%d'" % i, "m = (%d,77)" % (i + 100))[i % 3]
                times.append(milliseconds(lambda: affected(connection, f"UPDATE {engine} SET {value} WHERE id = {identity}")))
                wanted[i % 3, identity] = (str(10**7 + i), f"new{i}", f"77,{i + 100}" if i + 100 > 77 else "")[i % 3]
            merge.done(stop=False)
            readers[0].done()
            times.sort()
            print(f"{engine}: {during} of 1000 UPDATEs during the merge, median {times[500]:.1f} ms, "
                  f"99 % {times[990]:.1f} ms, longest {times[-1]:.1f} ms")
            expect(times[500] < 10 and times[990] < 100 and times[-1] < 1000, f"{engine}: UPDATEs are slow")
            for step in range(3):
                for (column, identity), value in wanted.items():
                    row = run(connection, f"SELECT n, s, m FROM {engine} WHERE id = {identity}")[0]
                    expect(str(row[column]) == value, f"{engine} {identity} step {step}: {row}, not {value}")
                if step == 0:
                    expect(status(connection, engine, "disk_chunks") == "1", "more than one chunk")
                    optimize(connection, engine)
                    first.kill()
                    first.start()
                    connection = first.connect()
                elif step == 1:
                    first.restart()
                    connection = first.connect()


# entry: (c) 49
@check
def drop_and_create_while_merges_run(home):
    with server(home, "binlog_flush = 2") as first:
        connection = first.connect()

        def read(mine, _):
            code, text = error_of(mine, "SELECT count(*), sum(n) FROM t")
            expect(code in (0, 1146, 1064), f"{code} {text}")

        reader = Worker(first, read)
        for i in range(size(8, 200)):
            make_chunks(connection, "t", 3, size(300, 5000), f"engine='{ENGINES[i % 2]}' rt_mem_limit='128k'")
            run(connection, "OPTIMIZE TABLE t OPTION cutoff=1")
            many_rows(connection, "t", 1_000_000, 50)
            run(connection, "DROP TABLE t")
        reader.done()
        deadline = time.monotonic() + 10
        while list(first.data_dir.glob("t.*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        expect(not list(first.data_dir.glob("t.*")), f"files are left: {list(first.data_dir.glob('t.*/*'))[:5]}")
        make_chunks(connection, "t", 1, 10)
        first.restart()
        expect(one(first.connect(), "SELECT count(*) FROM t") == 10, "the last table is lost")


# entry: (c) 49
@check
def a_kill_in_optimize_leaves_no_files(home):
    with server(home) as first:
        make_chunks(first.connect(), "t", 6, size(1000, 50_000), "engine='columnar'")
        before = checksum(first.connect(), "t")
        for point in ("chunk.write=kill@1", "chunk.write=kill@3", "chunk.rename=kill@1", "chunk.publish=kill@1", "chunk.after=kill@1"):
            first.stop()
            first.arguments = ["--fault-points", point]
            first.start()
            error_of(first.connect(), "OPTIMIZE TABLE t OPTION sync=1, cutoff=3")
            expect(first.process.wait(30) != 0, f"{point}: not killed")
            first.arguments = []
            first.start()
            connection = first.connect()
            expect(checksum(connection, "t") == before, f"{point}: rows differ")
            known = {row[1] for row in run(connection, "SELECT * FROM t.@files")}
            left = [str(file) for file in first.files("t") if str(file) not in known]
            expect(not left, f"{point}: files are left: {left}")
        draw = random.Random(49)
        for _ in range(size(3, 50)):
            run(first.connect(), "OPTIMIZE TABLE t OPTION cutoff=1")
            time.sleep(draw.random() * 0.05)
            first.kill()
            first.start()
            expect(checksum(first.connect(), "t") == before, "rows differ")
        optimize(first.connect(), "t")
        run(first.connect(), "DROP TABLE t")
        make_chunks(first.connect(), "t", 1, 10)


# entry: (c) 49
@check
def a_merge_that_fails_leaves_the_old_chunks_serving(home):
    with server(home) as first:
        make_chunks(first.connect(), "t", 3, 2000, "engine='columnar'")
        before = checksum(first.connect(), "t")
        for point, word in (("chunk.write=fail", "t"), ("chunk.write=full", "space"), ("chunk.rename=fail", "t")):
            first.stop()
            first.arguments = ["--fault-points", point]
            first.start()
            connection = first.connect()
            code, text = error_of(connection, "OPTIMIZE TABLE t OPTION sync=1, cutoff=1")
            expect(code != 0 and word in text, f"{point}: {code} {text}")
            expect(run(connection, "SHOW TABLES") == (("t", "rt"),), "the table is gone")
            expect(checksum(connection, "t") == before, f"{point}: rows differ")
        first.stop()
        first.arguments = []
        first.start()
        expect(checksum(first.connect(), "t") == before, "rows differ after a restart")
        # An unreadable file: a byte of a column of one chunk is flipped while nobody has read it.
        first.stop()
        victim = [file for file in first.files("t") if file.suffix == ".spc"][1]
        sound = victim.read_bytes()
        damaged = bytearray(sound)
        damaged[len(sound) // 2] ^= 1
        victim.write_bytes(damaged)
        first.start()
        connection = first.connect()
        for _ in range(2):
            code, text = error_of(connection, "OPTIMIZE TABLE t OPTION sync=1, cutoff=1")
            expect(code != 0 and victim.name in text, f"{code} {text}")
            expect(status(connection, "t", "disk_chunks") == "3", "chunks are gone")
            expect(one(connection, "SELECT count(*) FROM t") == 6000, "rows are lost")
            expect(run(connection, "SELECT n FROM t WHERE id = 7") == ((7,),), "a row of another chunk")
        many_rows(connection, "t", 100_001, 5)
        first.stop()
        victim.write_bytes(sound)
        first.start()
        connection = first.connect()
        run(connection, "DELETE FROM t WHERE id > 100000")
        optimize(connection, "t")
        expect(checksum(connection, "t") == before, "rows differ once the file is back")


# entry: (c) 50
@check
def a_kill_during_drop_column_leaves_the_old_or_the_new_table(home):
    with server(home, "binlog_flush = 2") as first:
        make_chunks(first.connect(), "t", size(20, 50), 50)
        rows = size(20, 50) * 50
        first.stop()
        saved = home / "saved"
        shutil.copytree(first.data_dir, saved)
        draw = random.Random(50)
        first.start()
        whole = milliseconds(lambda: run(first.connect(), "ALTER TABLE t DROP COLUMN f")) / 1000
        outcomes = set()
        for _ in range(size(6, 60)):
            first.kill()
            shutil.rmtree(first.data_dir)
            shutil.copytree(saved, first.data_dir)
            first.start()
            connection = first.connect()
            outcome = []
            thread = threading.Thread(target=lambda: outcome.append(error_of(connection, "ALTER TABLE t DROP COLUMN f")))
            thread.start()
            time.sleep(draw.random() * whole * 1.5)
            first.kill()
            thread.join()
            first.start()
            connection = first.connect()
            names = [row[0] for row in run(connection, "DESC t")]
            expect(set(names) in ({"id", "n", "g", "s", "m", "f"}, {"id", "n", "g", "s", "m"}), names)
            expect("f" not in names or outcome[0][0] != 0, "an acknowledged ALTER is lost")
            outcomes.add("f" in names)
            found = contents(connection, "t")
            expect(len(found) == rows and all(len(row) == len(names) for row in found), "rows")
            expect(one(connection, "SELECT sum(n) FROM t") == rows * (rows + 1) // 2, "values")
        first.stop()
        code, text = first.check_table("t")
        expect(code == 0, text)
        print(f"the column was there after a kill: {sorted(outcomes)}")


# entry: (j) a clean stop during FLUSH RAMCHUNK answers "table unusable"
@check
def a_stop_during_flush_answers_in_words_that_are_true(home):
    with server(home, "binlog_flush = 2") as first:
        for i in range(size(4, 30)):
            connection = first.connect()
            name = f"t{i}"
            run(connection, f"CREATE TABLE {name} (n int, g int, s string, m multi) engine='columnar'")
            many_rows(connection, name, 1, size(20_000, 200_000))
            outcome = []
            thread = threading.Thread(target=lambda: outcome.append(error_of(connection, f"FLUSH RAMCHUNK {name}")))
            thread.start()
            time.sleep(0.004 * (i + 1))
            first.stop()
            thread.join()
            code, text = outcome[0]
            expect(code in (0, 2006, 2013, 1053, 1317) and "unusable" not in text, f"{code} {text}")
            first.start()
            expect(one(first.connect(), f"SELECT count(*) FROM {name}") == size(20_000, 200_000), "rows are lost")


# entry: (j) kill -9 while flushes and merges run loses acknowledged statements and blocks the name
@check
def a_kill_under_load_loses_nothing_and_frees_the_name(home):
    with server(home, "auto_optimize = 1", "optimize_cutoff = 2", "rt_mem_limit = 128k") as first:
        for i in range(size(4, 50)):
            run(first.connect(), f"CREATE TABLE t (n int, s string) engine='{ENGINES[i % 2]}'")
            acknowledged = []

            def write(mine, k, kept=acknowledged):
                run(mine, "INSERT INTO t (id, n, s) VALUES " + ", ".join(f"({k * 50 + j + 1}, {k}, '{'x' * 100}')" for j in range(50)))
                kept.append(k)

            writer = Worker(first, write)
            maintainer = Worker(first, lambda mine, _: run(mine, "FLUSH RAMCHUNK t"))
            time.sleep(0.7)
            first.kill()
            for worker in (writer, maintainer):
                try:
                    worker.done()
                except pymysql.Error:
                    pass
            first.start()
            connection = first.connect()
            found = one(connection, "SELECT count(*) FROM t")
            expect(found in (50 * len(acknowledged), 50 * len(acknowledged) + 50), f"{found} rows, {len(acknowledged)} x 50")
            expect(one(connection, f"SELECT count(*) FROM t WHERE n < {len(acknowledged)}") == 50 * len(acknowledged), "rows")
            run(connection, "DROP TABLE t")


def maps_of(target, ending=".spc"):
    text = pathlib.Path(f"/proc/{target.process.pid}/maps").read_text()
    return len({line.split()[-1] for line in text.splitlines() if line.endswith(ending)})


# entry: (j) ALTER TABLE … access_columnar_attrs='file' changes nothing until restart
@check
def the_access_mode_changes_at_once_and_vectors_stay(home):
    with server(home) as first:
        connection = first.connect()
        dims, rows = 64, size(300, 5000)
        draw = random.Random(7)
        vectors = {i: ",".join(f"{draw.uniform(-1, 1):.6f}" for _ in range(dims if i % 10 else 0)) for i in range(1, rows * 3 + 1)}

        def check_vectors(table, when):
            for row in run(connection, f"SELECT id, n, v FROM {table} ORDER BY id ASC LIMIT 1000000"):
                wanted = vectors[int(row[0])]
                near = [round(float(x), 5) for x in row[2].split(",") if x] == [round(float(x), 5) for x in wanted.split(",") if x]
                expect(row[1] == int(row[0]) % 1000 and near, f"{table} {row[0]} {when}: {row[2][:60]}, not {wanted[:60]}")

        for mode in ("file", "mmap"):
            run(connection, f"CREATE TABLE {mode} (n int, v float_vector) engine='columnar' access_columnar_attrs='{mode}'")
            for part in range(3):
                insert(connection, mode, "id, n, v", (f"({i}, {i % 1000}, ({vectors[i]}))" for i in vectors if i % 3 == part))
                run(connection, f"FLUSH RAMCHUNK {mode}")
            check_vectors(mode, "before OPTIMIZE")
        expect(maps_of(first) == 3, f"{maps_of(first)} mapped files, 3 wanted")
        run(connection, "ALTER TABLE mmap access_columnar_attrs='file'")
        expect(maps_of(first) == 0, "still mapped")
        run(connection, "ALTER TABLE file access_columnar_attrs='mmap'")
        expect(maps_of(first) >= 3, "not mapped")
        run(connection, "ALTER TABLE file access_columnar_attrs='file'")
        run(connection, "ALTER TABLE mmap access_columnar_attrs='mmap'")
        for mode in ("file", "mmap"):
            run(connection, f"DELETE FROM {mode} WHERE n = 5")
            optimize(connection, mode)
            check_vectors(mode, "after OPTIMIZE")
            # entry: (j) columnar tables keep every vector twice
            stored = sum(file.stat().st_size for file in first.files(mode))
            expect(stored < rows * 3 * (dims * 4 * 1.15 + 40) + 100_000, f"{stored} bytes for {rows * 3} vectors of {dims}")
        first.restart()
        connection = first.connect()
        for mode in ("file", "mmap"):
            check_vectors(mode, "after a restart")


# entry: (g) 105
@check
def memory_is_flat_under_load_and_falls_after_drop(home):
    with server(home, "auto_optimize = 1", "rt_mem_limit = 1m", "binlog_flush = 2", "threads = 4") as first:
        connection = first.connect()
        tables = size(3, 10)
        started = first.status_of_process("VmRSS")
        for i in range(tables):
            run(connection, f"CREATE TABLE t{i} (n int, g int, s string, m multi, f text) engine='{ENGINES[i % 2]}'")

        def replace(mine, k, table):
            start = k % 40 * 100
            insert(mine, table, "id, n, g, s, m, f", (f"({start + j}, {k}, {j}, 's{j}', (1,{j}), 'text {k} {j} {'x' * 100}')"
                                                      for j in range(1, 101)), verb="REPLACE")

        def search(mine, k):
            table = f"t{k % tables}"
            for sql in (f"SELECT g, count(*), avg(n) FROM {table} GROUP BY g ORDER BY g ASC LIMIT 5",
                        f"SELECT id, n * 2 + g FROM {table} WHERE n % 7 = 3 ORDER BY s ASC LIMIT 20",
                        f"SELECT * FROM {table} LIMIT 3 FACET g FACET s", f"SELECT nosuch FROM {table}"):
                error_of(mine, sql)

        samples = []
        workers = [Worker(first, lambda mine, k, name=f"t{i}": replace(mine, k, name)) for i in range(tables)]
        workers.append(Worker(first, search))
        for _ in range(size(10, 600)):
            time.sleep(size(0.6, 3))
            samples.append(first.status_of_process("VmRSS"))
        for worker in workers:
            worker.done()
        half = samples[len(samples) // 2:]
        print(f"RSS at start {started} KiB, after warm-up {samples[len(samples) // 2 - 1]}, at the end {samples[-1]}, most {max(samples)}")
        expect(max(half) < max(samples[:len(samples) // 2]) * 1.5 + 20_000, f"memory grows: {samples}")
        for i in range(tables):
            run(connection, f"DROP TABLE t{i}")
        deadline = time.monotonic() + 10
        while first.status_of_process("VmRSS") > started * 1.5 + 30_000 and time.monotonic() < deadline:
            time.sleep(0.05)
        after = first.status_of_process("VmRSS")
        print(f"RSS after DROP {after} KiB")
        expect(after < started * 1.5 + 30_000, f"{after} KiB after DROP, {started} at start")


# entry: (g) 107
@check
def many_chunks_cost_little_each(home):
    rows = size(10_000, 1_000_000)
    counts = size((1, 10, 100), (1, 10, 100, 1000))
    with server(home, "binlog_flush = 2") as first:
        connection = first.connect()
        times = {}
        for chunks in counts:
            make_chunks(connection, f"c{chunks}", chunks, rows // chunks, "engine='columnar'")
            statements = {
                "filter": f"SELECT count(*) FROM c{chunks} WHERE g = 5",
                "sort": f"SELECT id FROM c{chunks} WHERE g = 5 ORDER BY n DESC LIMIT 10",
                "count": f"SELECT count(*) FROM c{chunks}",
                "id": f"SELECT n FROM c{chunks} WHERE id = {rows // 2}",
                "replace": f"REPLACE INTO c{chunks} (id, n, g, s) VALUES ({rows // 2}, {rows // 2}, 50, 'x')"}
            times[chunks] = {name: best_time(connection, sql) for name, sql in statements.items()}
            print(f"{chunks} chunks: " + ", ".join(f"{name} {value:.2f} ms" for name, value in times[chunks].items()))
            expect(one(connection, f"SELECT count(*) FROM c{chunks}") == rows // chunks * chunks, "rows")
        for name, value in times[100].items():
            extra = (value - times[1][name]) / 100
            expect(extra < 0.2, f"{name}: {extra:.3f} ms a chunk")


# entry: (g) 107
@check
def chunks_stay_near_the_target_by_themselves(home):
    with server(home, "auto_optimize = 1", "optimize_cutoff = 4", "rt_mem_limit = 256k", "binlog_flush = 2") as first:
        connection = first.connect()
        run(connection, "CREATE TABLE t (n int, g int, s string, m multi, f text) engine='columnar'")
        most = 0
        for i in range(size(40, 1000)):
            many_rows(connection, "t", i * 1000 + 1, 1000)
            most = max(most, int(status(connection, "t", "disk_chunks")))
        for _ in range(2000):  # looks, not seconds: the clock of a virtual machine may jump
            if int(status(connection, "t", "disk_chunks")) <= 4:
                break
            time.sleep(0.02)
        print(f"most chunks {most}, at the end {status(connection, 't', 'disk_chunks')}")
        expect(int(status(connection, "t", "disk_chunks")) <= 4, "more chunks than optimize_cutoff")
        expect(most <= 40, f"{most} chunks while writing")
        expect(one(connection, "SELECT count(*) FROM t") == size(40, 1000) * 1000, "rows")


# entry: (g) 108
@check
def memory_is_not_much_slower_than_disk(home):
    rows = size(100_000, 2_000_000)
    with server(home, "rt_mem_limit = 1g", "binlog_flush = 2") as first:
        connection = first.connect()
        values = ", ".join(str(i * 37 % 1000) for i in range(1000))
        for engine in ENGINES:
            run(connection, f"CREATE TABLE {engine} (mid int, g int, s string) engine='{engine}'")
            insert(connection, engine, "id, mid, g, s", (f"({i}, {i % 5000}, {i % 10}, 's{i % 10}')" for i in range(1, rows + 1)))
            statements = {"in": f"SELECT mid FROM {engine} WHERE mid IN ({values}) GROUP BY mid",
                          "group": f"SELECT s, count(*) FROM {engine} GROUP BY s",
                          "filter": f"SELECT count(*) FROM {engine} WHERE g = 3 AND mid < 100",
                          "count": f"SELECT count(*) FROM {engine}"}
            memory = {name: best_time(connection, sql) for name, sql in statements.items()}
            run(connection, f"FLUSH RAMCHUNK {engine}")
            disk = {name: best_time(connection, sql) for name, sql in statements.items()}
            print(engine + ": " + ", ".join(f"{name} {memory[name]:.1f} / {disk[name]:.1f} ms" for name in statements))
            for name in statements:
                expect(memory[name] < 3 * disk[name] + 3, f"{engine} {name}: {memory[name]:.1f} ms in memory, {disk[name]:.1f} on disk")
            expect(memory["count"] < 5 and disk["count"] < 5, "count(*) scans")


# entry: (g) 109, without MATCH
@check
def sets_and_several_groups_are_not_many_times_slower(home):
    rows = size(100_000, 5_000_000)
    with server(home, "binlog_flush = 2") as first:
        connection = first.connect()
        for engine in ENGINES:
            run(connection, f"CREATE TABLE {engine} (ts timestamp, a int, b int, c int, m multi) engine='{engine}'")
            insert(connection, engine, "id, ts, a, b, c, m", (
                f"({i}, {i}, {i % 10}, {i % 7}, {i % 3}, ({i % 20},{i % 30}))" for i in range(1, rows + 1)))
            run(connection, f"FLUSH RAMCHUNK {engine}")
            where = f"ts > {rows // 10} AND ts < {rows}"
            plain = best_time(connection, f"SELECT count(*), sum(a) FROM {engine} WHERE {where}")
            sets = best_time(connection, f"SELECT count(*), sum(a) FROM {engine} WHERE {where} AND ANY(m) IN (3, 5)")
            group = best_time(connection, f"SELECT a, b, c, count(*) FROM {engine} GROUP BY a, b, c")
            several = best_time(connection, f"SELECT a, b, c, count(*) FROM {engine} GROUP 2 BY a, b, c")
            print(f"{engine}: range {plain:.1f} ms, with ANY(m) {sets:.1f} ms; GROUP BY {group:.1f} ms, GROUP 2 BY {several:.1f} ms")
            expect(sets < 3 * plain + 3, f"{engine}: ANY(m) IN: {sets:.1f} ms, {plain:.1f} without")
            expect(several < 3 * group + 3, f"{engine}: GROUP 2 BY: {several:.1f} ms, {group:.1f} ms for GROUP BY")


# entry: (j) vectors below 128 dims or of odd lengths are wrong once on disk (what they read back as; knn() comes later)
@check
def vectors_of_every_length_read_back_equal(home):
    with server(home, "binlog_flush = 2") as first:
        connection = first.connect()
        draw = random.Random(200)
        vectors = {i: ",".join(f"{draw.randint(-10**6, 10**6) / 2**draw.randint(0, 12):.6f}" for _ in range(i % 201))
                   for i in range(1, size(402, 2010) + 1)}
        for engine, mode in (("rowwise", "mmap"), ("columnar", "mmap"), ("columnar", "file")):
            table = f"{engine}_{mode}"
            run(connection, f"CREATE TABLE {table} (v float_vector) engine='{engine}' access_columnar_attrs='{mode}'")
            insert(connection, table, "id, v", (f"({i}, ({text}))" for i, text in vectors.items()))
            in_memory = contents(connection, table)
            for row, text in zip(in_memory, vectors.values()):
                wanted = [float(x) for x in text.split(",") if x]
                got = [float(x) for x in row[1].split(",") if x]
                near = len(got) == len(wanted) and all(abs(x - y) <= abs(y) * 1e-6 + 1e-6 for x, y in zip(got, wanted))
                expect(near, f"{table} {row[0]}: {row[1][:80]}, not {text[:80]}")
            run(connection, f"FLUSH RAMCHUNK {table}")
            expect(contents(connection, table) == in_memory, f"{table}: vectors differ on disk")
            run(connection, f"REPLACE INTO {table} (id, v) VALUES (7, ({vectors[7]}))")
            run(connection, f"FLUSH RAMCHUNK {table}")
            optimize(connection, table)
            expect(contents(connection, table) == in_memory, f"{table}: vectors differ after a merge")


def anonymous_memory(target):
    return target.status_of_process("RssAnon")


# entry: (g) 104, scaled down
@check
def a_merge_needs_memory_for_buffers_not_for_the_table(home):
    rows = size(6000, 300_000)
    with server(home, "binlog_flush = 2", "rt_mem_limit = 8m") as first:
        connection = first.connect()
        draw = random.Random(104)
        run(connection, "CREATE TABLE t (f text, s string, j json, n int) engine='columnar'")
        for chunk in range(5):
            for start in range(0, rows, 1000):
                insert(connection, "t", "id, f, s, j, n", (
                    f"({chunk * rows + start + i + 1}, '{draw.randbytes(700).hex()}', '{draw.randbytes(300).hex()}', "
                    f"'{{\"k\":\"{draw.randbytes(100).hex()}\"}}', {i})" for i in range(1000)))
            run(connection, "FLUSH RAMCHUNK t")
        first.restart()
        connection = first.connect()
        bytes_of_table = sum(file.stat().st_size for file in first.files("t"))
        before = anonymous_memory(first)
        most = before
        merge = Worker(first, lambda mine, _: optimize(mine, "t"), rounds=1)
        while merge.is_alive():
            most = max(most, anonymous_memory(first))
            time.sleep(0.002)
        merge.done(stop=False)
        print(f"a merge of {bytes_of_table / 2**20:.0f} MiB took {(most - before) / 1024:.0f} MiB of memory")
        expect((most - before) * 1024 < 32 * 2**20 + bytes_of_table / 10, f"{most - before} KiB for {bytes_of_table} bytes")
        expect(one(connection, "SELECT count(*) FROM t") == 5 * rows, "rows")
