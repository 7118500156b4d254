#!/usr/bin/python3
"""Starts and stops searchd in odd surroundings and checks messages, exit codes and what is left behind.

  start_stop.py SEARCHD        last line: "N passed, N failed"
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pymysql

SEARCHD = os.path.realpath(sys.argv[1])
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Home:
    """A folder with a config; stops what was started from it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.port = free_port()
        self.config = self.folder / "searchd.conf"
        self.write(f"listen = 127.0.0.1:{self.port}:mysql")

    def write(self, *lines):
        self.config.write_text("searchd {\n" + "\n".join(lines) + "\n}\n")

    def run(self, *arguments, user=None, config=True):
        command = [SEARCHD] + (["--config", str(self.config)] if config else []) + list(arguments)
        if user:
            command = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"] + command
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.folder)

    def start(self, *arguments):
        done = self.run(*arguments)
        expect(done.returncode == 0, f"start: {done}")

    def pid(self):
        return int((self.folder / "data/searchd.pid").read_text())

    def connect(self):
        return pymysql.connect(host="127.0.0.1", port=self.port, user="test", connect_timeout=5)

    def clean(self):
        with contextlib.suppress(FileNotFoundError, ValueError, ProcessLookupError):
            os.kill(self.pid(), signal.SIGKILL)


