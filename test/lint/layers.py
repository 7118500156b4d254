#!/usr/bin/python3
"""Which layer may include which, and what may not be used at all. The build refuses the first too; this names the line."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAY_INCLUDE = {
    "storage/base": ["storage/base"],
    "storage": ["storage"],
    "knn": ["knn", "storage"],
    "sql": ["sql", "knn", "storage"],
    "config": ["config", "storage/base"],
    "daemon": ["daemon", "sql", "knn", "storage", "config"],
}
BANNED = [
    (re.compile(r"#include <(format|expected)>"), "libstdc++ 12 does not have it"),
    (re.compile(r"std::atomic<std::shared_ptr"), "use SnapshotCell"),
    (re.compile(r"^using namespace ", re.M), "no using namespace"),
]
COROUTINES = re.compile(r"\bco_(await|return|yield)\b")
INCLUDE = re.compile(r'#include "([^"]+)"')


def layer_of(path):
    return next((layer for layer in MAY_INCLUDE if path.startswith(layer + "/")), None)


def check(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, reason in BANNED if "NOLINT(" not in line else []:
            if pattern.search(line):
                yield f"{path}:{number}: {line.strip()}: {reason}"
        layer = layer_of(path)
        if layer is None:
            continue
        if COROUTINES.search(line) and layer != "daemon" and not line.lstrip().startswith("//"):
            yield f"{path}:{number}: coroutines are for daemon/ only"
        include = INCLUDE.search(line)
        if include and not any(include[1].startswith(allowed + "/") for allowed in MAY_INCLUDE[layer]):
            yield f'{path}:{number}: {layer}/ may not include "{include[1]}" (paths count from the root)'


names = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
found = [text for path in names.split() for text in check(path)]
print("\n".join(found) if found else "layers: ok")
sys.exit(1 if found else 0)
