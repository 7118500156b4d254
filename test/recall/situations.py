"""What happens to a table before it is searched, and the conditions of the searches.

A situation is a table and what is done to it, step by step; each step is a case that can be asked for by its name."""

import dataclasses
import typing

ALL = "all"  # rows of the set, each once
PLAIN, SHARES, NEAR_AND_FAR = "plain", "shares", "near and far"
PERCENTS = (50, 10, 1, 0.1)


@dataclasses.dataclass
class Step:
    name: str
    rows: str  # names the rows that are there afterwards: equal names, equal exact answers
    prepare: typing.Callable = lambda table: None
    conditions: tuple = (PLAIN,)


def numbered(first, end):
    return [(vector + 1, vector) for vector in range(first, end)]


def build(table):
    table.insert(numbered(0, len(table.vectors.rows)))
    table.merge()


def build_most(table):
    count = len(table.vectors.rows)
    table.insert(numbered(0, count * 4 // 5))
    table.merge()
    table.insert(numbered(count * 4 // 5, count))


def build_twice(table):
    """The second half of the rows repeats the vectors of the first."""
    half = len(table.vectors.rows) // 2
    table.insert((row + 1, row % half) for row in range(2 * half))
    table.merge()


def build_few_values(table):
    """Half of the rows have one of ten vectors."""
    half = len(table.vectors.rows) // 2
    table.insert((row + 1, row if row < half else row % 10) for row in range(2 * half))
    table.merge()


def build_chunks(table, count):
    total = len(table.vectors.rows)
    for chunk in range(count):
        table.insert(numbered(total * chunk // count, total * (chunk + 1) // count))
        table.flush()


def situations(chunks=10):
    return [
        [Step("build", ALL, build),
         Step("filtered", ALL, conditions=(SHARES,)),
         Step("correlated", ALL, conditions=(NEAR_AND_FAR,)),
         Step("restart", ALL, lambda table: table.restart()),
         Step("deleted half", "half", lambda table: table.delete_odd()),
         Step("deleted half, merged", "half", lambda table: table.merge())],
        [Step("inserted after", ALL, build_most),
         Step("inserted after, merged", ALL, lambda table: table.merge())],
        [Step("duplicates", "twice", build_twice, (PLAIN,))],
        [Step("ten values", "ten values", build_few_values, (PLAIN,))],
        [Step(f"{chunks} chunks", ALL, lambda table: build_chunks(table, chunks)),
         Step(f"{chunks} chunks, filtered", ALL, conditions=(SHARES,)),
         Step(f"{chunks} chunks, merged", ALL, lambda table: table.merge())],
    ]


def case_names(chunks=10):
    return [step.name for steps in situations(chunks) for step in steps]
