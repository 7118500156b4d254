#!/usr/bin/python3
"""knn_chunks.py SEARCHD [SECONDS=8]: vectors under writers, flushes, merges and restarts.

Four writers insert, replace, update and delete rows of their own while flushes and OPTIMIZE make and merge chunks and
readers search; afterwards, and after a restart, every live row is found at distance 0 by its own vector, deleted ones
are not, and a search for all rows returns each once. bug-reports (a) 14 and 21.
"""

import random
import sys
import tempfile
import threading
import time

import server_under_test as base

DIMS = 40  # few enough to be quick, more than codes are left out for
WRITERS = 4


def vector(rng):
    return [round(rng.uniform(-1, 1), 3) for _ in range(DIMS)]


def text(values):
    return "(" + ",".join(map(str, values)) + ")"


class Writer(threading.Thread):
    """Writes ids number, number + WRITERS, …; knows what it has written."""

    def __init__(self, server, table, number, until):
        super().__init__()
        self.cursor = server.connect().cursor()
        self.table = table
        self.number = number
        self.until = until
        self.rng = random.Random(number)
        self.rows = {}
        self.failure = None

    def run(self):
        try:
            next_id = self.number + WRITERS
            while time.monotonic() < self.until:
                choice = self.rng.random()
                if choice < 0.5 or len(self.rows) < 50:
                    batch = {next_id + WRITERS * i: vector(self.rng) for i in range(40)}
                    next_id += WRITERS * 40
                    self.write("INSERT", batch)
                elif choice < 0.75:
                    ids = self.rng.sample(sorted(self.rows), 10)
                    self.write("REPLACE", {row: vector(self.rng) for row in ids})
                elif choice < 0.85:
                    row = self.rng.choice(sorted(self.rows))
                    values = vector(self.rng)
                    self.cursor.execute(f"UPDATE {self.table} SET v={text(values)} WHERE id={row}")
                    self.rows[row] = values
                else:
                    for row in self.rng.sample(sorted(self.rows), 15):
                        self.cursor.execute(f"DELETE FROM {self.table} WHERE id={row}")
                        del self.rows[row]
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error

    def write(self, verb, batch):
        rows = ",".join(f"({row},{row % 10},{text(values)})" for row, values in batch.items())
        self.cursor.execute(f"{verb} INTO {self.table} (id,g,v) VALUES {rows}")
        self.rows.update(batch)


def run_until(until, failures, step):
    try:
        while time.monotonic() < until:
            step()
    except Exception as error:  # pylint: disable=broad-except
        failures.append(error)


def check_rows(server, table, rows, rng):
    cursor = server.connect().cursor()
    cursor.execute(f"SELECT count(*) FROM {table}")
    base.expect(cursor.fetchone()[0] == len(rows), "count(*) is not the number of rows")
    sample = rng.sample(sorted(rows), min(2000, len(rows)))
    # Vectors without structure are the hardest for a graph: of 1,000 a walk of the usual width misses up to three, also
    # in a graph that is built anew. A wide one finds every row that no index has in a wrong place.
    for options, ids, most in (("", sample, len(sample) // 200), (", {ef=2000}", sample[:400], 0)):
        lost = 0
        for row in ids:
            cursor.execute(f"SELECT id, knn_dist() FROM {table} WHERE knn(v, 5, {text(rows[row])}{options})")
            lost += not any(found == row and abs(distance) < 1e-5 for found, distance in cursor.fetchall())
        base.expect(lost <= most, f"{lost} of {len(ids)} rows are not found by their own vector{options}")
    cursor.execute(f"SELECT id FROM {table} WHERE knn(v, {len(rows) + 1000}, {text(rows[sample[0]])}) "
                   f"LIMIT {len(rows) + 1000} OPTION max_matches={len(rows) + 1000}")
    found = [row for (row,) in cursor.fetchall()]
    base.expect(sorted(found) == sorted(rows), "a search for all rows does not return each live row once")


def churn(searchd, seconds, engine, quantization):
    with tempfile.TemporaryDirectory() as home:
        with base.Server(searchd, home, "rt_mem_limit = 4m") as server:
            cursor = server.connect().cursor()
            cursor.execute(f"CREATE TABLE t (g int, v float_vector knn_type='hnsw' knn_dims='{DIMS}' "
                           f"hnsw_similarity='l2' quantization='{quantization}') engine='{engine}'")
            until = time.monotonic() + seconds
            writers = [Writer(server, "t", number, until) for number in range(WRITERS)]
            failures = []
            rng = random.Random(99)
            maintenance = server.connect().cursor()
            reader = server.connect().cursor()
            statements = ["FLUSH RAMCHUNK t", "FLUSH RAMCHUNK t", "OPTIMIZE TABLE t OPTION sync=1, cutoff=1"]
            threads = writers + [
                threading.Thread(target=run_until,
                                 args=(until, failures, lambda: maintenance.execute(rng.choice(statements)))),
                threading.Thread(target=run_until, args=(until, failures, lambda: reader.execute(
                    f"SELECT id, knn_dist() FROM t WHERE knn(v, 10, {text(vector(rng))}, {{ef=100}}) AND g < 5")))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            failures += [writer.failure for writer in writers if writer.failure]
            base.expect(not failures, f"failed: {failures}")
            rows = {row: values for writer in writers for row, values in writer.rows.items()}
            check_rows(server, "t", rows, rng)
            server.stop()
            server.start()
            check_rows(server, "t", rows, rng)
            server.connect().cursor().execute("OPTIMIZE TABLE t OPTION sync=1, cutoff=1")
            check_rows(server, "t", rows, rng)
            check_eviction(server.connect().cursor(), text(vector(rng)))


def check_eviction(cursor, query):
    """Cold vectors: the same answer, and SHOW META tells of the reads (where the file system lets pages go)."""
    cursor.execute("DEBUG EVICT VECTORS t")
    left = [int(row[2]) for row in cursor.fetchall()]
    search = f"SELECT id, knn_dist() FROM t WHERE knn(v, 20, {query}, {{oversampling=5}})"
    cursor.execute(search)
    cold = cursor.fetchall()
    cursor.execute("SHOW META LIKE 'knn_bytes_read'")
    read = int(cursor.fetchall()[0][1])
    base.expect(left and (read > 0 or any(left)), f"pages left {left}, bytes read {read}")
    cursor.execute(search)
    base.expect(cursor.fetchall() == cold, "cold and warm answers differ")


def main():
    searchd = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 8
    passed = failed = 0
    for engine, quantization in (("columnar", "8bit"), ("rowwise", "none"), ("columnar", "1bit")):
        try:
            churn(searchd, seconds, engine, quantization)
            passed += 1
        except Exception as error:  # pylint: disable=broad-except
            print(f"FAIL {engine} {quantization}: {error}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
