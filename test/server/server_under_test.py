"""What the checks of this folder share: a searchd, statements, tables of many rows, and the list of checks."""

import hashlib
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import traceback

import pymysql


class Failed(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failed(text)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A searchd in the foreground with a data folder of its own."""

    def __init__(self, searchd, home, *lines, data_dir=None, arguments=(), limits=()):
        self.searchd = searchd
        self.folder = pathlib.Path(home)
        self.folder.mkdir(exist_ok=True)
        self.data_dir = pathlib.Path(data_dir or self.folder / "data")
        self.lines = lines
        self.arguments = list(arguments)
        self.limits = dict(limits)
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        if self.process and self.process.poll() is None:
            self.kill()

    def write_config(self):
        self.port = free_port()
        lines = (f"listen = 127.0.0.1:{self.port}:mysql", f"data_dir = {self.data_dir}") + self.lines
        if not any(line.startswith("auto_optimize") for line in lines):
            lines += ("auto_optimize = 0",)
        self.config = self.folder / "searchd.conf"
        self.config.write_text("searchd {\n" + "\n".join(lines) + "\n}\n")

    def start(self):
        self.write_config()
        self.errors = open(self.folder / "stderr", "w+", encoding="utf-8")
        self.process = subprocess.Popen([self.searchd, "--config", str(self.config), "--nodetach"] + self.arguments,
                                        stdout=subprocess.DEVNULL, stderr=self.errors, preexec_fn=self.set_limits)
        deadline = time.monotonic() + 120
        while True:
            try:
                self.connect().close()
                return
            except pymysql.Error:
                expect(self.process.poll() is None, f"the server has ended: {self.error_text()}")
                expect(time.monotonic() < deadline, "the server does not accept connections")
                time.sleep(0.01)

    def set_limits(self):
        for name, value in self.limits.items():
            resource.setrlimit(name, value if isinstance(value, tuple) else (value, value))

    def error_text(self):
        return (self.folder / "stderr").read_text()[-2000:]

    def stop(self, seconds=60, codes=(0,)):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed("the server does not stop")
        expect(code in codes, f"the server stopped with code {code}: {self.error_text()}")

    def restart(self):
        self.stop()
        self.start()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def connect(self):
        return pymysql.connect(host="127.0.0.1", port=self.port, user="test", autocommit=True, connect_timeout=5,
                               read_timeout=600, charset="utf8mb4")

    def check_table(self, name):
        """The exit code and the output of --check-table; the server must not run."""
        self.write_config()
        done = subprocess.run([self.searchd, "--config", str(self.config), "--check-table", name], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def status_of_process(self, name):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        raise Failed(f"/proc has no {name}")

    def files(self, table):
        return sorted(file for file in self.data_dir.glob(f"{table}.t*/*") if file.is_file())


def run(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def affected(connection, sql):
    with connection.cursor() as cursor:
        return cursor.execute(sql)


def one(connection, sql):
    return run(connection, sql)[0][0]


def error_of(connection, sql):
    try:
        run(connection, sql)
    except pymysql.Error as error:
        return error.args[0], str(error.args[-1])
    return 0, ""


def status(connection, table, name):
    return run(connection, f"SHOW TABLE {table} STATUS LIKE '{name}'")[0][1]


def optimize(connection, table, cutoff=1):
    run(connection, f"OPTIMIZE TABLE {table} OPTION sync=1, cutoff={cutoff}")


def insert(connection, table, columns, rows, verb="INSERT"):
    """Rows are texts "(1, 'x')"; 1,000 a statement."""
    rows = list(rows)
    for start in range(0, len(rows), 1000):
        run(connection, f"{verb} INTO {table} ({columns}) VALUES " + ", ".join(rows[start:start + 1000]))


def contents(connection, table, columns="*"):
    return run(connection, f"SELECT {columns} FROM {table} ORDER BY id ASC LIMIT 100000000")


def checksum(connection, table, columns="*"):
    digest = hashlib.sha256()
    count = 0
    for row in contents(connection, table, columns):
        digest.update(repr(row).encode())
        count += 1
    return count, digest.hexdigest()


def milliseconds(work):
    start = time.monotonic()
    work()
    return (time.monotonic() - start) * 1000


def best_time(connection, sql, rounds=15):
    """The shortest of some runs, in milliseconds: what else the machine does then matters little."""
    return min(milliseconds(lambda: run(connection, sql)) for _ in range(rounds))


def run_checks(checks, only):
    passed = failed = 0
    for function in checks:
        if only and function.__name__ not in only:
            continue
        home = pathlib.Path(tempfile.mkdtemp(prefix="stoa-checks-"))
        start = time.monotonic()
        try:
            function(home)
            passed += 1
            print(f"ok   {function.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
        except Exception as error:  # any failure of a check is told and counted
            failed += 1
            where = traceback.extract_tb(error.__traceback__)
            source = function.__code__.co_filename
            line = next((frame.lineno for frame in reversed(where) if frame.filename == source), 0)
            print(f"FAIL {function.__name__}:{line}: {type(error).__name__}: {str(error)[:1500]}", flush=True)
        finally:
            shutil.rmtree(home, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
