#!/usr/bin/python3
"""Seeded kill -9 loop over disk chunks: writers on a row-wise and a columnar table whose RAM part is so small that
flushes and merges run all the time, a maintainer that issues FLUSH, OPTIMIZE and ALTER, readers that watch counts.

The tables have vectors, and enough rows that their chunks have codes of them: after a restart rows are found by their own
vectors, all when every vector is compared, nearly all by the codes, and all distances are exact.

The ledger and its rules are in ledger.py. Besides: rows of batch 0 are replaced all the time, and no reader may ever see
one of them missing, twice, or two versions at once; ids are unique; a restart leaves no file that no table needs; every
fourth round the restarted server flushes and merges and must still have everything, and --check-table finds no fault.

  chunk_kill_loop.py --searchd PATH [--rounds N] [--writers N] [--seed N] [--faults SPEC]

Last line: "N passed, N failed" (a round is one check).
"""
import argparse
import hashlib
import random
import shutil
import sys
import tempfile
import threading
import time

import pymysql

from ledger import LOST, Server, Writer, check, count_faults, is_refusal, leftovers

TABLES = ("loop_rows", "loop_columns")
OTHER = "loop_other"  # made, filled, truncated and dropped all the time
WATCHED = 50  # ids 1 … WATCHED of both tables, always there
PAD = "some words that fill the row so that the memory of the table is used up soon " * 3
CREATE = ("CREATE TABLE %s (w int, v int, b bigint, s string, m multi, body text, e float_vector knn_type='hnsw' knn_dims='40' "
          "hnsw_similarity='l2' quantization='8bit') engine='%s' rt_mem_limit='256K' optimize_cutoff='2'")
DIMS = 40
QUIET_ROWS = 1100  # that nobody changes: codes begin at 1,024 vectors
QUIET_BATCH = 1 << 20
SEARCHES = 150  # a table, after each restart
NEAREST = 64  # more than the rows of a batch, which are equal after an UPDATE


def vector(row, version):
    """REPLACE gives each row its own; UPDATE gives all of them that of row 0."""
    return [byte - 128 for byte in hashlib.sha512(b"%d of %d" % (version, row)).digest()[:DIMS]]


def vector_text(row, version):
    return "(%s)" % ",".join(map(str, vector(row, version)))


class ChunkWriter(Writer):
    def replace(self, table, ids, version):
        return "REPLACE INTO %s (id, w, v, b, s, m, body, e) VALUES %s" % (table, ",".join(
            "(%d,%d,%d,%d,'text %d of %d',(%d,7),'%s%d',%s)" % (i, self.number, version, version * 10**6, version, i, version,
                                                               PAD, i, vector_text(i, version)) for i in ids))

    def update(self, table, ids, version):
        return "UPDATE %s SET v=%d, b=%d, m=(%d,7), e=%s WHERE id IN (%s)" % (
            table, version, version * 10**6, version, vector_text(0, version), ",".join(map(str, ids)))


class Replacer(ChunkWriter):
    """Replaces the watched rows of a table, or changes them in place."""

    def change(self):
        batch = self.random.randint(0, len(self.tables) - 1)
        table, ids = self.tables[batch], list(range(1, WATCHED + 1))
        version = self.random.randint(1, 10**6)
        # Ids of the two tables are the same: the ledger knows them by table.
        statement = self.replace if self.random.random() < 0.8 else self.update
        return [statement(table, ids, version)], [(batch, (table, [i + (batch << 60) for i in ids], version))]


class Reader(threading.Thread):
    """Complains when a statement sees a watched row missing, twice, or in two versions."""

    def __init__(self, server, seed, with_faults):
        super().__init__(daemon=True)
        self.server, self.random, self.with_faults = server, random.Random(seed), with_faults
        self.complaints, self.reads, self.stop = [], 0, False

    def run(self):
        try:
            connection = self.server.connect()
        except (pymysql.MySQLError, OSError):
            return
        while not self.stop and not self.complaints:
            try:
                self.read(connection)
            except LOST + (pymysql.MySQLError,) as error:
                if isinstance(error, LOST) and not is_refusal(error):
                    return
                if not self.with_faults or not is_injected(str(error)):
                    self.complaints.append("a reader was answered %s" % error)

    def read(self, connection):
        table = self.random.choice(TABLES)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*), count(distinct id), min(v), max(v), min(b), max(b) FROM %s WHERE id <= %d" %
                           (table, WATCHED))
            row = [int(value) for value in cursor.fetchone()]
        self.reads += 1
        if row[:2] != [WATCHED, WATCHED] or row[2] != row[3] or row[4] != row[5] or row[4] != row[2] * 10**6:
            self.complaints.append("a reader saw %s in %s" % (row, table))


