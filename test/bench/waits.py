#!/usr/bin/env python3
"""waits.py SEARCHD SHARED_DIR [ROWS=400000]: how long queries wait while a table is loaded, flushed and merged.

Loads taxi-like rows (columnar, batches of 1,000) with a small RAM chunk, so that flushes and merges run all the time, while
one connection reads single documents and one scans. Prints p50, p99 and maximum of each kind of statement as its client saw
it, those of the same readers on the idle table, and the counters storage_wait_* of SHOW STATUS. Needs PyMySQL and g++.
"""
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pymysql


def start(searchd, work):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open(f"{work}/searchd.conf", "w") as f:
        f.write(f"searchd {{\n listen = 127.0.0.1:{port}:mysql\n data_dir = {work}/data\n log = {work}/log\n"
                f" pid_file = {work}/pid\n binlog_flush = 1\n rt_mem_limit = 16m\n}}\n")
    process = subprocess.Popen([searchd, "--config", f"{work}/searchd.conf", "--nodetach"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            connect(port).close()
            return process, port
        except pymysql.Error:
            time.sleep(0.1)
    sys.exit("no server")


def connect(port):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)


def run(connection, sql):
    begin = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows = cursor.fetchall()
    return time.perf_counter() - begin, rows


class Reader(threading.Thread):
    def __init__(self, port, make_sql):
        super().__init__(daemon=True)
        self.connection, self.make_sql, self.taken, self.go = connect(port), make_sql, [], True

    def run(self):
        while self.go:
            self.taken.append(run(self.connection, self.make_sql())[0])

    def finish(self):
        self.go = False
        self.join()
        return self.taken


def show(name, taken):
    taken = sorted(taken)
    at = lambda share: taken[min(len(taken) - 1, int(share * len(taken)))] * 1000
    print(f"{name:22} {len(taken):7}  p50 {at(.5):8.2f}  p99 {at(.99):8.2f}  max {taken[-1] * 1000:8.2f} ms, "
          f"over 50 ms: {sum(t > 0.05 for t in taken)}", flush=True)


def readers(port, rows):
    numbers = random.Random(3)
    return {"point": Reader(port, lambda: f"SELECT * FROM taxi WHERE id={numbers.randrange(1, rows)}"),
            "scan": Reader(port, lambda: "SELECT count(*) FROM taxi WHERE passenger_count > 3")}


def measure(port, ddl, statements, rows):
    control = connect(port)
    run(control, ddl)
    loader = connect(port)
    loading = readers(port, rows)
    for reader in loading.values():
        reader.start()
    commits = [run(loader, sql)[0] for sql in statements]
    print("while loading, flushing and merging")
    show("  INSERT of 1,000 rows", commits)
    for name, reader in loading.items():
        show(f"  {name}", reader.finish())
    merging = readers(port, rows)
    for reader in merging.values():
        reader.start()
    taken = run(control, "OPTIMIZE TABLE taxi OPTION sync=1, cutoff=1")[0]
    print(f"while OPTIMIZE runs ({taken:.1f} s)")
    for name, reader in merging.items():
        show(f"  {name}", reader.finish())
    idle = readers(port, rows)
    for reader in idle.values():
        reader.start()
    time.sleep(5)
    print("idle")
    for name, reader in idle.items():
        show(f"  {name}", reader.finish())
    for name, value in run(control, "SHOW STATUS LIKE 'storage_%'")[1]:
        print(f"  {name} {value}")


def main():
    searchd, shared = os.path.realpath(sys.argv[1]), sys.argv[2]
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 400_000
    work = tempfile.mkdtemp(prefix="stoa-waits-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    process = None
    try:
        subprocess.run(["g++", "-O2", "-std=c++17", "-o", f"{work}/taxi_gen", f"{shared}/data/taxi_gen.cpp"], check=True)
        generate = lambda *options: subprocess.run([f"{work}/taxi_gen", *options], check=True, capture_output=True, text=True).stdout
        ddl = generate("--format", "ddl").strip().removesuffix(";") + " engine='columnar'"
        statements = generate("--rows", str(rows), "--format", "sql", "--batch", "1000").splitlines()
        process, port = start(searchd, work)
        measure(port, ddl, statements, rows)
    finally:
        if process:
            process.terminate()
            process.wait()
        shutil.rmtree(work)


main()
