#!/usr/bin/python3
"""Seeded kill -9 loop: writers keep a ledger of what was acknowledged; after every kill the server must have all of it.

Every statement writes one whole batch of rows, so a half-applied statement shows as a batch of mixed versions. A batch
whose statement was in flight at the kill may be in its old or its new state; every other batch must be as the ledger
says. A statement that was answered with an error must have changed nothing.

  kill_loop.py --searchd PATH [--rounds N] [--writers N] [--seed N] [--faults SPEC]

--faults arms fault points (searchd --fault-points); injected faults that were reached are counted from their report.
Last line: "N passed, N failed" (a round is one check).
"""
import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pymysql

TABLES = ("kill_a", "kill_b")
MAX_BATCHES = 24


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.port = free_port()
        self.process = None
        self.config = os.path.join(folder, "searchd.conf")
        with open(self.config, "w") as f:
            f.write("searchd {\n  listen = 127.0.0.1:%d:mysql\n  data_dir = %s/data\n  log = %s/searchd.log\n"
                    "  pid_file = %s/searchd.pid\n  binlog_max_log_size = 1M\n  binlog_flush = %d\n}\n"
                    % (self.port, folder, folder, folder, args.binlog_flush))

    def start(self, faults):
        command = [self.args.searchd, "--config", self.config, "--nodetach"]
        if faults:
            command += ["--fault-points", faults]
        log = open(os.path.join(self.folder, "stderr.log"), "ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return False
            try:
                self.connect().close()
                return True
            except pymysql.MySQLError:
                time.sleep(0.01)
        raise SystemExit("server does not answer within 30 s")

    def connect(self):
        return pymysql.connect(host="127.0.0.1", port=self.port, user="kill", autocommit=True, connect_timeout=5,
                               read_timeout=60)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Writer(threading.Thread):
    """Writes until the connection breaks. `state`: batch -> (table, ids, version); version None: deleted."""

    def __init__(self, server, number, seed, ledger):
        super().__init__(daemon=True)
        self.server, self.number, self.ledger = server, number, ledger
        self.random = random.Random(seed)
        self.in_flight = None  # list of (batch, new entry) of the running statement
        self.acknowledged = self.refused = 0
        self.stop = False

    def new_batch(self):
        self.ledger["next"] += 1
        batch = self.ledger["next"]
        first = (self.number << 40) + batch * 1000
        return batch, (self.random.choice(TABLES), list(range(first, first + self.random.randint(1, 40))), None)

    def rows(self, table, ids, version):
        return "REPLACE INTO %s (id, w, v, s, m) VALUES %s" % (table, ",".join(
            "(%d,%d,%d,'text %d of %d',(%d,%d))" % (i, self.number, version, version, i, version, i % 1000) for i in ids))

    def change(self):
        """One statement and the entries it makes."""
        alive = [b for b, e in self.ledger["batches"].items() if e[2] is not None]
        kind = self.random.random()
        if len(alive) < 4 or (kind < 0.4 and len(alive) < MAX_BATCHES):
            batch, (table, ids, _) = self.new_batch()
            version = self.random.randint(1, 10**6)
            return [self.rows(table, ids, version)], [(batch, (table, ids, version))]
        batch = self.random.choice(alive)
        table, ids, _ = self.ledger["batches"][batch]
        version = self.random.randint(1, 10**6)
        listed = ",".join(map(str, ids))
        if kind < 0.55:
            return [self.rows(table, ids, version)], [(batch, (table, ids, version))]
        if kind < 0.75:
            return (["UPDATE %s SET v=%d WHERE id IN (%s)" % (table, version, listed)], [(batch, (table, ids, version))])
        if kind < 0.85:
            return ["DELETE FROM %s WHERE id IN (%s)" % (table, listed)], [(batch, (table, ids, None))]
        other, (other_table, other_ids, _) = self.new_batch()
        return (["BEGIN", self.rows(other_table, other_ids, version), "DELETE FROM %s WHERE id IN (%s)" % (table, listed),
                 "COMMIT"], [(other, (other_table, other_ids, version)), (batch, (table, ids, None))])

    def run(self):
        try:
            connection = self.server.connect()
        except (pymysql.MySQLError, OSError):
            return
        while not self.stop:
            statements, entries = self.change()
            self.in_flight = entries
            try:
                with connection.cursor() as cursor:
                    for statement in statements:
                        cursor.execute(statement)
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError, ValueError, AttributeError) as e:
                code = e.args[0] if e.args else 0
                if isinstance(code, int) and 1000 <= code < 2000:
                    self.refuse(connection)
                    continue
                return
            except pymysql.MySQLError:
                self.refuse(connection)
                continue
            for batch, entry in entries:
                self.ledger["batches"][batch] = entry
            self.acknowledged += 1
            self.in_flight = None

    def refuse(self, connection):
        """An error was answered: nothing may have changed."""
        self.in_flight = None
        self.refused += 1
        try:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
        except (pymysql.MySQLError, OSError):
            pass


