#!/usr/bin/env python3
"""docs/errors.md is made from sql/sql_error.h and sql/sql_error.cpp: `errors_doc.py` compares, `errors_doc.py --write` writes."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Texts that the storage makes, without a number of its own: where, and when it comes.
STORAGE = [
    ("storage/table/commit_pipeline.cpp", "table '{}' is locked", "a write, or a DDL, while LOCK TABLES … READ is in force"),
    ("storage/table/catalog_flush.cpp", "table '{}' is frozen", "FLUSH, OPTIMIZE, BACKUP or a DDL between FREEZE and UNFREEZE"),
    ("storage/table/catalog_background.cpp", "table '{}': {} bytes in memory, {} times rt_mem_limit, and they cannot become a "
     "disk chunk now (frozen, or see the log)", "a write to a table that was frozen, or whose flushes fail, for too long"),
    ("storage/table/local_catalog.cpp", "table '{}' is damaged and not available: {}", "a file of the table cannot be read; "
     "DROP TABLE works"),
    ("storage/table/local_catalog.cpp", "the catalog is read-only until its manifest can be written: {}", "the disk failed, or "
     "is full, while the manifest was written"),
    ("storage/table/catalog_flush.cpp", "table '{}' was dropped", "the table went while the statement waited for it"),
    ("sql/statements/maintenance.cpp", "{} requires an existing RT table, '{}' is none", "OPTIMIZE TABLE, FREEZE, BACKUP"),
    ("sql/statements/maintenance.cpp", "{} needs an absolute path, not '{}'", "BACKUP, IMPORT TABLE"),
    ("sql/statements/maintenance.cpp", "table '{}': IMPORT TABLE failed: {}", "the name is taken, or no table's name"),
    ("storage/table/catalog_copy.cpp", "{}: no table of {}/{} lies here", "IMPORT TABLE of a folder that its manifest does "
     "not name"),
]
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
    lines += ["", "Texts about tables and their files, all with number 1064:", "", "| text | when |", "|---|---|"]
    for path, text, when in STORAGE:
        if text not in re.sub(r'"\s*"', "", read(path)):
            sys.exit("%s does not say \"%s\" any more" % (path, text))
        lines.append("| `%s` | %s |" % (text, when))
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
