#!/usr/bin/python3
"""run_docs.py SEARCHD [--show] [DOCUMENT.md…]: what the documents tell users to type is typed, and answers what they print.

Each document has a fresh server and an empty home folder, in which its fenced blocks run in order:

- ```sql: all of it through `mariadb --table`, a session a block; it has to succeed. Not run after <!-- test: skip -->.
- ```sh, ```python: only after the line <!-- test: run -->.
- any block after <!-- test: file NAME --> is written to that file.
- ```text right behind a block that ran is its output. In it, … stands for any text of its line or cell, a line … alone
  for any lines; how wide a column is does not matter. An error is its line `ERROR 1064 (42000): …`. After
  <!-- test: about --> its numbers may be a quarter more or less.

<!-- test: needs images --> leaves out what follows unless Debian's dataset-fashion-mnist is there. Port 9306 is the
server's, 9307 another free one, build/release/searchd is SEARCHD, packaging/ and /backups are where they are.
--show prints every answer, for those who write documents.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "server"))
import server_under_test as base  # noqa: E402

DOCUMENTS = ("docs/getting-started.md", "docs/guide-knn.md", "docs/guide-columnar.md", "docs/sql/knn.md",
             "docs/sql/maintenance.md")
IMAGES = pathlib.Path("/usr/share/datasets/fashion-mnist")
MARK = re.compile(r"<!-- test: (.+) -->")
FENCE = re.compile(r"```(\w*)$")
NUMBER = re.compile(r"\d+(?:\.\d+)?")

# Judged before any document: what a wrong document has to give.
WRONG_DOCUMENT = """
```sql
SELECT 1 AS one;
```
```text
+-----+
| one |
+-----+
|   1 |
+-----+
```
```sql
SELECT 1 AS one;
```
```text
+-----+
| one |
+-----+
|   2 |
+-----+
```
```sql
SELECT 1000 AS many;
```
<!-- test: about -->
```text
+------+
| many |
+------+
| 1100 |
+------+
```
```sql
SELECT 1000 AS many, 2 AS few;
```
<!-- test: about -->
```text
+------+-----+
| many | few |
+------+-----+
| 1000 |   3 |
+------+-----+
```
```sql
SELECT nothing FROM nowhere;
```
<!-- test: run -->
```sh
false
```
"""


class Block:
    def __init__(self, line, language, text, mark):
        self.line = line
        self.language = language
        self.text = text
        self.mark = mark
        self.expected = None
        self.about = False  # its expected output


def read_blocks(text):
    """Blocks in order; the output of one belongs to it. Marks that stand alone become blocks of language "mark"."""
    blocks, mark, inside, before = [], "", None, None
    for number, line in enumerate(text.split("\n"), 1):
        if inside is not None:
            if line != "```":
                inside.text += line + "\n"
                continue
            if inside.language == "text" and before is not None:
                before.expected, before.about = inside.text, inside.mark == "about"
                before = None
            else:
                blocks.append(inside)
                before = inside
            inside = None
        elif FENCE.match(line):
            inside = Block(number, FENCE.match(line).group(1), "", mark)
            mark = ""
        elif MARK.match(line):
            mark = MARK.match(line).group(1)
            if mark.startswith("needs "):
                blocks.append(Block(number, "mark", "", mark))
                mark = ""
            if mark != "about":
                before = None
        elif line.strip():
            before = None
    return blocks


def plain(text):
    """Lines without what may differ: the width of columns, and what the client adds to an error."""
    text = re.sub(r"-{14}\n.*?\n-{14}\n\n", "", text, flags=re.DOTALL)
    lines = []
    for line in text.rstrip("\n").split("\n"):
        line = re.sub(r"^(ERROR \d+ \(\w+\)) at line \d+", r"\1", line.rstrip())
        if line.startswith("+-"):
            line = "+"
        elif line.startswith("|"):
            line = "|".join(cell.strip() for cell in line.split("|"))
        lines.append(line)
    return lines


def line_pattern(line, about):
    any_text = r"[^|\n]*" if line.startswith("|") else r"[^\n]*"

    def literally(text):
        if not about:
            return re.escape(text)
        return f"({NUMBER.pattern})".join(map(re.escape, NUMBER.split(text)))

    return any_text.join(map(literally, line.split("…"))) + "\n"


def is_answer(expected, about, output):
    """Whether the output is what the document prints; `about`: numbers may be a quarter more or less."""
    lines = plain(expected)
    parts = [r"(?:[^\n]*\n)*?" if line == "…" else line_pattern(line, about) for line in lines]
    match = re.fullmatch("".join(parts), "\n".join(plain(output)) + "\n")
    if not match:
        return False
    wanted = [float(number) for line in lines if line != "…" for number in NUMBER.findall(line)] if about else []
    return all(abs(float(found) - number) <= number / 4 for found, number in zip(match.groups(), wanted))


class Guide:
    """A document that is being followed."""

    def __init__(self, searchd, server, home):
        self.home = home
        self.server = server
        self.show = False
        self.places = {"9306": str(server.port), "9307": str(base.free_port()), "build/release/searchd": str(searchd),
                       "packaging/": f"{ROOT}/packaging/", "/backups": f"{home}/backups"}

    def placed(self, text):
        places = "|".join(map(re.escape, self.places))
        return re.sub(rf"(?<![\w/.])({places})(?!\d)", lambda match: self.places[match.group(1)], text)

    def command(self, block):
        if block.language == "sql" and block.mark != "skip":
            return ["mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={self.server.port}", "--table"]
        if block.mark == "run":
            return {"sh": ["bash", "-eu", "-o", "pipefail", "-s"], "python": ["/usr/bin/python3", "-"]}[block.language]
        return None

    def run(self, block):
        """What is wrong, None when nothing is; "" when the block is not one to run."""
        if block.mark.startswith("file "):
            (self.home / block.mark[5:]).write_text(self.placed(block.text), encoding="utf-8")
            return ""
        command = self.command(block)
        if command is None:
            return ""
        # A file, since a server that a block starts keeps a pipe open.
        output_file = self.home / ".output"
        with open(output_file, "w", encoding="utf-8") as sink:
            done = subprocess.run(command, input=self.placed(block.text).encode(), stdout=sink, stderr=subprocess.STDOUT,
                                  cwd=self.home, env={**os.environ, "HOME": str(self.home)}, check=False, timeout=600)
        output = output_file.read_text(encoding="utf-8")
        if self.show:
            print(f"line {block.line}:\n{output}")
        fails = bool(block.expected and block.expected.startswith("ERROR"))
        if (done.returncode != 0) != fails:
            return f"ended with code {done.returncode}:\n{output}"
        if block.expected is not None:
            if not is_answer(self.placed(block.expected), block.about, output):
                return f"answers\n{output}and not\n{block.expected}"
        return None

    def clean_up(self):
        """Ends servers that the document left running."""
        for file in self.home.rglob("*.pid"):
            text = file.read_text(encoding="utf-8").strip()
            if text.isdigit() and int(text) != self.server.process.pid:
                try:
                    os.kill(int(text), signal.SIGKILL)
                except ProcessLookupError:
                    pass


def follow(searchd, name, text, show=False):
    """Numbers of blocks that did what the document says, and that did not."""
    passed, failures = 0, []
    with tempfile.TemporaryDirectory(prefix="stoa-docs-") as folder:
        home = pathlib.Path(folder) / "home"
        home.mkdir()
        (home / "backups").mkdir()
        with base.Server(searchd, pathlib.Path(folder) / "server") as server:
            guide = Guide(searchd, server, home)
            guide.show = show
            try:
                for block in read_blocks(text):
                    if block.mark == "needs images" and not IMAGES.exists():
                        print(f"{name}: left out from line {block.line} on: dataset-fashion-mnist is not installed")
                        break
                    wrong = guide.run(block)
                    if wrong is None:
                        passed += 1
                    elif wrong:
                        failures.append(f"FAIL {name}:{block.line}: {wrong}")
            finally:
                guide.clean_up()
    return passed, failures


def main():
    searchd = pathlib.Path(sys.argv[1]).resolve()
    names = [name for name in sys.argv[2:] if name != "--show"] or DOCUMENTS
    passed = failed = 0
    right, wrong = follow(searchd, "a wrong document", WRONG_DOCUMENT)
    if (right, len(wrong)) == (2, 4):
        passed += 1
    else:
        failed += 1
        print(f"FAIL a wrong document has {right} right blocks, {len(wrong)} wrong ones")
    for name in names:
        right, wrong = follow(searchd, name, (ROOT / name).read_text(encoding="utf-8"), "--show" in sys.argv)
        print(f"{name}: {right} blocks as written, {len(wrong)} not")
        if not right and not wrong and IMAGES.exists():
            wrong = [f"FAIL {name}: nothing in it was run"]
        for text in wrong:
            print(text)
        passed += right
        failed += len(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
