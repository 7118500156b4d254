#!/usr/bin/python3
"""Logins, prepared statements and packets that the client libraries of other tests do not send.

  protocol.py SEARCHD        last line: "N passed, N failed"
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import pymysql

SEARCHD = os.path.realpath(sys.argv[1])
COM_QUIT, COM_INIT_DB, COM_QUERY, COM_FIELD_LIST, COM_STATISTICS, COM_PING = 1, 2, 3, 4, 9, 14
COM_PREPARE, COM_EXECUTE, COM_LONG_DATA, COM_CLOSE, COM_RESET, COM_SET_OPTION = 22, 23, 24, 25, 26, 27
TYPE_DOUBLE, TYPE_NULL, TYPE_LONGLONG, TYPE_STRING, TYPE_BLOB = 5, 6, 8, 254, 252
TABLE = "CREATE TABLE p (title text, n int, w bigint, f float, s string, j json, m multi, v float_vector)"
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Failed(Exception):
    pass


def expect(got, want, what=""):
    if got != want:
        raise Failed(f"{what}: got {got!r}, want {want!r}")


class Server:
    def __init__(self, *lines):
        self.folder = tempfile.mkdtemp(prefix="stoa-protocol-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        config = pathlib.Path(self.folder, "searchd.conf")
        config.write_text("\n".join(["searchd {", f"listen = 127.0.0.1:{self.port}:mysql", "data_dir = data", *lines, "}"]))
        self.process = subprocess.Popen([SEARCHD, "--config", str(config), "--nodetach"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def connect(self, **more):
        options = {"user": "test", "autocommit": True, "charset": "utf8mb4", **more}
        return pymysql.connect(host="127.0.0.1", port=self.port, read_timeout=60, **options)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


def rows_of(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def error_of(action):
    try:
        action()
    except pymysql.MySQLError as error:
        return error.args[0]
    return None


class Raw:
    """A client that writes its packets itself."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.read()
        capabilities = 0x00000200 | 0x00008000 | 0x00010000 | 0x00020000 | 0x00040000 | 0x00080000
        self.sequence = 1
        self.write(struct.pack("<IIB23x", capabilities, 1 << 24, 45) + b"raw\0" + b"\0" + b"mysql_native_password\0")
        self.expect_ok()

    def write(self, payload):
        self.socket.sendall(struct.pack("<I", len(payload))[:3] + bytes([self.sequence]) + payload)

    def read(self):
        head = self.file.read(4)
        if len(head) < 4:
            raise Failed("the connection has ended")
        return self.file.read(int.from_bytes(head[:3], "little"))

    def command(self, code, payload=b""):
        self.sequence = 0
        self.write(bytes([code]) + payload)

    def expect_ok(self):
        packet = self.read()
        expect(packet[0], 0, f"first byte of an OK packet {packet!r}")
        return packet

    def read_error(self):
        packet = self.read()
        expect(packet[0], 255, f"first byte of an error packet {packet!r}")
        return struct.unpack("<H", packet[1:3])[0]

    def prepare(self, sql):
        """(id, columns, parameters), or the number of the error."""
        self.command(COM_PREPARE, sql.encode())
        packet = self.read()
        if packet[0] == 255:
            return struct.unpack("<H", packet[1:3])[0]
        number, columns, parameters = struct.unpack("<IHH", packet[1:9])
        for count in (parameters, columns):
            for _ in range(count + 1 if count else 0):
                self.read()
        return number, columns, parameters

    def send_execute(self, number, values, types=None, long_data=()):
        nulls = bytearray((len(values) + 7) // 8)
        kinds, data = b"", b""
        for i, value in enumerate(values):
            kind = types[i] if types else kind_of(value)
            kinds += struct.pack("<H", kind)
            if value is None:
                nulls[i // 8] |= 1 << i % 8
            elif i not in long_data:
                data += encode(value, kind & 0xff)
        self.command(COM_EXECUTE, struct.pack("<IBI", number, 0, 1) + (bytes(nulls) + b"\1" + kinds + data if values else b""))

    def execute(self, number, values=(), **more):
        """Rows of byte strings and numbers, the affected rows, or ("error", number)."""
        self.send_execute(number, values, **more)
        packet = self.read()
        if packet[0] == 255:
            return "error", struct.unpack("<H", packet[1:3])[0]
        if packet[0] == 0:
            return packet[1]
        kinds = []
        for _ in range(packet[0]):
            kinds.append(column_kind(self.read()))
        self.read()
        rows = []
        while True:
            packet = self.read()
            if packet[0] == 0xfe and len(packet) < 9:
                return rows
            rows.append(decode(packet, kinds))


def kind_of(value):
    if isinstance(value, int):
        return TYPE_LONGLONG | (0x8000 if value > 2**63 - 1 else 0)
    if isinstance(value, float):
        return TYPE_DOUBLE
    return TYPE_NULL if value is None else TYPE_STRING


def length_coded(data):
    if len(data) < 251:
        return bytes([len(data)]) + data
    return b"\xfe" + struct.pack("<Q", len(data)) + data


def encode(value, kind):
    if kind == TYPE_LONGLONG:
        return struct.pack("<Q", value % 2**64)
    if kind == TYPE_DOUBLE:
        return struct.pack("<d", value)
    return length_coded(value.encode() if isinstance(value, str) else value)


def read_length(packet, at):
    first = packet[at]
    size = {252: 2, 253: 3, 254: 8}.get(first, 0)
    return (first, at + 1) if size == 0 else (int.from_bytes(packet[at + 1:at + 1 + size], "little"), at + 1 + size)


def column_kind(packet):
    at = 0
    for _ in range(6):
        length, at = read_length(packet, at)
        at += length
    return packet[at + 7], struct.unpack("<H", packet[at + 8:at + 10])[0] & 32 != 0


def decode(packet, kinds):
    at = 1 + (len(kinds) + 9) // 8
    row = []
    for i, (kind, is_unsigned) in enumerate(kinds):
        if packet[1 + (i + 2) // 8] >> (i + 2) % 8 & 1:
            row.append(None)
        elif kind in (1, 2, 3, 8):
            size = {1: 1, 2: 2, 3: 4, 8: 8}[kind]
            row.append(int.from_bytes(packet[at:at + size], "little", signed=not is_unsigned))
            at += size
        elif kind in (4, 5):
            form, size = ("<f", 4) if kind == 4 else ("<d", 8)
            row.append(struct.unpack(form, packet[at:at + size])[0])
            at += size
        else:
            length, at = read_length(packet, at)
            row.append(packet[at:at + length])
            at += length
    return tuple(row)


# entry: (d) 69
@check
def any_user_password_and_database_name_in_any_case_is_let_in(server):
    for options in ({"user": ""}, {"user": "x"}, {"user": "x", "password": "y"}, {"database": "Manticore"},
                    {"database": "MANTICORE"}, {"database": "information_schema"}):
        with server.connect(**options) as connection:
            expect(rows_of(connection, "SELECT 1"), ((1,),), str(options))
    expect(error_of(lambda: server.connect(database="nosuch")), 1046, "an unknown database")


# entry: (d) 57
@check
def prepared_statements_of_every_kind(server):
    raw = Raw(server)
    for sql in ("CREATE TABLE made (n int)", "ALTER TABLE made ADD COLUMN w bigint", "DROP TABLE made"):
        number, columns, parameters = raw.prepare(sql)
        expect((columns, parameters), (0, 0), sql)
        expect(raw.execute(number), 0, sql)
    insert, columns, parameters = raw.prepare("INSERT INTO p (id, n, w, f, s, j) VALUES (?, ?, ?, ?, ?, ?)")
    expect((columns, parameters), (0, 6))
    expect(raw.execute(insert, (1, 4294967295, -2**63, 0.5, "", '{"a":1}')), 1)
    expect(raw.execute(insert, (2**63 + 1, 0, 2**63 - 1, -2.25, "текст 😀", "{}")), 1)
    expect(raw.execute(insert, (3, 1, 1, 1.5, "x" * 1_000_000, "{}")), 1)
    expect(raw.execute(insert, (4, None, 1, 1.5, "", "{}"))[0], "error", "NULL for a column")
    expect(raw.execute(insert, (5, 2**32, 1, 1.5, "", "{}"))[0], "error", "an int out of range")
    # The same statement with other types.
    expect(raw.execute(insert, ("6", "7", "-8", "9.5", "text", "{}")), 1)
    select, columns, parameters = raw.prepare("SELECT id, n, w, f, s, j FROM p WHERE id = ? ORDER BY id ASC LIMIT ?, ?")
    expect(parameters, 3)
    expect(raw.execute(select, (1, 0, 5)), [(1, 4294967295, -2**63, 0.5, b"", b'{"a":1}')])
    expect(raw.execute(select, (2**63 + 1, 0, 5)), [(2**63 + 1, 0, 2**63 - 1, -2.25, "текст 😀".encode(), b"{}")])
    expect(raw.execute(select, (6, 0, 1)), [(6, 7, -8, 9.5, b"text", b"{}")])
    expect(raw.execute(select, (77, 0, 1)), [])
    expect(raw.execute(select, (1, 1, 1)), [])
    length, _, _ = raw.prepare("SELECT LENGTH(s) AS l FROM p WHERE s = ?")
    expect(raw.execute(length, ("x" * 1_000_000,)), [(1_000_000,)])
    for sql, values, want in (("REPLACE INTO p (id, n) VALUES (?, ?)", (3, 33), 1),
                              ("UPDATE p SET n = ? WHERE n = ?", (34, 33), 1),
                              ("DELETE FROM p WHERE id IN (?, ?)", (3, 99), 1)):
        number, _, _ = raw.prepare(sql)
        expect(raw.execute(number, values), want, sql)
    sets, _, _ = raw.prepare("REPLACE INTO p (id, m, v) VALUES (?, (3,1), (0.5,2))")
    expect(raw.execute(sets, (8,)), 1)
    read_sets, _, _ = raw.prepare("SELECT m, v FROM p WHERE id = ?")
    expect(raw.execute(read_sets, (8,)), [(b"1,3", b"0.500000,2.000000")])


@check
def vectors_of_prepared_statements(server):
    raw = Raw(server)
    for sql in ("DROP TABLE IF EXISTS near", "CREATE TABLE near (n int, v float_vector knn_type='hnsw' knn_dims='3', "
                "a float_vector_array knn_type='hnsw' knn_dims='2', m multi)"):
        expect(raw.execute(raw.prepare(sql)[0]), 0, sql)
    insert, _, parameters = raw.prepare("INSERT INTO near (id, n, v, a, m) VALUES (?, ?, ?, ?, ?)")
    expect(parameters, 5)
    expect(raw.execute(insert, (1, 1, "(0,0.5,-1e0)", "[[1,2], [3,4]]", "(3,1)")), 1)
    expect(raw.execute(insert, (2, 1, "[1, 1, 1]", "[]", "2")), 1)
    expect(raw.execute(insert, (3, 2, "2,2,2", "", "")), 1)
    expect(raw.execute(insert, (4, 2, "()", "[]", "()")), 1)
    for wrong in ("(1,2)", "red", "(1,2,nan)", "(1,2,3", "(1,2,1e39)"):
        expect(raw.execute(insert, (5, 2, wrong, "[]", ""))[0], "error", wrong)
    items, _, parameters = raw.prepare("INSERT INTO near (id, n, v) VALUES (?, ?, (?, ?, ?)), (?, ?, (?VEC?))")
    expect(parameters, 8)
    expect(raw.execute(items, (6, 3, 3, 3.0, "3", 7, 3, "4, 4,4")), 2)
    read, columns, _ = raw.prepare("SELECT v, a, m FROM near WHERE id = ?")
    expect(raw.execute(read, (1,)), [(b"0.000000,0.500000,-1.000000", b"[[1.000000,2.000000],[3.000000,4.000000]]", b"1,3")])
    expect(raw.execute(read, (4,)), [(b"", b"[]", b"")])
    expect(raw.execute(read, (6,)), [(b"3.000000,3.000000,3.000000", b"[]", b"")])
    for query, values, want in (
            ("knn(v, ?)", ("(1,1,1)",), [2, 3, 1, 6, 7]),
            ("knn(v, ?)", ("1,1,1",), [2, 3, 1, 6, 7]),
            ("knn(v, ?, ?)", (2, "[1,1,1]"), [2, 3]),
            ("knn(v, (?VEC?))", ("1,1,1",), [2, 3, 1, 6, 7]),
            ("knn(v, ?, (?, ?, ?)) AND n > ?", (2, 1, 1.0, "1", 1), [3, 6]),
            ("knn(v, ?, ?)", (2, 3), [2, 6]),
            ("knn(v, (?VEC?), {k=?, ef=?})", ("1,1,1", 1, 50), [2])):
        select, columns, parameters = raw.prepare(f"SELECT id FROM near WHERE {query}")
        expect(parameters, len(values), query)
        expect(columns, 0 if "n >" in query else 1, query)
        expect([row[0] for row in raw.execute(select, values)], want, f"{query} {values}")
    for query, values in (("knn(v, ?)", ("(1,1)",)), ("knn(v, ?)", ("red shoes",)), ("knn(v, ?, ?)", (0, "1,1,1")),
                          ("knn(v, ?, ?)", ("x", "1,1,1")), ("knn(v, (?VEC?))", ("",)), ("knn(v, ?)", (None,))):
        select, _, _ = raw.prepare(f"SELECT id FROM near WHERE {query}")
        expect(raw.execute(select, values)[0], "error", f"{query} {values}")
    text, _, _ = raw.prepare("SELECT id, knn_dist() FROM near WHERE knn(v, ?) LIMIT 1")
    expect(raw.execute(text, ("2,2,2",)), [(3, 0.0)])


@check
def show_and_variables_can_be_prepared(server):
    raw = Raw(server)
    for sql, want in (("SELECT @@max_allowed_packet", [(134217728,)]), ("SHOW TABLES LIKE 'p'", [(b"p", b"rt")]),
                      ("SELECT ?", None)):
        number, _, parameters = raw.prepare(sql)
        got = raw.execute(number, ("x",) * parameters)
        expect(got, [(b"x",)] if want is None else want, sql)
    for sql in ("SHOW STATUS", "SHOW CREATE TABLE p", "SHOW VARIABLES", "DESC p"):
        number, _, _ = raw.prepare(sql)
        expect(len(raw.execute(number)) > 0, True, sql)


@check
def wrong_uses_of_prepared_statements_are_errors(server):
    raw = Raw(server)
    expect(raw.prepare("SELEKT ?"), 1064)
    expect(raw.prepare("SELECT 1; SELECT 2"), 1064)
    raw.send_execute(999999, ())
    expect(raw.read_error(), 1243, "an unknown statement")
    number, _, _ = raw.prepare("SELECT id FROM p WHERE n = ? AND w = ?")
    raw.command(COM_EXECUTE, struct.pack("<IBI", number, 0, 1))
    expect(raw.read()[0], 255, "too few values")
    raw.command(COM_PING)
    raw.expect_ok()
    raw.command(COM_CLOSE, struct.pack("<I", number))
    raw.send_execute(number, (1, 1))
    expect(raw.read_error(), 1243, "a closed statement")
    raw.command(COM_RESET, struct.pack("<I", 999999))
    expect(raw.read_error(), 1243, "a reset of an unknown statement")


@check
def long_data_is_joined_and_dropped_by_a_reset(server):
    raw = Raw(server)
    number, _, _ = raw.prepare("SELECT LENGTH(?) AS l")
    for _ in range(3):
        raw.command(COM_LONG_DATA, struct.pack("<IH", number, 0) + b"x" * 100)
    expect(raw.execute(number, (b"",), types=[TYPE_BLOB], long_data=(0,)), [(300,)])
    raw.command(COM_LONG_DATA, struct.pack("<IH", number, 0) + b"x" * 100)
    raw.command(COM_RESET, struct.pack("<I", number))
    raw.expect_ok()
    expect(raw.execute(number, (b"ab",), types=[TYPE_BLOB]), [(2,)])


@check
def ten_thousand_statements_are_prepared_and_closed(server):
    raw = Raw(server)
    for _ in range(10_000):
        number, _, _ = raw.prepare("SELECT id FROM p WHERE n = ?")
        raw.command(COM_CLOSE, struct.pack("<I", number))
    raw.command(COM_PING)
    raw.expect_ok()


@check
def commands_beside_queries(server):
    raw = Raw(server)
    raw.command(COM_INIT_DB, b"Manticore")
    raw.expect_ok()
    raw.command(COM_INIT_DB, b"nosuch")
    expect(raw.read_error(), 1046)
    raw.command(COM_STATISTICS)
    expect(raw.read().startswith(b"Uptime: "), True, "COM_STATISTICS")
    raw.command(COM_SET_OPTION, b"\0\0")
    raw.read()
    raw.command(99)
    expect(raw.read_error(), 1047)
    raw.command(COM_FIELD_LIST, b"p\0")
    fields = 0
    while raw.read()[0] not in (0xfe, 0xff):
        fields += 1
    expect(fields, 9, "COM_FIELD_LIST")
    raw.command(COM_QUERY, b"")
    raw.read()
    raw.command(COM_PING)
    raw.expect_ok()


# entry: (d) 64
@check
def the_ok_packet_tells_ids_and_rows(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO p (n) VALUES (1)")
        expect(cursor.rowcount, 1)
        number = cursor.lastrowid
        expect(number > 0, True, "insert id")
        expect(rows_of(connection, "SELECT LAST_INSERT_ID()"), ((str(number),),))
        cursor.execute("SELECT COUNT(*) FROM p WHERE id = %s", (number,))
        expect(cursor.fetchall(), ((1,),))
        cursor.execute("REPLACE INTO p (id, n) VALUES (50, 1), (51, 1)")
        expect(cursor.rowcount, 2)
        cursor.execute("DELETE FROM p WHERE id IN (50, 51, 52)")
        expect(cursor.rowcount, 2)


# entry: (d) 61
@check
def connections_over_the_limit_get_error_1040(_):
    server = Server("max_connections = 3")
    try:
        deadline = time.monotonic() + 10
        held = []
        while len(held) < 3:
            if (error := error_of(lambda: held.append(server.connect()))) is not None:
                expect(error, 1040)
                expect(time.monotonic() < deadline, True, "three connections in time")
                time.sleep(0.02)
        for _ in range(5):
            expect(error_of(server.connect), 1040)
        for connection in held:
            expect(rows_of(connection, "SELECT 1"), ((1,),))
        held.pop().close()
        while error_of(lambda: held.append(server.connect())) is not None:
            expect(time.monotonic() < deadline, True, "a place is free again in time")
            time.sleep(0.02)
        expect(rows_of(held[-1], "SELECT 1"), ((1,),))
        for connection in held:
            connection.close()
    finally:
        server.stop()


@check
def odd_packets_end_at_most_their_own_connection(server):
    greeting = b"\x0a"
    for packet in (b"", b"\0", b"\0\0\0\1", b"\xff\xff\xff\1" + b"x" * 100, b"\5\0\0\1abc", b"GET / HTTP/1.1\r\n\r\n",
                   b"\x20\0\0\1" + b"\xff" * 32):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            expect(client.recv(1024)[4:5], greeting, "greeting")
            client.sendall(packet)
            client.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                while client.recv(4096):
                    pass
    raw = Raw(server)
    raw.command(COM_EXECUTE, b"\1")
    raw.read()
    with server.connect() as connection:
        expect(rows_of(connection, "SELECT 1"), ((1,),))


def main():
    only = sys.argv[2:]
    passed = failed = 0
    server = Server()
    with server.connect() as connection:
        rows_of(connection, TABLE)
    for function in CHECKS:
        if only and function.__name__ not in only:
            continue
        try:
            function(server)
            passed += 1
        except Exception as error:  # any failure of a check is told and counted
            print(f"FAIL {function.__name__}: {type(error).__name__}: {error}"[:600])
            failed += 1
    if server.process.poll() is not None:
        print("FAIL the server has ended")
        failed += 1
    server.stop()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
