#!/usr/bin/python3
"""Relative links in the documents lead to files that are there."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")

names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
found = []
for path in names.split("\n"):
    if not path:
        continue
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").split("\n"), 1):
        for target in LINK.findall(line):
            if "://" not in target and not (ROOT / path).parent.joinpath(target).exists():
                found.append(f"{path}:{number}: no such file: {target}")
print("\n".join(found) if found else "links of documents: ok")
sys.exit(1 if found else 0)
