#!/usr/bin/env python3
"""docs/errors.md is made from sql/sql_error.h and sql/sql_error.cpp: `errors_doc.py` compares, `errors_doc.py --write` writes."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STATUS = {"kInvalid": "the statement is wrong", "kNotFound": "the named thing does not exist",
          "kExists": "it exists already", "kUnsupported": "understood, not built yet", "kLimit": "a limit was hit",
          "kCancelled": "the statement was ended"}


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as f:
        return f.read()


def states(source):
    table = dict(re.findall(r'case (\d+):\s+return "(\w+)";', source[source.index("SqlState(uint16_t"):]))
    default = re.search(r'default:\s+return "(\w+)";', source[source.index("SqlState(uint16_t"):])[1]
    return table, default


def rows(source):
    """Each maker of sql_error.cpp: its number, code and text with the arguments in braces."""
    for name, body in re.findall(r"^Status (\w+)\([^)]*\) \{(.*?)^\}", source, re.M | re.S):
        made = re.search(r"Make\(StatusCode::(\w+), (\d+)", body)
        text = re.search(r'"([^"]*)"', body)
        if name == "SyntaxError":
            yield name, "kInvalid", "1064", "the text says what and where, e.g. `P01: syntax error, unexpected …`"
        elif "TableError(" in body and not made:
            yield name, "kInvalid", "1064", "`table {}: %s`" % text[1]
        elif made:
            yield name, made[1], made[2], "`%s`" % text[1]


def page():
    source = read("sql/sql_error.cpp")
    table, default = states(source)
    lines = ["# Errors", "", "Made from `sql/sql_error.cpp` by `test/lint/errors_doc.py --write`. `{}` stands for a name or value of the",
             "statement. Errors that no row here names have number 1064 (SQLSTATE %s)." % default, "",
             "| number | SQLSTATE | meaning | text | made by |", "|---|---|---|---|---|"]
    for name, code, number, text in sorted(rows(source), key=lambda r: (int(r[2]), r[0])):
        lines.append("| %s | %s | %s | %s | `%s` |" % (number, table.get(number, default), STATUS.get(code, code), text, name))
    lines += ["", "Numbers that other parts attach to their own texts, with their SQLSTATE:", ""]
    lines += ["| number | SQLSTATE |", "|---|---|"]
    lines += ["| %s | %s |" % (number, state) for number, state in sorted(table.items(), key=lambda r: int(r[0]))]
    return "\n".join(lines) + "\n"


def main():
    path = os.path.join(TOP, "docs/errors.md")
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as f:
            f.write(page())
        return 0
    if not os.path.exists(path) or read("docs/errors.md") != page():
        print("docs/errors.md is not what sql/sql_error.cpp says: run test/lint/errors_doc.py --write")
        return 1
    print("errors: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
