#!/usr/bin/python3
"""Everything that a table of disk chunks can be asked, at the same time: writers with a ledger, FLUSH, OPTIMIZE, ALTER of
columns, settings and the access mode, FREEZE, BACKUP and IMPORT, tables that come and go, readers of every kind, KILL and
clients that go away. For a server built with a sanitizer above all.

  chunk_mix.py --searchd PATH [--seconds N] [--writers N] [--readers N] [--seed N]

No answer may be an error but those that the statement itself explains; watched rows are always there, once, in one version.
In the end every row is as the ledger says, before and after a restart, the server stops with 0 and --check-table finds
nothing. Last line: "N passed, N failed".
"""
import argparse
import glob
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

import pymysql
from pymysql.constants import COMMAND

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crash"))
from chunk_kill_loop import CREATE, TABLES, WATCHED, ChunkWriter, Reader, Replacer, make_tables, read_back, search_all, vector_text  # noqa: E402
from ledger import Server, check, leftovers  # noqa: E402

PATIENCE = 300  # seconds: merges wait for those that clients asked for who went away, which is long under a sanitizer
SECOND_PLACES = ("mix_made", "mix_copy", "mix_renamed")
GONE = ("no such table", "is none", "requires an existing", "not exist", "unknown local table", "already exists", "is not found",
        "was dropped", "unknown table")
MAINTENANCE = (
    "FLUSH RAMCHUNK {t}", "FLUSH RAMCHUNK {t}", "FLUSH TABLE {t}", "OPTIMIZE TABLE {t}", "OPTIMIZE TABLE {t} OPTION cutoff=1",
    "OPTIMIZE TABLE {t} OPTION sync=1, cutoff=1", "ALTER TABLE {t} access_columnar_attrs='file'",
    "ALTER TABLE {t} access_columnar_attrs='mmap'", "ALTER TABLE {t} rt_mem_limit='256K'", "ALTER TABLE {t} rt_mem_limit='1M'",
    "ALTER TABLE {t} REBUILD KNN", "ALTER TABLE {t} ADD COLUMN x int", "ALTER TABLE {t} DROP COLUMN x", "ALTER TABLE {t} MODIFY COLUMN x bigint",
    "FREEZE {t}; UNFREEZE {t}", "SET GLOBAL auto_optimize = 0", "SET GLOBAL auto_optimize = 1",
    "SET GLOBAL parallel_chunk_merges = 1", "SET GLOBAL parallel_chunk_merges = 3")
# What of MAINTENANCE may be refused, and how: another connection was faster.
EXPECTED = (("COLUMN x", "attribute"), ("", "is frozen"))
QUERIES = (
    "SELECT * FROM {t} WHERE id = {id}",
    "SELECT id, v, m, s FROM {t} WHERE id BETWEEN {id} AND {id} + 30 ORDER BY id ASC LIMIT 100",
    "SELECT w, count(*), count(distinct v), sum(b), min(s), max(v) FROM {t} GROUP BY w ORDER BY w ASC",
    "SELECT id, body, length(m) FROM {t} WHERE v > {v} AND ANY(m) = 7 ORDER BY b DESC, id ASC LIMIT 50",
    "SELECT id, v FROM {t} WHERE s LIKE '%{id}%' OR b / 1000000 < {id} ORDER BY s ASC LIMIT 20",
    "SELECT v % 7 AS k, avg(b), count(*) FROM {t} WHERE w IN (0, 1) GROUP BY k ORDER BY count(*) DESC, k ASC LIMIT 3; SHOW META",
    "SELECT count(*) FROM (SELECT id FROM {t} ORDER BY v ASC LIMIT 200)",
    "SELECT id FROM {t} LIMIT 5 FACET w FACET v % 3",
    "SELECT id, knn_dist(), e FROM {t} WHERE knn(e, 20, {id}) LIMIT 20", "SELECT id FROM {t} WHERE knn(e, 5, {e}) AND w = 1",
    "SELECT id, knn_dist() FROM {t} WHERE knn(e, 9, {e}, {{fullscan=1}}); SHOW META",
    "SELECT id, knn_dist() FROM {t} WHERE knn(e, 9, {e}, {{rescore=0, prefilter=0, ef=300}}) AND v > {v}",
    "SELECT w, count(*) FROM {t} WHERE knn(e, 300, {e}) GROUP BY w ORDER BY w ASC",
    "SELECT file FROM {t}.@files", "SHOW TABLE {t} STATUS", "SHOW TABLE {t} SETTINGS", "SHOW CREATE TABLE {t}", "DESC {t}",
    "SHOW TABLES", "SHOW THREADS", "SHOW STATUS", "SHOW LOCKS", "SHOW META", "SHOW GLOBAL VARIABLES")


