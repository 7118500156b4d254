#!/usr/bin/python3
"""Sizes of files and functions (limits below). Reads formatted C++, so it counts lines and braces, no more.

Exceptions stand in size_exceptions.txt, one a line with its reason: path[:function] reason
"""

import pathlib
import re
import subprocess
import sys

FILE_LINES = 700
FUNCTION_LINES = 80
PARAMETERS = 6
NESTING = 4

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_FUNCTIONS = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|if|for|while|switch|else|do|try|return|case)\b")
CONTROL = re.compile(r"(^|[^\w])(if|for|while|switch|else|do|try|catch)\b[^;]*$")
NAME = re.compile(r"([~\w:]+|operator[^\s(]+)\s*\(")


def strip(text):
    """Blanks out comments, strings and characters; keeps line breaks."""
    pattern = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0][0] == "/" else '""' + "\n" * m[0].count("\n"), text)


def count_parameters(head):
    match = NAME.search(head)
    if not match:
        return 0
    depth, count, seen = 0, 0, False
    for c in head[match.end() - 1:]:
        if c in "(<[{":
            depth += 1
        elif c in ")>]}":
            depth -= 1
            if depth == 0:
                break
        elif depth == 1 and c == ",":
            count += 1
        elif not c.isspace():
            seen = True
    return count + 1 if seen else 0


def check_function(path, lines, first, last, head):
    match = NAME.search(head)
    name = match[1] if match else "?"
    where = f"{path}:{first + 1}: {name}"
    key = f"{path}:{name}"
    if last - first + 1 > FUNCTION_LINES:
        yield key, f"{where} has {last - first + 1} lines, at most {FUNCTION_LINES}"
    parameters = count_parameters(head)
    if parameters > PARAMETERS:
        yield key, f"{where} has {parameters} parameters, at most {PARAMETERS}"
    deepest, stack, statement = 0, [], ""
    for c in "\n".join(lines[first:last + 1])[len(head):]:
        if c == "{":
            stack.append(bool(CONTROL.search(statement)))
            deepest = max(deepest, sum(stack))
            statement = ""
        elif c == "}":
            if stack:
                stack.pop()
            statement = ""
        elif c == ";":
            statement = statement if statement.count("(") > statement.count(")") else ""
        else:
            statement += c
    if deepest > NESTING:
        yield key, f"{where} nests {deepest} deep, at most {NESTING}"


def check_file(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    lines = strip(text).split("\n")
    if len(lines) - 1 > FILE_LINES:
        yield path, f"{path}: {len(lines) - 1} lines, at most {FILE_LINES}"
    at = 0
    while at < len(lines):
        line = lines[at]
        start = at
        if line.endswith("{") and not NOT_FUNCTIONS.match(line):
            # The head may have begun some lines above.
            while start > 0 and lines[start - 1].strip() and not lines[start - 1].rstrip().endswith((";", "}", "{", ":")):
                start -= 1
            head = "\n".join(lines[start:at + 1])
            if "(" in head and "=" not in head.split("(")[0] and not NOT_FUNCTIONS.match(head) and not head.lstrip().startswith("#"):
                indent = re.match(r"\s*", lines[start])[0]
                end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith(indent + "}")), at)
                yield from check_function(path, lines, start, end, head)
                at = end
        at += 1


def main():
    listed = (ROOT / "test/lint/size_exceptions.txt").read_text().splitlines()
    exceptions = {line.split()[0] for line in listed if line and not line.startswith("#")}
    names = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [text for path in names.split() for key, text in check_file(path) if key not in exceptions]
    print("\n".join(found) if found else "sizes: ok")
    return 1 if found else 0


sys.exit(main())