class Maintainer(threading.Thread):
    """FLUSH, OPTIMIZE, ALTER until the connection breaks; none of it changes a row."""

    def __init__(self, server, seed, with_faults):
        super().__init__(daemon=True)
        self.server, self.random, self.with_faults = server, random.Random(seed), with_faults
        self.in_flight, self.done, self.refused, self.complaints, self.stop = None, {}, 0, [], False

    def statement(self):
        table = self.random.choice(TABLES)
        if self.random.random() < 0.4:
            filling = ChunkWriter(self.server, 9, 0, None, TABLES).replace(OTHER, range(1, 400), 3)
            return self.random.choice([
                "DROP TABLE IF EXISTS " + OTHER, "TRUNCATE TABLE " + OTHER, "FLUSH RAMCHUNK " + OTHER, filling, filling,
                CREATE.replace("TABLE", "TABLE IF NOT EXISTS", 1) % (OTHER, self.random.choice(["rowwise", "columnar"]))])
        return self.random.choice([
            "FLUSH RAMCHUNK %s", "FLUSH RAMCHUNK %s", "OPTIMIZE TABLE %s OPTION sync=1, cutoff=1", "OPTIMIZE TABLE %s",
            "FLUSH TABLE %s", "ALTER TABLE %s ADD COLUMN x int", "ALTER TABLE %s DROP COLUMN x",
            "ALTER TABLE %s access_columnar_attrs='file'", "ALTER TABLE %s access_columnar_attrs='mmap'",
            "ALTER TABLE %s rt_mem_limit='256K'", "ALTER TABLE %s REBUILD KNN"]) % table

    def run(self):
        try:
            connection = self.server.connect()
        except (pymysql.MySQLError, OSError):
            return
        while not self.stop:
            self.in_flight = statement = self.statement()
            try:
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                kind = " ".join(word for word in statement.split()[:2])
                self.done[kind] = self.done.get(kind, 0) + 1
            except LOST as error:
                if not is_refusal(error):
                    return
                self.refuse(statement, error)
            except pymysql.MySQLError as error:
                self.refuse(statement, error)
            self.in_flight = None
            time.sleep(self.random.random() * 0.02)

    def refuse(self, statement, error):
        self.refused += 1
        is_gone = any(part in str(error) for part in ("no such table", "is none", "requires an existing", "not exist"))
        expected = "COLUMN x" in statement or (OTHER in statement and is_gone) or (self.with_faults and is_injected(str(error)))
        if not expected:
            self.complaints.append("%s: %s" % (statement, error))


def is_injected(text):
    return any(part in text for part in ("fault point", "Input/output error", "No space left on device",
                                         "damaged and not available"))


def read_back(server):
    """Rows by id (watched ones apart by table) and complaints about the tables as a whole."""
    found, complaints = {}, []
    connection = server.connect()
    with connection.cursor() as cursor:
        for number, table in enumerate(TABLES):
            cursor.execute("SELECT count(*), count(distinct id) FROM %s" % table)
            counts = [int(value) for value in cursor.fetchone()]
            cursor.execute("SELECT id, v, b, s, m, body, e FROM %s LIMIT 1000000" % table)
            rows = cursor.fetchall()
            ids = {int(row[0]) for row in rows}
            if counts != [len(rows), len(rows)] or len(ids) != len(rows):
                complaints.append("%s: %d rows, %d ids, count(*) and distinct ids say %s" % (table, len(rows), len(ids),
                                                                                           counts))
            for row_id, version, big, text, values, body, values_of_e in rows:
                fits = (text.endswith(" of %s" % row_id) and int(big) == int(version) * 10**6 and body == PAD + str(row_id)
                        and str(values) == ",".join(map(str, sorted({7, int(version)})))
                        and as_vector(values_of_e) in (vector(int(row_id), int(version)), vector(0, int(version))))
                key = int(row_id) + (number << 60 if int(row_id) <= WATCHED else 0)
                found[key] = (table, int(version), fits)
    connection.close()
    return found, complaints


def as_vector(text):
    return [float(value) for value in text.split(",")]