class Client(threading.Thread):
    """Calls work(connection) until stopped; errors are complaints unless `expected` says otherwise."""

    def __init__(self, server, seed):
        super().__init__(daemon=True)
        self.server, self.random = server, random.Random(seed)
        self.stop, self.done, self.refused, self.complaints = False, 0, 0, []

    def run(self):
        connection = self.server.connect()
        while not self.stop and not self.complaints:
            try:
                self.work(connection)
                self.done += 1
            except (pymysql.MySQLError, OSError) as error:
                self.complaints.append("%s: %s" % (type(self).__name__, error))

    def ask(self, connection, statement, expected=()):
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                rows = cursor.fetchall()
                while cursor.nextset():
                    rows = cursor.fetchall()
                return rows
        except pymysql.MySQLError as error:
            if any(part in statement and text in str(error).lower() for part, text in expected):
                self.refused += 1
                return ()
            self.complaints.append("%s: %s" % (statement[:100], error))
            return ()


class Keeper(Client):
    """Maintenance of the two tables."""

    def work(self, connection):
        for statement in self.random.choice(MAINTENANCE).format(t=self.random.choice(TABLES)).split("; "):
            self.ask(connection, statement, EXPECTED)
        time.sleep(self.random.random() * 0.02)


class Churner(Client):
    """Tables that come and go: created, filled, flushed, truncated, renamed, backed up, imported, dropped."""

    def work(self, connection):
        table, other = self.random.sample(SECOND_PLACES, 2)
        filling = ChunkWriter(self.server, 9, 0, None, TABLES).replace(table, range(1, self.random.randint(2, 400)), 3)
        statement = self.random.choice([
            CREATE % (table, "rowwise"), CREATE % (table, "columnar"), filling, filling, "FLUSH RAMCHUNK " + table,
            "UPDATE %s SET v=4 WHERE v < 9" % table, "DELETE FROM %s WHERE id < 90" % table, "TRUNCATE TABLE " + table,
            "OPTIMIZE TABLE %s" % table, "ALTER TABLE %s RENAME %s" % (table, other), "DROP TABLE " + table,
            "SELECT count(*), sum(v) FROM " + table, "BACKUP", "IMPORT"])
        if statement == "BACKUP":
            return self.backup(connection)
        if statement == "IMPORT":
            found = glob.glob("%s/backups/%s/*/%s.t*" % (self.server.folder, self.ident, self.random.choice(TABLES)))
            if not found:
                return None
            statement = "IMPORT TABLE %s FROM '%s'" % (table, found[0])
        return self.ask(connection, statement, [("", text) for text in GONE])

    def backup(self, connection):
        folder = "%s/backups/%s" % (self.server.folder, self.ident)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.ask(connection, "BACKUP TABLES %s TO %s" % (", ".join(TABLES), folder), EXPECTED)


class Asker(Client):
    """Queries of every kind, a transaction now and then."""

    def work(self, connection):
        query = self.random.choice(QUERIES).format(t=self.random.choice(TABLES), id=self.random.randint(1, WATCHED),
                                                   v=self.random.randint(1, 10**6),
                                                   e=vector_text(0, self.random.randint(1, 10**6)))
        rows = self.ask(connection, query)
        if query.startswith("SELECT * FROM") and len(rows) != 1:
            self.complaints.append("%s: %s" % (query, rows))


