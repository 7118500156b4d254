#!/usr/bin/python3
"""Connections that must not get in each other's way: 1,000 idle and 64 busy ones, a packet of 100 MB, a client that
stops reading, half-open handshakes, KILL QUERY and a client that goes away.

  connections.py --searchd PATH

Starts its own server. Each check prints a line when it fails; the last line is "N passed, N failed".
"""
import argparse
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import pymysql

ROWS = 200_000
# Reads every row several times over and sorts by an expression: seconds of work, ended only by a kill.
SLOW = ("SELECT id, %s FROM crowd ORDER BY %s LIMIT 5" %
        ("+".join("sin(n+%d)*cos(n-%d)" % (i, i) for i in range(40)) + " x", "x DESC"))


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def that(self, name, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print("failed: %s %s" % (name, detail))


class Server:
    def __init__(self, searchd):
        self.folder = tempfile.mkdtemp(prefix="stoa-stress-")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        config = os.path.join(self.folder, "searchd.conf")
        with open(config, "w") as f:
            f.write("searchd {\n listen = 127.0.0.1:%d:mysql\n data_dir = %s/data\n log = %s/searchd.log\n"
                    " pid_file = %s/searchd.pid\n network_timeout = 2s\n}\n" % (self.port, *[self.folder] * 3))
        self.process = subprocess.Popen([searchd, "--config", config, "--nodetach"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                self.connect().close()
                return
            except pymysql.MySQLError:
                time.sleep(0.05)
        raise SystemExit("server does not start")

    def connect(self, **more):
        return pymysql.connect(host="127.0.0.1", port=self.port, user="crowd", autocommit=True, read_timeout=120,
                               **more)

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        shutil.rmtree(self.folder)


def one(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()


def latency(server, seconds=0.5):
    """The slowest of short statements on a connection of their own, in seconds."""
    connection = server.connect()
    worst, end = 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        one(connection, "SELECT n FROM crowd WHERE id = 77")
        worst = max(worst, time.monotonic() - start)
    connection.close()
    return worst


def load(server):
    connection = server.connect()
    one(connection, "CREATE TABLE crowd (n int, s string, t text stored)")
    for first in range(1, ROWS, 5000):
        one(connection, "INSERT INTO crowd (id, n, s, t) VALUES " + ",".join(
            "(%d,%d,'s%d','%s')" % (i, i, i % 100, "words " * 20) for i in range(first, first + 5000)))
    connection.close()


def crowd(server, checks):
    idle = [server.connect() for _ in range(1000)]
    errors = []

    def busy(number):
        try:
            connection = server.connect()
            for i in range(20):
                if one(connection, "SELECT n FROM crowd WHERE id = %d" % (1 + number * 20 + i))[0] != 1 + number * 20 + i:
                    errors.append("wrong row")
                one(connection, "SELECT count(*) FROM crowd WHERE n > %d" % (i * 1000))
            connection.close()
        except Exception as e:  # pylint: disable=broad-except
            errors.append(str(e))

    threads = [threading.Thread(target=busy, args=(i,)) for i in range(64)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    checks.that("64 busy connections beside 1,000 idle ones", not errors, errors[:3])
    checks.that("idle connections still answer", all(one(c, "SELECT 1")[0] == 1 for c in idle[::50]))
    for c in idle:
        c.close()


def big_packet(server, checks):
    connection = server.connect(max_allowed_packet=1 << 30)
    text = "x" * (100 << 20)
    one(connection, "REPLACE INTO crowd (id, n, s, t) VALUES (900000001, 1, 'big', '%s')" % text)
    got = one(connection, "SELECT t FROM crowd WHERE id = 900000001")[0]
    checks.that("a packet of 100 MB goes in and comes back", got == text)
    one(connection, "DELETE FROM crowd WHERE id = 900000001")
    try:
        one(connection, "SELECT '%s'" % ("y" * (140 << 20)))
        checks.that("a packet over max_packet_size is refused", False)
    except (pymysql.MySQLError, OSError):
        checks.that("a packet over max_packet_size is refused", True)
    checks.that("the server lives after it", one(server.connect(), "SELECT 1")[0] == 1)


def stops_reading(server, checks):
    deaf = []
    for _ in range(8):
        connection = server.connect()
        connection._execute_command(3, "SELECT id, t, s, t a, t b, t c FROM crowd LIMIT 200000")  # never read
        deaf.append(connection)
    time.sleep(0.3)
    worst = latency(server)
    checks.that("8 clients that stop reading stall nobody", worst < 0.5, "%.3f s" % worst)
    for connection in deaf:
        connection._sock.shutdown(socket.SHUT_RDWR)


def half_open(server, checks):
    silent = [server.raw() for _ in range(50)]
    for s in silent[:25]:
        s.recv(4096)
        s.sendall(struct.pack("<I", 0x010000ff)[:3])  # the start of a packet that never comes
    worst = latency(server)
    checks.that("half-open handshakes stall nobody", worst < 0.5, "%.3f s" % worst)
    time.sleep(2.5)
    closed = 0
    for s in silent:
        s.settimeout(2)
        try:
            while s.recv(4096):
                pass
            closed += 1
        except ConnectionError:
            closed += 1
        except OSError:
            pass
    checks.that("half-open handshakes are closed after network_timeout", closed == 50, "%d of 50" % closed)


def kill_query(server, checks):
    connection = server.connect()
    number = one(connection, "SELECT CONNECTION_ID()")[0]
    result = {}

    def run():
        try:
            one(connection, SLOW)
            result["error"] = None
        except pymysql.MySQLError as e:
            result["error"] = e.args[0]
        result["end"] = time.monotonic()

    thread = threading.Thread(target=run)
    thread.start()
    other = server.connect()
    for _ in range(200):
        with other.cursor() as cursor:
            cursor.execute("SHOW PROCESSLIST")
            if any("sin(n" in str(row) for row in cursor.fetchall()):
                break
        time.sleep(0.005)
    start = time.monotonic()
    one(other, "KILL QUERY %d" % number)
    thread.join()
    checks.that("KILL QUERY ends the statement", result["error"] == 1317, result)
    checks.that("KILL QUERY acts within 100 ms", result["end"] - start < 0.1, "%.3f s" % (result["end"] - start))
    checks.that("the connection lives on", one(connection, "SELECT 1")[0] == 1)


def goes_away(server, checks):
    connection = server.connect()
    connection._execute_command(3, SLOW)
    time.sleep(0.05)
    connection._sock.shutdown(socket.SHUT_RDWR)
    other = server.connect()
    gone = False
    end = time.monotonic() + 0.25
    while time.monotonic() < end and not gone:
        with other.cursor() as cursor:
            cursor.execute("SHOW PROCESSLIST")
            gone = not any("sin(n" in str(row) for row in cursor.fetchall())
        time.sleep(0.01)
    checks.that("the statement of a client that left ends", gone)


def max_query_time(server, checks):
    connection = server.connect()
    start = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(SLOW + " OPTION max_query_time=50")
        warnings = connection.show_warnings()
    took = time.monotonic() - start
    checks.that("max_query_time ends a SELECT", took < 0.2, "%.3f s" % took)
    checks.that("max_query_time warns", any("max_query_time" in str(w) for w in warnings), warnings)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searchd", required=True)
    args = parser.parse_args()
    checks = Checks()
    server = Server(args.searchd)
    load(server)
    for step in (kill_query, goes_away, max_query_time, crowd, big_packet, stops_reading, half_open):
        try:
            step(server, checks)
        except Exception as e:  # pylint: disable=broad-except
            checks.that(step.__name__, False, "%s: %s" % (type(e).__name__, e))
    checks.that("the server is still there", server.process.poll() is None)
    server.stop()
    print("%d passed, %d failed" % (checks.passed, checks.failed))
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
