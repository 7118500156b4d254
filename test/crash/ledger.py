"""What the kill loops share: a server in a folder of its own, writers with a ledger of what was acknowledged, checks.

Every statement writes one whole batch of rows, so a half-applied statement shows as a batch of mixed versions. A batch
whose statement was in flight at the kill may be in its old or its new state; every other batch must be as the ledger
says. A statement that was answered with an error must have changed nothing; the one exception says so itself.
"""
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time

import pymysql

MAX_BATCHES = 24
LOST = (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError, ValueError, AttributeError)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def is_refusal(error):
    """An error that the server answered, not a lost connection."""
    code = error.args[0] if error.args else 0
    return isinstance(code, int) and 1000 <= code < 2000


class Server:
    """A searchd in the foreground with its data under `folder`; `settings`: more lines of the config."""

    def __init__(self, searchd, folder, settings=(), read_timeout=60):
        self.searchd, self.folder, self.read_timeout = searchd, folder, read_timeout
        self.data = os.path.join(folder, "data")
        self.port = free_port()
        self.process = None
        self.config = os.path.join(folder, "searchd.conf")
        lines = ["listen = 127.0.0.1:%d:mysql" % self.port, "data_dir = " + self.data, "log = %s/searchd.log" % folder,
                 "pid_file = %s/searchd.pid" % folder, *settings]
        with open(self.config, "w") as f:
            f.write("searchd {\n%s}\n" % "".join("  %s\n" % line for line in lines))

    def start(self, faults=""):
        command = [self.searchd, "--config", self.config, "--nodetach"]
        if faults:
            command += ["--fault-points", faults]
        with open(os.path.join(self.folder, "stderr.log"), "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return False
            try:
                self.connect().close()
                return True
            except (pymysql.MySQLError, OSError):
                time.sleep(0.005)
        raise SystemExit("server does not answer within 30 s")

    def connect(self):
        return pymysql.connect(host="127.0.0.1", port=self.port, user="kill", autocommit=True, connect_timeout=5,
                               read_timeout=self.read_timeout)

    def alive(self):
        return self.process.poll() is None

    def wait_for_end(self):
        """After a broken connection: whether the process ends."""
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """A clean stop; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            return "did not stop within 60 s"

    def check_table(self, table):
        """What --check-table complains of, or nothing."""
        run = subprocess.run([self.searchd, "--config", self.config, "--check-table", table], capture_output=True,
                             text=True, timeout=120, check=False)
        return "" if run.returncode == 0 else "--check-table %s: %s" % (table, (run.stdout + run.stderr).strip())


class Writer(threading.Thread):
    """Writes to `tables` until the connection breaks. Ledger: batch -> (table, ids, version); version None: deleted."""

    def __init__(self, server, number, seed, ledger, tables):
        super().__init__(daemon=True)
        self.server, self.number, self.ledger, self.tables = server, number, ledger, tables
        self.random = random.Random(seed)
        self.in_flight = None  # list of (batch, new entry) of the running statement
        self.acknowledged = self.refused = 0
        self.errors = []  # texts of refusals
        self.stop = False

    def new_batch(self):
        self.ledger["next"] += 1
        batch = self.ledger["next"]
        first = (self.number << 40) + batch * 1000
        return batch, (self.random.choice(self.tables), list(range(first, first + self.random.randint(1, 40))), None)

    def replace(self, table, ids, version):
        return "REPLACE INTO %s (id, w, v, s, m) VALUES %s" % (table, ",".join(
            "(%d,%d,%d,'text %d of %d',(%d,%d))" % (i, self.number, version, version, i, version, i % 1000) for i in ids))

    def update(self, table, ids, version):
        return "UPDATE %s SET v=%d WHERE id IN (%s)" % (table, version, ",".join(map(str, ids)))

    def change(self):
        """One statement and the entries it makes."""
        alive = [b for b, e in self.ledger["batches"].items() if e[2] is not None]
        kind = self.random.random()
        if len(alive) < 4 or (kind < 0.4 and len(alive) < MAX_BATCHES):
            batch, (table, ids, _) = self.new_batch()
            version = self.random.randint(1, 10**6)
            return [self.replace(table, ids, version)], [(batch, (table, ids, version))]
        batch = self.random.choice(alive)
        table, ids, _ = self.ledger["batches"][batch]
        version = self.random.randint(1, 10**6)
        delete = "DELETE FROM %s WHERE id IN (%s)" % (table, ",".join(map(str, ids)))
        if kind < 0.55:
            return [self.replace(table, ids, version)], [(batch, (table, ids, version))]
        if kind < 0.75:
            return [self.update(table, ids, version)], [(batch, (table, ids, version))]
        if kind < 0.85:
            return [delete], [(batch, (table, ids, None))]
        other, (other_table, other_ids, _) = self.new_batch()
        return (["BEGIN", self.replace(other_table, other_ids, version), delete, "COMMIT"],
                [(other, (other_table, other_ids, version)), (batch, (table, ids, None))])

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
            except LOST as error:
                if not is_refusal(error) or "next start may find" in str(error):
                    return  # in flight for good
                self.refuse(connection, error)
                continue
            except pymysql.MySQLError as error:
                self.refuse(connection, error)
                continue
            for batch, entry in entries:
                self.ledger["batches"][batch] = entry
            self.acknowledged += 1
            self.in_flight = None

    def refuse(self, connection, error):
        """An error was answered: nothing may have changed."""
        self.in_flight = None
        self.refused += 1
        self.errors.append(str(error))
        try:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
        except (pymysql.MySQLError, OSError):
            pass


def matches(found, entry):
    """`found`: id -> (table, version, whether the other columns fit)."""
    table, ids, version = entry
    if version is None:
        return all(i not in found for i in ids)
    return all(found.get(i) == (table, version, True) for i in ids)


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
    """Faults that were injected, by point."""
    counts = {}
    path = os.path.join(folder, "faults.txt")
    if os.path.exists(path):
        with open(path) as report:
            for line in report:
                name = line.split()[0] if line.split() else "?"
                counts[name] = counts.get(name, 0) + 1
    return counts


def leftovers(server):
    """Complaints about files in the data folder that no table of the running server needs, for longer than a flush in the
    background takes."""
    deadline = time.monotonic() + 10
    while True:
        complaints = unneeded_files(server)
        if not complaints or time.monotonic() > deadline:
            return complaints
        time.sleep(0.1)


def unneeded_files(server):
    complaints, folders = [], set()
    connection = server.connect()
    with connection.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        tables = [row[0] for row in cursor.fetchall()]
        for table in tables:
            cursor.execute("SELECT file FROM %s.@files" % table)
            files = [row[0] for row in cursor.fetchall()]
            chunks = {name.split(".")[1] for name in map(os.path.basename, files) if name.startswith("chunk.")}
            for folder in {os.path.dirname(name) for name in files}:
                folders.add(folder)
                complaints += unnamed_files(server, folder, chunks)
    connection.close()
    complaints += temporary_files(server)
    for name in os.listdir(server.data):
        known = any(re.fullmatch(re.escape(table) + r"\.t\d+", name) for table in tables)
        if re.fullmatch(r".*\.t\d+", name) and name not in folders and not known:
            complaints.append("folder %s belongs to no table" % name)
    for table in tables:
        mine = [name for name in os.listdir(server.data) if re.fullmatch(re.escape(table) + r"\.t\d+", name)]
        if len(mine) > 1:
            complaints.append("table %s has several folders: %s" % (table, mine))
    return complaints


def temporary_files(server):
    return ["%s/%s is temporary" % (path, name) for path, _, names in os.walk(server.data) for name in names
            if name.endswith(".tmp")]


def unnamed_files(server, folder, chunks):
    complaints, seen = [], {}
    for name in os.listdir(os.path.join(server.data, folder)):
        parts = name.split(".")
        if parts[0] == "chunk" and parts[1] not in chunks:
            complaints.append("%s/%s is of no chunk of the table" % (folder, name))
        if parts[0] == "ram" or (parts[0] == "chunk" and parts[2] in ("spm", "spu")):
            key = tuple(parts[:-1])
            if key in seen:
                complaints.append("%s has %s and %s" % (folder, seen[key], name))
            seen[key] = name
    return complaints
