#!/usr/bin/python3
"""quickstart.py: packaging/quickstart.sh, twice, with 6,000 pictures, on a free port and in a folder of its own.

It has to end well, and so has the pictures' demo: recall, the same answers mapped and by file, nothing mapped by file.
The packages and the build are there already.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "server"))
import server_under_test as base  # noqa: E402

SEARCHD = ROOT / "build" / "release" / "searchd"
LEAST_RECALL = 0.95


def quickstart(home, port):
    settings = {"STOA_DEMO_IMAGES": "6000", "STOA_PORT": str(port), "STOA_SHARED": str(home / "none")}
    with open(home / "output", "w", encoding="utf-8") as sink:  # the server would keep a pipe open
        done = subprocess.run([ROOT / "packaging" / "quickstart.sh", home / "demo"], stdout=sink, stderr=subprocess.STDOUT,
                              env={**os.environ, **settings}, check=False, timeout=900)
    output = (home / "output").read_text(encoding="utf-8")
    base.expect(done.returncode == 0, f"code {done.returncode}:\n{output[-3000:]}")
    return output


def check_output(output):
    base.expect("| Frankenstein" in output, f"there are no books:\n{output}")
    recalls = [float(recall) for recall in re.findall(r"fullscan=1}: ([\d.]+);", output)]
    base.expect(len(recalls) == 2 and min(recalls) >= LEAST_RECALL, f"recall {recalls}, not twice {LEAST_RECALL}")
    base.expect("mmap and file give the same answers" in output, "mmap and file give different answers")
    mapped = [int(size) for size in re.findall(r"chunk\.\d+\.spc +\| +\d+ +\| +(\d+)", output)]
    base.expect(len(mapped) == 2 and mapped[0] > 0 and mapped[1] == 0, f"mapped bytes of .spc: {mapped}")
    first = re.search(r"WHERE knn\(picture, 7\) LIMIT 5\n(.*?)\n\n", output, re.DOTALL)
    base.expect(first and first.group(1).count("| Sneaker") == 5, "the nearest of a sneaker are no sneakers")


def starts_and_runs_again(home):
    port = base.free_port()
    (home / "demo").mkdir()
    try:
        for _ in range(2):
            check_output(quickstart(home, port))
    finally:
        stopped = subprocess.run([SEARCHD, "--stopwait"], cwd=home / "demo", capture_output=True, text=True, check=False)
    base.expect(stopped.returncode == 0, f"--stopwait: {stopped.stdout}{stopped.stderr}")


if __name__ == "__main__":
    sys.exit(base.run_checks([starts_and_runs_again], sys.argv[1:]))