def search_all(server, chance):
    """Complaints about searches for some rows of each table by their own vectors."""
    complaints = []
    connection = server.connect()
    for table in TABLES:
        with connection.cursor() as cursor:
            cursor.execute("SELECT id, e FROM %s LIMIT 1000000" % table)
            vectors = {int(row): as_vector(text) for row, text in cursor.fetchall()}
            sample = chance.sample(sorted(vectors), min(SEARCHES, len(vectors)))
            lost = sum(not find(cursor, table, vectors, row, ", {fullscan=1}", complaints) for row in sample)
            missed = sum(not find(cursor, table, vectors, row, "", complaints) for row in sample)
        complaints += ["%s: %d rows are not found by their vectors, all compared" % (table, lost)] if lost else []
        if missed > len(sample) // 100:
            complaints.append("%s: %d of %d rows are not found by their vectors" % (table, missed, len(sample)))
    connection.close()
    return complaints


def find(cursor, table, vectors, row, options, complaints):
    """Whether a row is found by its own vector; complains of wrong distances and of too few rows."""
    text = ",".join("%d" % value for value in vectors[row])
    cursor.execute("SELECT id, knn_dist() FROM %s WHERE knn(e, %d, (%s)%s) LIMIT %d" % (table, NEAREST, text, options, NEAREST))
    hits = [(int(found), float(distance)) for found, distance in cursor.fetchall()]
    if len(hits) != min(NEAREST, len(vectors)) or hits != sorted(hits, key=lambda hit: (hit[1], hit[0])):
        complaints.append("%s: %d rows in the order %s" % (table, len(hits), hits))
    for found, distance in hits:
        exact = found in vectors and sum((a - b) ** 2 for a, b in zip(vectors[found], vectors[row]))
        if found not in vectors or distance != exact:
            complaints.append("%s: row %d at distance %r, not %r, from row %d" % (table, found, distance, exact, row))
    return any(hit == (row, 0) for hit in hits)


def chunk_numbers(server, table):
    connection = server.connect()
    with connection.cursor() as cursor:
        cursor.execute("SELECT file FROM %s.@files WHERE file LIKE '%%.sph'" % table)
        numbers = [int(row[0].split(".")[-2]) for row in cursor.fetchall()]
    connection.close()
    return numbers


def make_tables(server, ledger):
    """TABLES with the watched rows, which `ledger` (of writer 0) then knows."""
    first = Replacer(server, 0, 0, None, TABLES)
    connection = server.connect()
    with connection.cursor() as cursor:
        for number, (table, engine) in enumerate(zip(TABLES, ("rowwise", "columnar"))):
            cursor.execute(CREATE % (table, engine))
            ids = list(range(1, WATCHED + 1))
            cursor.execute(first.replace(table, ids, 5))
            ledger["batches"][number] = (table, [i + (number << 60) for i in ids], 5)
            quiet = [QUIET_BATCH * (number + 1) + i for i in range(QUIET_ROWS)]
            for start in range(0, QUIET_ROWS, 100):
                cursor.execute(first.replace(table, quiet[start:start + 100], 6))
            ledger["batches"][QUIET_BATCH + number] = (table, quiet, 6)
            cursor.execute("FLUSH RAMCHUNK " + table)
            cursor.execute("OPTIMIZE TABLE %s OPTION sync=1, cutoff=1" % table)
    connection.close()