class Failed(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failed(text)


def expect_fatal(done, *parts):
    lines = done.stderr.strip().split("\n")
    expect(done.returncode == 1, f"exit code {done.returncode}, expected 1: {done}")
    expect(len(lines) == 1 and lines[0].startswith("searchd: FATAL: "), f"not one fatal line: {done.stderr!r}")
    for part in parts:
        expect(str(part) in lines[0], f"{part!r} is not in {lines[0]!r}")


def wait_for_end(pid, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        stat = pathlib.Path(f"/proc/{pid}/stat")
        with contextlib.suppress(FileNotFoundError):
            if stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return
        time.sleep(0.02)
    raise Failed(f"process {pid} has not ended")


@check
def check_says_ok_and_touches_nothing(home):
    done = home.run("--check")
    expect(done.returncode == 0 and done.stdout.strip().endswith("OK"), done)
    expect(not (home.folder / "data").exists(), "--check made the data folder")


@check
def check_names_file_line_and_allowed_values(home):
    home.write("access_columnar_attrs = x")
    expect_fatal(home.run("--check"), f"{home.config}:2: bad value 'x' for 'access_columnar_attrs': allowed are mmap, file")
    home.write("acess_columnar_attrs = file")
    done = home.run("--check")
    expect(done.returncode == 0 and "did you mean 'access_columnar_attrs'?" in done.stderr, done)
    home.write("timezone = Nowhere/Land")
    expect_fatal(home.run("--check"), home.config, "Nowhere/Land")
    home.config.write_text("table t {\n}\n")
    expect_fatal(home.run("--check"), "CREATE TABLE")
    home.config.unlink()
    expect_fatal(home.run("--check"), home.config)


@check
def wrong_arguments_end_with_code_2(home):
    done = home.run("--nonsense")
    expect(done.returncode == 2 and "--nonsense" in done.stderr + done.stdout, done)
    expect(home.run("--version").returncode == 0, "--version")
    expect("Exit codes" in home.run("--help").stdout, "--help lists no exit codes")
    expect("access_columnar_attrs" in home.run("--help-settings").stdout, "--help-settings")


@check
def the_background_server_accepts_connections_at_once(home):
    home.start()
    with home.connect() as connection:
        connection.ping()
    status = home.run("--status")
    expect(status.returncode == 0 and f"pid: {home.pid()}" in status.stdout and "uptime" in status.stdout, status)
    pid = home.pid()
    done = home.run("--stopwait")
    expect(done.returncode == 0, done)
    expect(not (home.folder / "data/searchd.pid").exists(), "the pid file is still there")
    expect("accepting connections" in (home.folder / "data/searchd.log").read_text(), "log")
    wait_for_end(pid)
    for action in ("--stop", "--stopwait", "--status"):
        expect(home.run(action).returncode == 1, f"{action} without a server")


@check
def three_lines_are_a_config_and_data_stands_beside_it(home):
    home.config.write_text("searchd {\n    access_columnar_attrs = file\n}\n")
    done = home.run("--port", str(home.port))
    expect(done.returncode == 0, done)
    with home.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW SETTINGS LIKE '%access_columnar_attrs'")
        expect(cursor.fetchone()[1] == "file", "the setting is not shown")
    expect((home.folder / "data").is_dir(), "no data folder beside the config")


@check
def without_a_config_data_is_in_the_current_folder(home):
    done = home.run("--port", str(home.port), config=False)
    expect(done.returncode == 0, done)
    home.connect().close()
    expect((home.folder / "data/searchd.pid").exists(), "no data folder in the current folder")
    expect(home.run("--stopwait", config=False).returncode == 0, "--stopwait")


@check
def what_cannot_be_written_is_one_fatal_line(home):
    nobody = 65534
    home.folder.chmod(0o755)
    locked = home.folder / "locked"
    locked.mkdir(mode=0o755)
    listen = f"listen = 127.0.0.1:{home.port}:mysql"
    open_data = home.folder / "open"
    open_data.mkdir()
    open_data.chmod(0o777)
    file = home.folder / "file"
    file.write_text("")
    for lines, path in (
            ([f"data_dir = {locked}"], locked),
            ([f"data_dir = {locked}/missing"], locked),
            ([f"data_dir = {file}"], file),
            ([f"data_dir = {open_data}", f"log = {locked}/searchd.log"], locked),
            ([f"data_dir = {open_data}", f"log = {locked}"], locked),
            ([f"data_dir = {open_data}", f"query_log = {locked}/query.log"], locked),
            ([f"data_dir = {open_data}", f"pid_file = {locked}/searchd.pid"], locked),
            ([f"data_dir = {open_data}", f"binlog_path = {locked}"], locked),
            ([f"data_dir = {open_data}", "binlog_path = file"], file)):
        home.write(listen, *lines)
        expect_fatal(home.run(user=nobody), path)
        left = sorted(entry.name for entry in open_data.iterdir())
        expect(not left, f"{lines}: left behind {left}")


@check
def a_second_server_on_the_same_data_is_refused(home):
    home.start()
    expect_fatal(home.run(), "another searchd is running", home.pid())
    other = f"listen = 127.0.0.1:{free_port()}:mysql"
    home.write(other, "pid_file = other.pid", "log = other.log")
    expect_fatal(home.run(), home.folder / "data")
    home.connect().close()
    expect(not (home.folder / "other.pid").exists(), "the refused server left its pid file")


@check
def stale_files_of_dead_processes_do_not_block(home):
    home.start()
    pid = home.pid()
    os.kill(pid, signal.SIGKILL)
    home.start()
    home.connect().close()
    os.kill(home.pid(), signal.SIGKILL)
    wait_for_end(home.pid())
    (home.folder / "data/searchd.pid").write_text(f"{os.getpid()}\n")  # the number is in use by another program
    expect(home.run("--stop").returncode == 1, "--stop took a foreign process for the server")
    home.start()
    home.connect().close()


@check
def a_port_in_use_is_known_before_tables_are_loaded(home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", home.port))
        taken.listen()
        expect_fatal(home.run(), home.port)
    expect(not (home.folder / "data/searchd.pid").exists(), "the pid file is still there")


@check
def bad_listen_lines_are_fatal(home):
    port = home.port
    for line in ("127.0.0.1:70000:mysql", "127.0.0.1:0:mysql", "nosuchhost.invalid:9306:mysql", "9306:nonsense",
                 "/" + "x" * 200 + ":mysql"):
        home.write(f"listen = {line}")
        expect_fatal(home.run(), line[:40])
    home.write(f"listen = 127.0.0.1:{port}:mysql", f"listen = 127.0.0.1:{port}:mysql")
    expect_fatal(home.run(), port)


@check
def term_stops_under_load_and_refuses_new_connections(home):
    home.start()
    pid = home.pid()
    idle = home.connect()
    half = socket.create_connection(("127.0.0.1", home.port))
    half.sendall(b"\x10\x00")
    with home.connect() as session, session.cursor() as cursor:
        cursor.execute("CREATE TABLE t (n int)")
        cursor.execute("BEGIN")
        cursor.execute("INSERT INTO t (id, n) VALUES (1, 1)")
        begun = time.monotonic()
        os.kill(pid, signal.SIGTERM)
        wait_for_end(pid, 10)
        expect(time.monotonic() - begun < 8, "the stop took too long")
    idle.close()
    half.close()
    log = (home.folder / "data/searchd.log").read_text()
    expect(log.endswith("stopped\n"), f"no clean stop in the log: {log[-500:]!r}")
    home.start()
    with home.connect() as session, session.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM t")
        expect(int(cursor.fetchone()[0]) == 0, "an open transaction was committed")


@check
def usr1_reopens_the_logs(home):
    home.write(f"listen = 127.0.0.1:{home.port}:mysql", "query_log = query.log")
    home.start()
    log, query_log = home.folder / "data/searchd.log", home.folder / "query.log"
    log.rename(home.folder / "old.log")
    query_log.rename(home.folder / "old-query.log")
    os.kill(home.pid(), signal.SIGUSR1)
    deadline = time.monotonic() + 10
    while not (log.exists() and query_log.exists()) and time.monotonic() < deadline:
        time.sleep(0.02)
    with home.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1,\n 'a\nb'")
        cursor.fetchall()
    os.kill(home.pid(), signal.SIGHUP)
    home.run("--stopwait")
    expect("SELECT 1,  'a\\nb';" in query_log.read_text(), f"query log: {query_log.read_text()!r}")
    expect("tables:" in log.read_text(), "HUP logs no tables")


@check
def set_global_changes_settings_that_need_no_restart(home):
    home.start()
    with home.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET GLOBAL query_log_min_msec = 500")
        cursor.execute("SHOW SETTINGS LIKE 'searchd.query_log_min_msec'")
        expect(cursor.fetchone()[1] == "500", "the new value is not shown")
        for wrong in ("SET GLOBAL log_level = 'loud'", "SET GLOBAL wait_timeout = 'soon'"):
            try:
                cursor.execute(wrong)
                raise Failed(f"{wrong} works")
            except pymysql.MySQLError:
                pass


@check
def kill_ends_a_connection_whose_client_does_not_read(home):
    home.start()
    with home.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (s string)")
        for _ in range(4):
            cursor.execute("INSERT INTO t (s) VALUES " + ",".join(["('%s')" % ("x" * 150)] * 50000))
        connection.commit()
        deaf = home.connect()
        deaf._execute_command(3, "SELECT s FROM t LIMIT 200000")

        def command():
            cursor.execute("SHOW PROCESSLIST")
            return next((row[4] for row in cursor.fetchall() if int(row[0]) == deaf.thread_id()), None)

        time.sleep(0.5)  # until no buffer on the way takes more
        expect(command() is not None, "the client is not in the list")
        cursor.execute(f"KILL {deaf.thread_id()}")
        deadline = time.monotonic() + 10
        while command() is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        expect(command() is None, "the connection is still there 10 s after KILL")
        deaf._force_close()
# entry: (h) 116
@check
def ranges_that_overlap_a_port_are_fatal(home):
    port = home.port
    home.write(f"listen = 127.0.0.1:{port}:mysql", f"listen = 127.0.0.1:{port - 2}-{port + 2}:replication")
    expect_fatal(home.run(), port)
    expect(not (home.folder / "data/searchd.pid").exists(), "the pid file is still there")


# entry: (h) 116
@check
def a_file_in_place_of_the_unix_socket_is_kept(home):
    path = home.folder / "s.sock"
    path.write_text("mine")
    home.write(f"listen = {path}:mysql")
    expect_fatal(home.run(), path)
    expect(path.read_text() == "mine", "the file was replaced")
    path.unlink()
    home.start()
    pid = home.pid()
    pymysql.connect(unix_socket=str(path), user="test").close()
    os.kill(pid, signal.SIGKILL)
    wait_for_end(pid)
    home.start()  # the socket of a dead server is no obstacle
    pymysql.connect(unix_socket=str(path), user="test").close()


# entry: (h) 116
@check
def ipv6_works_or_is_refused_in_one_line(home):
    home.write(f"listen = [::1]:{home.port}:mysql")
    done = home.run()
    if done.returncode != 0:
        expect_fatal(done, "::1")
        return
    pymysql.connect(host="::1", port=home.port, user="test").close()


# entry: (h) 113
@check
def a_stop_ends_a_crowd_of_readers_and_writers(home):
    home.start()
    pid = home.pid()
    with home.connect() as session, session.cursor() as cursor:
        cursor.execute("CREATE TABLE t (n int)")
        cursor.execute("INSERT INTO t (id, n) VALUES " + ",".join(f"({i},{i})" for i in range(1, 20001)))
        session.commit()
    acknowledged = []

    def work(number):
        with contextlib.suppress(pymysql.MySQLError, OSError):
            connection = home.connect()
            with connection.cursor() as cursor:
                for i in range(1_000_000):
                    if number < 4:
                        cursor.execute(f"INSERT INTO t (id, n) VALUES ({(number + 1) * 10_000_000 + i}, 0)")
                        connection.commit()
                        acknowledged.append(1)
                    else:
                        cursor.execute("SELECT n, n * 2 AS d FROM t ORDER BY d DESC LIMIT 5")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(104)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 50:
        time.sleep(0.01)
    begun = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    wait_for_end(pid, 20)
    expect(time.monotonic() - begun < 15, "the stop took too long")
    for thread in threads:
        thread.join(20)
    home.start()
    with home.connect() as session, session.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM t")
        rows = int(cursor.fetchone()[0])
        more = rows - 20000 - len(acknowledged)
        expect(0 <= more <= 4, f"{rows} rows, {len(acknowledged)} acknowledged")
    pid = home.pid()
    os.kill(pid, signal.SIGINT)
    wait_for_end(pid)
    log = (home.folder / "data/searchd.log").read_text()
    expect(log.endswith("stopped\n"), "SIGINT is no clean stop")


# entry: (h) 111
@check
def a_missing_data_folder_is_made_and_relative_paths_are_beside_the_config(home):
    listen = f"listen = 127.0.0.1:{home.port}:mysql"
    home.write(listen, "data_dir = deep/er/data", "log = deep/my.log", "pid_file = deep/my.pid")
    done = home.run()
    if done.returncode != 0:
        expect_fatal(done, home.folder / "deep")
        return
    pid = int((home.folder / "deep/my.pid").read_text())
    home.connect().close()
    os.kill(pid, signal.SIGTERM)
    wait_for_end(pid)
    expect((home.folder / "deep/my.log").exists(), "no log")


def make_table_with_chunks(home):
    """Two chunks, rows in RAM, deletes and updates of rows in both."""
    home.start()
    with home.connect() as session, session.cursor() as cursor:
        cursor.execute("CREATE TABLE goods (title text, n int, s string, j json, m multi) engine='columnar'")
        for first in (1, 2001, 4001):
            cursor.execute("INSERT INTO goods (id, title, n, s, j, m) VALUES " + ",".join(
                f"({i}, 'text {i}', {i % 7}, 'color {i % 5}', '{{\"k\":{i}}}', ({i % 3}, 9))" for i in range(first, first + 2000)))
            session.commit()
            if first < 4001:
                cursor.execute("FLUSH RAMCHUNK goods")
        cursor.execute("DELETE FROM goods WHERE id IN (1, 2001, 4001)")
        cursor.execute("UPDATE goods SET n = 100 WHERE id IN (2, 2002, 4002)")
        session.commit()


@check
def check_table_reads_every_file_of_a_table(home):
    make_table_with_chunks(home)
    done = home.run("--check-table", "goods")
    expect(done.returncode == 0 and "locked" in done.stdout and "no fault" in done.stdout, done)
    expect(home.run("--stopwait").returncode == 0, "--stopwait")
    done = home.run("--check-table", "GOODS")
    expect(done.returncode == 0 and done.stdout == "table goods: 2 chunks, 5997 rows, no fault\n", done)
    folder = next((home.folder / "data").glob("goods.t*"))
    files = sorted(folder.iterdir())
    expect({file.suffix for file in files} >= {".sph", ".spc", ".spa", ".spb", ".spds", ".spt"}, files)
    for file in files:
        sound = file.read_bytes()
        place = 64 + len(sound) // 3 if len(sound) > 1000 else 64
        for damaged in (sound[:place] + bytes([sound[place] ^ 16]) + sound[place + 1:], sound[:-1], b""):
            file.write_bytes(damaged)
            done = home.run("--check-table", "goods")
            expect(done.returncode == 1 and str(file) in done.stdout + done.stderr, f"{file}: {done}")
        file.unlink()
        done = home.run("--check-table", "goods")
        expect(done.returncode == 1 and str(file) in done.stdout + done.stderr, f"{file} is gone: {done}")
        file.write_bytes(sound)
    expect(home.run("--check-table", "goods").returncode == 0, "the table is whole again")


@check
def check_table_of_no_table_or_no_name_is_told(home):
    expect(home.run("--check-table", "goods").returncode == 1, "there is no data folder")
    expect(not (home.folder / "data").exists(), "--check-table made the data folder")
    for arguments in (["--check-table"], ["--check-table", ""], ["--check-table", "goods", "--check"]):
        done = home.run(*arguments)
        expect(done.returncode == 2, done)


def run_check(function):
    folder = tempfile.mkdtemp(prefix="stoa-start-")
    home = Home(folder)
    try:
        function(home)
        return True
    except Exception as error:  # any failure of a check is told and counted
        print(f"FAIL {function.__name__}: {type(error).__name__}: {error}")
        return False
    finally:
        home.clean()
        shutil.rmtree(folder, ignore_errors=True)


only = sys.argv[2:]
results = [run_check(function) for function in CHECKS if not only or function.__name__ in only]
print(f"{results.count(True)} passed, {results.count(False)} failed")
sys.exit(0 if all(results) else 1)
