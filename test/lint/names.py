#!/usr/bin/python3
"""Names of files and types: words that say nothing are banned, files are lower_case."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "common", "manager", "misc"}
FILE = re.compile(r"^[a-z0-9_]+\.(h|cpp)$")
TYPE = re.compile(r"^\s*(?:class|struct)\s+(?:CAPABILITY\([^)]*\)\s*|SCOPED_CAPABILITY\s+)?(\w+)\b[^;]*$", re.M)


def words_of_type(name):
    return {word.lower() for word in re.findall(r"[A-Z][a-z0-9]*", name)}


names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
found = []
for path in names.split("\n"):
    if not path:
        continue
    name = pathlib.PurePath(path).name
    stem = name.split(".")[0]
    if EMPTY_WORDS & set(re.split(r"[_-]", stem.lower())):
        found.append(f"{path}: the name says nothing")
    if path.endswith((".h", ".cpp")):
        if not FILE.match(name):
            found.append(f"{path}: file names are lower_case with underscores")
        for match in TYPE.finditer((ROOT / path).read_text(encoding="utf-8")):
            if EMPTY_WORDS & words_of_type(match[1]):
                found.append(f"{path}: the name of {match[1]} says nothing")
print("\n".join(found) if found else "names: ok")
sys.exit(1 if found else 0)
