#!/usr/bin/env python3
"""merge_cache.py ROWS LIMIT_MB SEARCHD...: what a merge does to the page cache of another table.

Each server in turn, in a memory group of LIMIT_MB, over the same files: `t` has a sixth of ROWS, `big` all of them in several
chunks, more than fits into the group. `t` is queried until it is in memory and then left alone; OPTIMIZE makes one chunk of
`big`. Printed: how much of t's .spc is in memory before, at the least meanwhile and after (mincore), what reading it again
takes and reads of the disk, how long OPTIMIZE took and how much of `big` is in memory then. Needs root, PyMySQL.
"""
import ctypes
import glob
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import measure
from measure import COLUMNS, NAMES, SEED_ROWS, Group, Server

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE = mmap.PAGESIZE


def resident(paths):
    pages = 0
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        size = os.fstat(fd).st_size
        address = LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        seen = ctypes.create_string_buffer((size + PAGE - 1) // PAGE)
        LIBC.mincore(address, size, seen)
        pages += sum(byte & 1 for byte in seen.raw)
        LIBC.munmap(address, size)
        os.close(fd)
    return pages * PAGE / 1e6


def spc_of(folder, table):
    return glob.glob(f"{folder}/data/{table}.t*/*.spc")


def make(searchd, folder, rows):
    os.makedirs(folder)
    server = Server(searchd, folder, "mmap", more=" auto_optimize = 0\n")
    measure.fill(server, SEED_ROWS)
    names = ", ".join(NAMES) + ", g"
    server.query(f"CREATE TABLE big ({', '.join(COLUMNS)}, g int) engine='columnar'")
    for _ in range(rows // SEED_ROWS):
        server.query(f"INSERT INTO big ({names}) SELECT {names} FROM t")
    server.query(f"CREATE TABLE seed ({', '.join(COLUMNS)}, g int) engine='columnar'")
    server.query(f"INSERT INTO seed ({names}) SELECT {names} FROM t")
    for _ in range(rows // 6 // SEED_ROWS - 1):
        server.query(f"INSERT INTO t ({names}) SELECT {names} FROM seed")
    server.query("DROP TABLE seed")
    server.query("FLUSH RAMCHUNK big")
    server.query("FLUSH RAMCHUNK t")
    server.query("OPTIMIZE TABLE t OPTION sync=1, cutoff=1")
    server.stop()
    subprocess.run(["sync"], check=True)


class Least(threading.Thread):
    def __init__(self, paths):
        super().__init__(daemon=True)
        self.paths, self.go, self.least = paths, True, resident(paths)

    def run(self):
        while self.go:
            self.least = min(self.least, resident(self.paths))
            time.sleep(0.5)


def watch(searchd, work, limit):
    folder = f"{work}/run"
    shutil.copytree(f"{work}/made", folder)
    subprocess.run(["sync"], check=True)
    group = Group(f"stoa-merge-{os.getpid()}", limit << 20)
    server = Server(searchd, folder, "mmap", group, more=" auto_optimize = 0\n")
    try:
        server.drop_pages()
        hot = spc_of(folder, "t")
        query = "SELECT " + ", ".join(f"sum({n})" for n in NAMES) + " FROM t"
        for _ in range(3):
            server.query(query)
        warm, _ = server.timed(query)
        before = resident(hot)
        size = sum(map(os.path.getsize, spc_of(folder, "big"))) / 1e6
        watcher = Least(hot)
        watcher.start()
        taken, _ = server.timed("OPTIMIZE TABLE big OPTION sync=1, cutoff=1")
        watcher.go = False
        watcher.join()
        after, big = resident(hot), resident(spc_of(folder, "big"))
        read = server.counters()["read MB"]
        again, _ = server.timed(query)
        read = server.counters()["read MB"] - read
        print(f"{searchd}: t's .spc in memory: before {before:.0f} MB, least {watcher.least:.0f}, after {after:.0f}; its query "
              f"{warm:.2f} s warm, {again:.2f} s after ({read:.0f} MB read); OPTIMIZE of {size:.0f} MB {taken:.1f} s, "
              f"{big:.0f} MB of big in memory", flush=True)
    finally:
        server.stop()
        group.remove()
        shutil.rmtree(folder)


def main():
    rows, limit, programs = int(sys.argv[1]), int(sys.argv[2]), [os.path.realpath(path) for path in sys.argv[3:]]
    work = os.environ.get("KEEP") or tempfile.mkdtemp(prefix="stoa-merge-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    try:
        if not os.path.exists(f"{work}/made"):
            make(programs[0], f"{work}/made", rows)
        for program in programs:
            watch(program, work, limit)
    finally:
        if "KEEP" not in os.environ:
            shutil.rmtree(work)


main()