class Loop:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.chance = random.Random(args.seed)
        # Two merges at a time; little is kept, so that merges start soon.
        self.server = Server(args.searchd, folder, ("binlog_max_log_size = 1M", "parallel_chunk_merges = 2"))
        self.ledgers = [{"next": 0, "batches": {}} for _ in range(args.writers + 1)]
        self.kills = self.hits = self.jobs = self.acknowledged = self.refused = self.reads = self.failed_starts = 0
        self.maintenance = {}
        self.chunks = {}  # by table: the highest number of a chunk

    def prepare(self):
        self.server.start()
        make_tables(self.server, self.ledgers[0])
        self.server.kill()

    def start(self, number):
        spec = "%s,seed=%d,report=%s/faults.txt"
        faults = self.args.faults and spec % (self.args.faults, self.args.seed + number, self.folder)
        while not self.server.start(faults):
            self.failed_starts += 1  # an injected fault while starting: an error, never damage
            faults = "" if self.failed_starts % 3 == 0 else spec % (self.args.faults, self.chance.randint(1, 10**6),
                                                                   self.folder)

    def run_threads(self):
        """Lets everything run for a while, kills, and returns the writers and what they complain of."""
        server, chance = self.server, self.chance
        writers = [Replacer(server, 0, chance.randint(0, 2**60), self.ledgers[0], TABLES)]
        writers += [ChunkWriter(server, w, chance.randint(0, 2**60), self.ledgers[w], TABLES)
                    for w in range(1, self.args.writers + 1)]
        maintainer = Maintainer(server, chance.randint(0, 2**60), bool(self.args.faults))
        readers = [Reader(server, chance.randint(0, 2**60), bool(self.args.faults)) for _ in range(2)]
        threads = writers + [maintainer] + readers
        for thread in threads:
            thread.start()
        time.sleep(0.1 + chance.random() * 0.5)
        flying = [w.in_flight for w in writers] + [maintainer.in_flight]
        died = not server.alive()
        server.kill()
        for thread in threads:
            thread.stop = True
            thread.join()
        self.kills += 1
        self.hits += any(flying)
        self.jobs += bool(maintainer.in_flight)
        self.acknowledged += sum(w.acknowledged for w in writers)
        self.refused += sum(w.refused for w in writers)
        self.reads += sum(r.reads for r in readers)
        for kind, count in maintainer.done.items():
            self.maintenance[kind] = self.maintenance.get(kind, 0) + count
        complaints = maintainer.complaints + [c for r in readers for c in r.complaints]
        complaints += [e for w in writers for e in w.errors if not (self.args.faults and is_injected(e))]
        return writers, complaints + (["the server died by itself"] if died else [])

    def verify(self, writers):
        found, complaints = read_back(self.server)
        for writer, ledger in zip(writers, self.ledgers):
            complaints += ["writer %d: %s" % (writer.number, c) for c in check(found, ledger, writer.in_flight)]
            writer.in_flight = None
        return complaints + search_all(self.server, self.chance)

    def verify_after_merge(self, writers):
        connection = self.server.connect()
        with connection.cursor() as cursor:
            for table in TABLES:
                cursor.execute("FLUSH RAMCHUNK %s" % table)
                cursor.execute("OPTIMIZE TABLE %s OPTION sync=1, cutoff=1" % table)
        connection.close()
        complaints = ["after a merge: " + c for c in self.verify(writers)]
        for table in TABLES:
            chunks = chunk_numbers(self.server, table)
            complaints += ["chunks %s of %s after a merge to one" % (chunks, table)] if len(chunks) != 1 else []
            self.chunks[table] = max(chunks)
        return complaints + leftovers(self.server)

    def round(self, number):
        self.start(number)
        writers, complaints = self.run_threads()
        if number % 4 == 0:
            complaints += [c for c in map(self.server.check_table, TABLES) if c]
        if not self.server.start():
            return complaints + ["the server does not start again"]
        complaints += leftovers(self.server) + self.verify(writers)
        if number % 4 == 0 and not complaints:
            complaints += self.verify_after_merge(writers)
        if number % 8 == 0 and not complaints:
            code = self.server.stop()
            complaints += ["clean stop: exit code %s" % code] if code != 0 else []
            complaints += [c for c in map(self.server.check_table, TABLES) if c]
        else:
            self.server.kill()
        return complaints

    def report(self):
        print("%d kills, %d with statements in flight (%.1f %%), %d of them with FLUSH, OPTIMIZE or ALTER in flight; "
              "%d statements acknowledged, %d refused, %d reads, %d failed starts" %
              (self.kills, self.hits, 100 * self.hits / max(1, self.kills), self.jobs, self.acknowledged, self.refused,
               self.reads, self.failed_starts))
        print("maintenance done: " + ", ".join("%s %d" % item for item in sorted(self.maintenance.items())))
        print("chunks made by flushes and merges: at least %d" % sum(self.chunks.values()))
        for name, count in sorted(count_faults(self.folder).items()):
            print("injected fault %s: reached %d times" % (name, count))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searchd", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", default="")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="stoa-chunk-kill-")
    loop = Loop(args, folder)
    loop.prepare()
    passed = failed = 0
    for number in range(args.rounds):
        complaints = loop.round(number)
        for complaint in complaints[:5]:
            print("round %d (seed %d): %s" % (number, args.seed, complaint))
        if complaints:
            failed += 1
            print("data folder kept: %s" % folder)
            if loop.server.alive():
                loop.server.kill()
            break
        passed += 1
    loop.report()
    if loop.kills and loop.hits < 0.95 * loop.kills:
        print("fewer than 95 % of the kills hit something in flight")
        failed += 1
    if not failed:
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
