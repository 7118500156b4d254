"""The mariadb client as the demos use it."""

import subprocess


class DemoError(Exception):
    pass


class Client:
    """The mariadb client, one process a call."""

    def __init__(self, host, port):
        self.command = ["mariadb", "--no-defaults", f"--host={host}", f"--port={port}"]

    def table(self, sql, shown=None):
        """Shows the statement and its answer as a user sees them."""
        print(f"\nstoa> {shown or sql}", flush=True)
        subprocess.run(self.command + ["--table", "--execute", sql], check=True)

    def rows(self, statements):
        """The rows of all answers, cells as texts."""
        done = subprocess.run(self.command + ["--batch", "--skip-column-names"], input=";\n".join(statements) + ";\n",
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise DemoError(done.stderr.strip())
        return [line.split("\t") for line in done.stdout.splitlines()]

    def feed(self, chunks):
        with subprocess.Popen(self.command + ["--batch"], stdin=subprocess.PIPE) as process:
            try:
                for chunk in chunks:
                    process.stdin.write(chunk)
                process.stdin.close()
            except BrokenPipeError:
                pass  # it says itself why it ended
            if process.wait() != 0:
                raise DemoError("the rows could not be loaded")
