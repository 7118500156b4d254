"""measure.py SEARCHD ROWS ROUNDS [KEEP [QUERIES]]: see run.sh. KEEP: a folder where the table stays, to be used again.
QUERIES: numbers of the queries to run, 1 is the first: "1,2,5"; with ROUNDS 0 the table is made and nothing is measured.

Two servers with the same files, one a mode, each in its own memory group with the same limit: the .spc is 2.8 times as
large. Every query runs in both, one after the other, in both orders, so that what else the machine does hits both alike.
Cold: the server was started anew before, its group emptied and the files' pages dropped, so that neither the kernel nor the
server has anything (checksums are checked at the first touch, in both modes). Hot: the same query ran twice just before; a
query whose columns are larger than the limit reads the disk then, too. Printed: best and median seconds a mode, the ratios mmap/file,
and at the end what each server read, its faults and the most memory its group had.
"""
import glob
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import pymysql

COLUMNS = [f"a{i} int" for i in range(4)] + [f"f{i} float" for i in range(4)] + [f"b{i} bigint" for i in range(4)]
NAMES = [c.split()[0] for c in COLUMNS]
SEED_ROWS = 250_000
TIMES_LARGER = 2.8

QUERIES = [
    ("count, int filter 50 %", "SELECT count(*) FROM t WHERE a0 > 2147483648"),
    ("sum of an int", "SELECT sum(a1) FROM t"),
    ("avg of a float", "SELECT avg(f0) FROM t"),
    ("min, max of a bigint", "SELECT min(b0), max(b0) FROM t"),
    ("1 % by int, sum of bigint", "SELECT sum(b1) FROM t WHERE a2 < 42949672"),
    ("0.1 % by int, sum of float", "SELECT sum(f1) FROM t WHERE a3 < 4294967"),
    ("group of 16, sum of int", "SELECT g, count(*), sum(a1) FROM t GROUP BY g"),
    ("float filter, group, avg", "SELECT g, avg(f2) FROM t WHERE f3 < 0.5 GROUP BY g"),
    ("top 10 by int", "SELECT a2 FROM t ORDER BY a2 DESC LIMIT 10"),
    ("sums of 4 bigints", "SELECT sum(b0), sum(b1), sum(b2), sum(b3) FROM t"),
    ("sums of 12 columns", "SELECT " + ", ".join(f"sum({n})" for n in NAMES) + " FROM t"),
]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Group:
    """A memory group, v1 or v2; without one `ok` is false."""

    def __init__(self, name, limit):
        self.ok, self.path = False, ""
        for root, v2 in (("/sys/fs/cgroup/memory", False), ("/sys/fs/cgroup", True)):
            if os.path.exists(f"{root}/memory.limit_in_bytes" if not v2 else f"{root}/cgroup.controllers"):
                self.path, self.v2 = f"{root}/{name}", v2
                break
        try:
            os.mkdir(self.path)
            self.write("memory.max" if self.v2 else "memory.limit_in_bytes", limit)
            if self.v2 and os.path.exists(f"{self.path}/memory.swap.max"):
                self.write("memory.swap.max", 0)
            self.ok = True
        except OSError as error:
            print(f"no memory group ({error}): NOT OUT OF CORE")

    def write(self, name, value):
        with open(f"{self.path}/{name}", "w") as f:
            f.write(str(value))

    def enter(self):  # in the child, before exec
        if self.ok:
            self.write("cgroup.procs", os.getpid())

    def empty(self):
        if not self.ok:
            return
        calm = 0
        while calm < 3:  # mapped pages that were used a moment ago go at a later try
            before = self.usage()
            try:
                if self.v2:
                    self.write("memory.reclaim", "64G")
                else:
                    self.write("memory.force_empty", 0)
            except OSError:
                pass
            calm = calm + 1 if before - self.usage() < 1 << 20 else 0

    def usage(self):
        with open(f"{self.path}/{'memory.current' if self.v2 else 'memory.usage_in_bytes'}") as f:
            return int(f.read())

    def peak(self):
        if not self.ok:
            return 0
        with open(f"{self.path}/{'memory.peak' if self.v2 else 'memory.max_usage_in_bytes'}") as f:
            return int(f.read())

    def remove(self):
        if self.ok:
            os.rmdir(self.path)


