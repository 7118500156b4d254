"""Recall of searches against the exact search of the same server."""

import array
import dataclasses
import statistics
import time

from server_under_test import expect
from situations import ALL, NEAR_AND_FAR, PERCENTS, PLAIN, SHARES

LEAST = {"none": 0.98, "8bit": 0.98, "4bit": 0.95, "1bit": 0.95}
MOST_COMPUTED, COMPUTED_K, COMPUTED_ROWS = 0.03, 20, 200_000  # distances of a search, as a share of the rows
CHECKED_QUERIES = 20  # of the exact search against known distances


@dataclasses.dataclass
class Measured:
    case: str
    kind: str
    k: int
    recall: float
    milliseconds: float  # median, client's view
    computed: float      # distances and estimates, median, as a share of the live rows
    rescored: float
    ways: str            # how parts were searched, by the last query
    faults: tuple


@dataclasses.dataclass
class Asked:
    """One kind of condition: what it is called and the WHERE of each query."""
    label: str
    wheres: list
    ks: tuple


class ExactAnswers:
    """Exact answers by what is in the table, condition and query, computed once for all quantisations."""

    def __init__(self, deepest):
        self.deepest = deepest
        self.answers = {}
        self.rankings = {}

    def check(self, table, rows):
        """The exact search itself, where true distances are known."""
        for query, truth in zip(table.vectors.queries[:CHECKED_QUERIES], table.vectors.truth):
            found = self.of(table, rows, query, "")
            for place, (exact, true) in enumerate(zip(found, truth)):
                expect(abs(exact - true) <= 1e-4 * abs(true) + 1e-5,
                       f"the exact search tells {exact} of row {place + 1} of the answer, the truth is {true}")

    def of(self, table, rows, query, where):
        key = (rows, query, where)
        if key not in self.answers:
            found = table.search(query, self.deepest, ", {fullscan=1}", where)
            self.answers[key] = [distance for _, distance in found]
        return self.answers[key]

    def ranking(self, table, rows, query):
        if (rows, query) not in self.rankings:
            self.rankings[rows, query] = array.array("Q", table.ranking(query))
        return self.rankings[rows, query]


def among(column, ids):
    return f" AND {column} IN ({','.join(map(str, ids))})"


class Measurement:
    """Searches of one vector set. `ks`: depths; `correlated`: queries whose condition is made for them."""

    def __init__(self, vectors, ks, queries, filtered, correlated, options=""):
        self.vectors = vectors
        self.ks = ks
        self.queries = queries
        self.filtered = filtered
        self.correlated = correlated
        self.options = f", {{{options}}}" if options else ""
        self.exact = ExactAnswers(max(ks))
        self.index_bytes = {}  # of a row, by case and quantisation

    def conditions(self, table, step):
        for kind in step.conditions:
            if kind == PLAIN:
                yield Asked("", [""] * self.queries, self.ks)
            elif kind == SHARES:
                for percent in PERCENTS:
                    yield Asked(f", {percent} % pass", [f" AND g < {int(percent * 10)}"] * self.filtered, self.ks[:3])
            elif kind == NEAR_AND_FAR:
                yield from self.correlated_conditions(table, step)

    def correlated_conditions(self, table, step):
        queries = self.vectors.queries[:self.correlated]
        rankings = [self.exact.ranking(table, step.rows, query) for query in queries]
        for percent in PERCENTS:
            passing = [max(int(len(ranking) * percent / 100), 1) for ranking in rankings]
            yield Asked(f", nearest {percent} % pass",
                        [among("n", ranking[:count]) for ranking, count in zip(rankings, passing)], self.ks[:3])
            yield Asked(f", farthest {percent} % pass",
                        [among("n", ranking[-count:]) for ranking, count in zip(rankings, passing)], self.ks[:3])

    def measure(self, table, step):
        if step.rows == ALL:
            self.exact.check(table, step.rows)
        for asked in self.conditions(table, step):
            for k in asked.ks:
                yield self.one(table, step, asked, k)

    def one(self, table, step, asked, k):
        right = wanted = short = 0
        seconds, computed, rescored = [], [], []
        for query, where in zip(self.vectors.queries, asked.wheres):
            start = time.monotonic()
            found = table.search(query, k, self.options, where)
            seconds.append(time.monotonic() - start)
            told = table.meta()
            computed.append(float(told["knn_distance_computations"]))
            rescored.append(float(told["knn_rescored"]))
            exact = self.exact.of(table, step.rows, query, where)[:k]
            bound = exact[-1] * (1 + 1e-5) + 1e-6 if exact else 0
            right += len({row for row, distance in found if distance <= bound})
            wanted += len(exact)
            short += len({row for row, _ in found}) != len(exact)
        measured = Measured(step.name + asked.label, table.kind, k, right / max(wanted, 1),
                            1000 * statistics.median(seconds), statistics.median(computed) / len(table.ids),
                            statistics.median(rescored),
                            "/".join(told[f"knn_{way}_parts"] for way in ("exact", "graph", "code")), ())
        return dataclasses.replace(measured, faults=tuple(self.faults(measured, asked, len(table.ids), short)))

    def faults(self, measured, asked, rows, short):
        if measured.recall < LEAST[measured.kind] and not self.options:
            yield f"recall below {LEAST[measured.kind]}"
        if short:
            yield f"{short} answers are too short or have a row twice"
        if (rows >= COMPUTED_ROWS and measured.k == COMPUTED_K and not asked.label
                and measured.computed > MOST_COMPUTED):
            yield f"computes distances to more than {100 * MOST_COMPUTED:g} % of the rows"