class Leaver(Client):
    """A connection that is killed, or goes away, while the server works for it."""

    # Few flushes and merges: those that nobody waits for any more queue up behind each other.
    STATEMENTS = (*["SELECT w, count(distinct s), sum(b) FROM {t} GROUP BY w ORDER BY w ASC"] * 58, "FLUSH RAMCHUNK {t}",
                  "OPTIMIZE TABLE {t} OPTION sync=1, cutoff=1")

    def work(self, connection):
        leaving = self.server.connect()
        try:
            statement = self.random.choice(self.STATEMENTS).format(t=self.random.choice(TABLES))
            leaving._execute_command(COMMAND.COM_QUERY, statement)  # the answer is never read
            time.sleep(self.random.random() * 0.003)
            if self.random.random() < 0.5:
                kill = self.random.choice(["KILL QUERY %d", "KILL %d"])
                self.ask(connection, kill % leaving.thread_id())
        finally:
            leaving._force_close()


def finish(threads):
    for thread in threads:
        thread.stop = True
    for thread in threads:
        thread.join(PATIENCE)
    return ["%s hangs" % type(thread).__name__ for thread in threads if thread.is_alive()]


class Mix:
    def __init__(self, args):
        self.args = args
        self.folder = tempfile.mkdtemp(prefix="stoa-mix-")
        self.server = Server(args.searchd, self.folder, ("binlog_max_log_size = 4M", "threads = 6", "parallel_chunk_merges = 2",
                                                         "rt_flush_period = 2"), PATIENCE)
        self.ledgers = [{"next": 0, "batches": {}} for _ in range(args.writers + 1)]

    def prepare(self):
        if not self.server.start():
            raise SystemExit("the server does not start")
        make_tables(self.server, self.ledgers[0])

    def run(self):
        """Complaints of the time when everything happens at once."""
        chance = random.Random(self.args.seed)
        seeds = iter(lambda: chance.randint(0, 2**60), None)
        writers = [Replacer(self.server, 0, next(seeds), self.ledgers[0], TABLES)]
        writers += [ChunkWriter(self.server, w, next(seeds), self.ledgers[w], TABLES) for w in range(1, self.args.writers + 1)]
        watchers = [Reader(self.server, next(seeds), False) for _ in range(2)]
        kinds = [Keeper, Keeper, Churner, Churner, Leaver] + [Asker] * self.args.readers
        clients = [kind(self.server, next(seeds)) for kind in kinds]
        threads = writers + watchers + clients
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + self.args.seconds
        while time.monotonic() < deadline and self.server.alive() and not any(c.complaints for c in watchers + clients):
            time.sleep(0.1)
        complaints = [] if self.server.alive() else ["the server has ended by itself"]
        complaints += finish(threads)
        complaints += [text for client in watchers + clients for text in client.complaints]
        complaints += ["writer: " + text for writer in writers for text in writer.errors]
        complaints += ["writer %d lost its connection" % w.number for w in writers if w.in_flight]
        done = {kind.__name__: sum(c.done for c in clients if isinstance(c, kind)) for kind in dict.fromkeys(kinds)}
        print("%d statements acknowledged, %d watches, %s, %d refused as expected" %
              (sum(w.acknowledged for w in writers), sum(r.reads for r in watchers),
               ", ".join("%s %d" % item for item in done.items()), sum(c.refused for c in clients)))
        return complaints

    def compare(self, when):
        found, complaints = read_back(self.server)
        for number, ledger in enumerate(self.ledgers):
            complaints += ["writer %d: %s" % (number, c) for c in check(found, ledger, None)]
        complaints += search_all(self.server, random.Random(self.args.seed))
        return ["%s: %s" % (when, c) for c in complaints]

    def close(self, when):
        code = self.server.stop()
        complaints = ["%s: exit code %s" % (when, code)] if code != 0 else []
        return complaints + [c for c in map(self.server.check_table, TABLES) if c]

    def steps(self):
        yield self.run
        yield lambda: self.compare("running")
        yield lambda: self.close("the first stop")
        yield lambda: [] if self.server.start() else ["the server does not start again"]
        yield lambda: self.compare("restarted") + leftovers(self.server)
        yield lambda: self.close("the second stop")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searchd", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--readers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    mix = Mix(parser.parse_args())
    mix.prepare()
    passed = failed = 0
    for step in mix.steps():
        complaints = step()
        for complaint in complaints[:10]:
            print(complaint[:1000])
        passed, failed = passed + (not complaints), failed + bool(complaints)
        if complaints and not mix.server.alive():
            break
    if mix.server.alive():
        mix.server.kill()
    if failed:
        print("data folder kept: %s" % mix.folder)
    else:
        shutil.rmtree(mix.folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