def read_back(server):
    found = {}
    connection = server.connect()
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute("SELECT id, w, v, s, m FROM %s LIMIT 1000000" % table)
            for row_id, _, version, text, values in cursor.fetchall():
                ok = text.endswith(" of %d" % row_id)
                found[int(row_id)] = (table, int(version), ok)
    connection.close()
    return found


def matches(found, entry):
    table, ids, version = entry
    if version is None:
        return all(i not in found for i in ids)
    return all(i in found and found[i][0] == table and found[i][1] == version and found[i][2] for i in ids)


def check(found, ledger, in_flight):
    """Complaints about one writer's batches; settles the state of what was in flight."""
    complaints = []
    pending = dict(in_flight or [])
    new_state = bool(pending) and all(matches(found, e) for e in pending.values())
    for batch, entry in pending.items():
        old = ledger["batches"].get(batch, (entry[0], entry[1], None))
        if new_state:
            ledger["batches"][batch] = entry
        elif matches(found, old):
            ledger["batches"][batch] = old
        else:
            complaints.append("batch %d was in flight and is neither old nor new" % batch)
    for batch, entry in ledger["batches"].items():
        if batch not in pending and not matches(found, entry):
            got = sorted({str(found.get(i)) for i in entry[1]})
            complaints.append("batch %d should be version %s in %s, found %s" % (batch, entry[2], entry[0], got[:3]))
    dead = [b for b, e in ledger["batches"].items() if e[2] is None]
    for batch in dead[:-8]:  # some stay to see that the dead stay dead
        del ledger["batches"][batch]
    return complaints


def count_faults(folder):
    path = os.path.join(folder, "faults.txt")
    counts = {}
    if os.path.exists(path):
        for line in open(path):
            name = line.split()[0] if line.split() else "?"
            counts[name] = counts.get(name, 0) + 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searchd", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", default="")
    parser.add_argument("--binlog-flush", type=int, default=1, dest="binlog_flush")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    folder = tempfile.mkdtemp(prefix="stoa-kill-")
    server = Server(args, folder)
    server.start("")
    connection = server.connect()
    for table in TABLES:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE %s (w int, v int, s string, m multi)" % table)
    connection.close()
    server.kill()
    ledgers = [{"next": 0, "batches": {}} for _ in range(args.writers)]
    passed = failed = hits = acknowledged = refused = failed_starts = 0
    for number in range(args.rounds):
        faults = args.faults and "%s,seed=%d,report=%s/faults.txt" % (args.faults, args.seed + number, folder)
        while not server.start(faults):
            failed_starts += 1  # an injected fault while starting: an error, never damage
            faults = "" if failed_starts % 3 == 0 else "%s,seed=%d,report=%s/faults.txt" % (
                args.faults, chance.randint(1, 10**6), folder)
        writers = [Writer(server, w + 1, chance.randint(0, 2**60), ledgers[w]) for w in range(args.writers)]
        for writer in writers:
            writer.start()
        time.sleep(0.05 + chance.random() * 0.15)
        flying = [w.in_flight for w in writers]
        server.kill()
        for writer in writers:
            writer.stop = True
            writer.join()
        hits += any(flying)
        acknowledged += sum(w.acknowledged for w in writers)
        refused += sum(w.refused for w in writers)
        if not server.start(""):
            print("round %d (seed %d): the server does not start again; folder %s" % (number, args.seed, folder))
            print("%d passed, %d failed" % (passed, failed + 1))
            return 1
        found = read_back(server)
        server.kill()
        complaints = []
        for writer, ledger in zip(writers, ledgers):
            complaints += ["writer %d: %s" % (writer.number, c) for c in check(found, ledger, writer.in_flight)]
        for complaint in complaints[:5]:
            print("round %d (seed %d): %s" % (number, args.seed, complaint))
        if complaints:
            failed += 1
            print("data folder kept: %s" % folder)
            break
        passed += 1
    print("%d kills, %d with statements in flight, %d statements acknowledged, %d refused, %d failed starts" %
          (passed + failed, hits, acknowledged, refused, failed_starts))
    for name, count in sorted(count_faults(folder).items()):
        print("injected fault %s: reached %d times" % (name, count))
    if not failed:
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
