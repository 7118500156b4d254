#!/usr/bin/env python3
"""scenario.py CLIENT HOST PORT: pymysql mysqldb sqlalchemy-pymysql sqlalchemy-mysqldb odbc (see README.md)."""
import sys

client, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
BASE = 9223372036854775807
TABLE = "conn_" + client.replace("-", "_")
CREATE = ("CREATE TABLE %s (title text, s string, n int, b bigint, f float, k bool, ts timestamp, j json, m multi, w multi64, "
          "v float_vector)" % TABLE)
COLUMNS = "id, title, s, n, b, f, k, ts, j, m, w, v"


def values(i):
    # pyodbc binds no integers above 2^63 - 1 and reads 32-bit ones with a sign.
    odbc = client == "odbc"
    return (str(BASE + i) if odbc else BASE + i, "строка %d 行 😀" % i, "it's \"%d\" \\ %%" % i,
            (2147483647 if odbc else 4294967295) - i, -9000000000000 - i, i / 4, i % 2,
            1700000000 + i, '{"i":%d}' % i)


def insert(i, mark):
    return "INSERT INTO %s (%s) VALUES (%s, (%d,%d), (-%d), (%d,0.5))" % (
        TABLE, COLUMNS, ",".join([mark] * 9), i, i + 1, i, i)


def connect():
    if client in ("pymysql", "mysqldb"):
        module = __import__("pymysql" if client == "pymysql" else "MySQLdb")
        return module.connect(host=host, port=port, user="scenario", database="Manticore", charset="utf8mb4"), "%s"
    if client == "odbc":
        import pyodbc
        return pyodbc.connect("DRIVER={MariaDB Unicode};SERVER=%s;PORT=%d;UID=scenario;DATABASE=Manticore;CHARSET=utf8mb4"
                              % (host, port), autocommit=True), "?"
    import sqlalchemy
    engine = sqlalchemy.create_engine("mysql+%s://scenario@%s:%d/Manticore?charset=utf8mb4" %
                                      (client.split("-")[1], host, port), pool_pre_ping=True)
    engine.connect().close()  # its own first statements
    return engine.raw_connection(), "%s"


def expect(what, got, want):
    if got != want:
        sys.exit("%s: got %r, want %r" % (what, got, want))


def check(cursor, mark):
    cursor.execute("SELECT count(*) FROM %s" % TABLE)
    expect("count", int(cursor.fetchone()[0]), 1000)
    for i in (1, 500, 1000):
        cursor.execute("SELECT %s FROM %s WHERE id = %s" % (COLUMNS, TABLE, mark), values(i)[:1])
        row = cursor.fetchone()
        want = values(i)
        expect("id", int(row[0]), BASE + i)
        expect("texts", (row[1], row[2]), want[1:3])
        expect("numbers", tuple(float(x) for x in row[3:8]), tuple(float(x) for x in want[3:8]))
        expect("json", row[8], want[8])
        expect("sets", (row[9], row[10]), ("%d,%d" % (i, i + 1), "-%d" % i))
        expect("vector", row[11], "%d.000000,0.500000" % i)


def main():
    connection, mark = connect()
    cursor = connection.cursor()
    cursor.execute("DROP TABLE IF EXISTS %s" % TABLE)
    cursor.execute(CREATE)
    for i in range(1, 1001):
        cursor.execute(insert(i, mark), values(i))
    connection.commit()
    check(cursor, mark)
    cursor.execute("DROP TABLE %s" % TABLE)
    connection.commit()
    connection.close()
    print("ok")


main()