class Server:
    def __init__(self, searchd, folder, mode, group=None, more=""):
        self.searchd, self.folder, self.mode, self.group = searchd, folder, mode, group
        self.more = more + os.environ.get("STOA_BENCH_SETTINGS", "")
        self.totals = {}
        self.start()

    def start(self):
        self.port = free_port()
        conf = f"{self.folder}/searchd.conf"
        with open(conf, "w") as f:
            f.write(f"searchd {{\n listen = 127.0.0.1:{self.port}:mysql\n data_dir = {self.folder}/data\n"
                    f" log = {self.folder}/log\n pid_file = {self.folder}/pid\n binlog_flush = 2\n"
                    f" access_columnar_attrs = {self.mode}\n{self.more}\n}}\n")
        self.process = subprocess.Popen([self.searchd, "--config", conf, "--nodetach"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL,
                                        preexec_fn=self.group.enter if self.group else None)
        for _ in range(1500):
            try:
                self.connection = pymysql.connect(host="127.0.0.1", port=self.port, user="root", autocommit=True)
                break
            except pymysql.Error:
                time.sleep(0.02)
        else:
            sys.exit(f"{self.mode}: no server")

    def query(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def timed(self, sql):
        start = time.perf_counter()
        rows = self.query(sql)
        return time.perf_counter() - start, rows

    def start_cold(self):
        self.stop()
        if self.group:
            self.group.empty()
        for path in spc_files(self.folder):
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)
        self.start()

    def counters(self):
        with open(f"/proc/{self.process.pid}/io") as f:
            read = int(dict(line.split(": ") for line in f.read().splitlines())["read_bytes"])
        with open(f"/proc/{self.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        ticks = os.sysconf("SC_CLK_TCK")
        return {"read MB": read / 1e6, "major faults": int(fields[9]), "user s": int(fields[11]) / ticks,
                "system s": int(fields[12]) / ticks}

    def stop(self):
        for name, value in self.counters().items():
            self.totals[name] = self.totals.get(name, 0) + value
        self.connection.close()
        self.process.terminate()
        self.process.wait()


def spc_files(folder):
    return glob.glob(f"{folder}/data/**/*.spc", recursive=True)


def fill(server, rows):
    server.query(f"CREATE TABLE t ({', '.join(COLUMNS)}, g int) engine='columnar'")
    numbers = random.Random(7)
    columns = f"({', '.join(NAMES)}, g)"
    for first in range(0, min(rows, SEED_ROWS), 5000):
        tuples = []
        for _ in range(min(5000, rows - first)):
            values = [str(numbers.getrandbits(32)) for _ in range(4)]
            values += [repr(numbers.random()) for _ in range(4)]
            values += [str(numbers.getrandbits(62)) for _ in range(4)]
            tuples.append(f"({','.join(values)},{numbers.getrandbits(4)})")
        server.query(f"INSERT INTO t {columns} VALUES {','.join(tuples)}")
    have = min(rows, SEED_ROWS)
    server.query(f"CREATE TABLE seed ({', '.join(COLUMNS)}, g int) engine='columnar'")
    server.query(f"INSERT INTO seed {columns} SELECT {columns[1:-1]} FROM t")
    while have < rows:
        server.query(f"INSERT INTO t {columns} SELECT {columns[1:-1]} FROM seed")
        have += SEED_ROWS
    server.query("DROP TABLE seed")
    server.query("FLUSH RAMCHUNK t")
    server.query("OPTIMIZE TABLE t OPTION sync=1, cutoff=1")
    return have


def measure(servers, sql, rounds):
    """{(mode, 'cold'|'hot'): seconds of each round}"""
    seconds = {(s.mode, heat): [] for s in servers for heat in ("cold", "hot")}
    answers = set()
    for number in range(rounds):
        order = servers if number % 2 == 0 else servers[::-1]
        for server in order:
            server.start_cold()
            taken, rows = server.timed(sql)
            answers.add(repr(rows))
            seconds[server.mode, "cold"].append(taken)
        for server in order + order:
            server.timed(sql)
        for server in (order + order[::-1]) * 2:
            seconds[server.mode, "hot"].append(server.timed(sql)[0])
    if len(answers) != 1:
        sys.exit(f"{sql}: different answers: {answers}")
    return seconds


def report(name, seconds):
    worst = []
    for heat in ("cold", "hot"):
        mapped, file = seconds["mmap", heat], seconds["file", heat]
        best = min(mapped) / min(file)
        median = statistics.median(mapped) / statistics.median(file)
        worst.append((best, median))
        print(f"{name:28} {heat:4} mmap {min(mapped):7.3f} {statistics.median(mapped):7.3f}   file {min(file):7.3f} "
              f"{statistics.median(file):7.3f}   mmap/file {best:5.2f} {median:5.2f}", flush=True)
    return worst


def make_table(searchd, rows, work):
    os.makedirs(f"{work}/mmap")
    loader = Server(searchd, f"{work}/mmap", "mmap")
    start = time.time()
    rows = fill(loader, rows)
    loader.stop()
    shutil.copytree(f"{work}/mmap", f"{work}/file")
    subprocess.run(["sync"], check=True)
    print(f"{rows} rows made in {time.time() - start:.0f} s")


def run(searchd, rows, rounds, work, queries):
    if not os.path.exists(f"{work}/file"):
        make_table(searchd, rows, work)
    if rounds == 0:
        return
    size = sum(os.path.getsize(p) for p in spc_files(f"{work}/mmap"))
    print(f"{len(spc_files(f'{work}/mmap'))} .spc of {size / 1e6:.0f} MB")
    for path in spc_files(work):
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
    limit = int(size / TIMES_LARGER) // 4096 * 4096
    print(f"memory limit of each server {limit / 1e6:.0f} MB; {rounds} rounds; seconds: best, median")
    servers, groups = [], []
    try:
        for mode in ("mmap", "file"):
            groups.append(Group(f"stoa-bench-{os.getpid()}-{mode}", limit))
            servers.append(Server(searchd, f"{work}/{mode}", mode, groups[-1]))
        ratios = {}
        for name, sql in queries:
            ratios[name] = report(name, measure(servers, sql, rounds))
        for at, what in ((0, "best"), (1, "median")):
            every = [pair[at] for pairs in ratios.values() for pair in pairs]
            print(f"mmap/file by {what}: {min(every):.2f} to {max(every):.2f}, "
                  f"geometric mean {statistics.geometric_mean(every):.3f}")
    finally:
        for server in servers:
            server.stop()
        for server, group in zip(servers, groups):
            print(f"{server.mode}: " + ", ".join(f"{k} {v:.0f}" for k, v in server.totals.items()) +
                  f", most memory of the group {group.peak() / 1e6:.0f} MB")
        for group in groups:
            group.remove()


def main():
    searchd, rows, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    keep = sys.argv[4] if len(sys.argv) > 4 else None
    queries = [QUERIES[int(n) - 1] for n in sys.argv[5].split(",")] if len(sys.argv) > 5 else QUERIES
    work = keep or tempfile.mkdtemp(prefix="stoa-outofcore-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    try:
        run(searchd, rows, rounds, work, queries)
    finally:
        if keep is None:
            shutil.rmtree(work)


if __name__ == "__main__":
    main()
