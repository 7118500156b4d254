#!/usr/bin/python3
"""knn_dims.py SEARCHD [--full] [--seed S]: vectors of many lengths, compared with distances computed here.

For each length a row-wise and a columnar table with a vector column for every quantisation and similarity: a disk chunk
that is large enough for codes, rows in RAM. Searches in both access modes find k rows, nearest first, with their exact
distances. With fullscan, and with all rows as candidates, they are the nearest; with nearly all rows as candidates, and
as a user would search, the codes decide, and the share of the nearest rows that are found is checked. Then tables that are large enough for graphs, whose answers are compared with those of fullscan; what may be stored
and what is refused; what a cosine column returns. A case is one column in one engine and access mode. Last line: "N passed,
N failed".
"""

import argparse
import math
import operator
import random
import sys
import tempfile

import server_under_test as base
from server_under_test import expect, run

FULL = list(range(1, 201)) + [n + d for n in (256, 384, 768) for d in (-1, 0, 1)] + [1535, 1536, 1537]
SHORT = [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 64, 65, 100, 127, 128, 129, 200, 257]
QUANTIZATIONS = ("none", "8bit", "4bit", "1bit", "1bitsimple")
SIMILARITIES = ("l2", "ip", "cosine")
COLUMNS = [(f"v{i}_{quantization}_{similarity}", quantization, similarity) for i, (quantization, similarity) in
           enumerate((q, s) for q in QUANTIZATIONS for s in SIMILARITIES)]
ENGINES = ("rowwise", "columnar")
MODES = ("mmap", "file")
CHUNK_ROWS = 1030  # codes begin at 1,024 vectors
RAM_ROWS = 100
K = 10
ALL, NEARLY_ALL, SOME = CHUNK_ROWS, CHUNK_ROWS - 20, 3 * K  # candidates; the last: what is usual
# Of the nearest rows, the share that searches find by their codes, over all dims: few bits say little about vectors without
# structure. With nearly all rows as candidates only those are missed whose estimate was farther off than its bound.
LEAST_FOUND = {NEARLY_ALL: {"none": 0.999, "8bit": 0.999, "4bit": 0.99, "1bit": 0.99, "1bitsimple": 0.99},
               SOME: {"none": 0.999, "8bit": 0.999, "4bit": 0.98, "1bit": 0.6, "1bitsimple": 0.4}}
STATEMENT_BYTES = 4 << 20
# dims, quantisation, similarity, rows: more than 2 MiB of codes.
GRAPHS = ((3, "8bit", "l2", 68_000), (3, "1bit", "cosine", 68_000), (17, "none", "l2", 27_000), (64, "8bit", "ip", 27_000),
          (100, "4bit", "l2", 33_000), (100, "8bit", "cosine", 18_000), (129, "1bit", "l2", 45_000),
          (257, "none", "cosine", 7_600), (257, "8bit", "l2", 7_600), (257, "4bit", "ip", 14_000))
LEAST_FOUND_BY_WALK = 0.9
# One bit says so little that more candidates are needed.
WALK_OPTIONS = {"1bit": "ef=400, oversampling=40"}
USUAL_WALK_OPTIONS = "ef=200, oversampling=6"


def text(vector):
    return "(" + ",".join(map(str, vector)) + ")"


def dot(left, right):
    return sum(map(operator.mul, left, right))


class Vectors:
    """Rows of one length, mostly whole numbers: products are exact. Some are odd: no vector, zeros, equal ones."""

    def __init__(self, dims, seed):
        dice = random.Random(seed * 10_000 + dims)
        self.dims = dims
        self.rows = {row: dice.choices(range(-99, 100), k=dims) for row in range(1, CHUNK_ROWS + RAM_ROWS + 1)}
        for row in (3, CHUNK_ROWS + 3):
            self.rows[row] = [value / 8 for value in self.rows[row]]
        self.rows[7] = [0] * dims
        self.rows[9] = self.rows[CHUNK_ROWS + 9] = self.rows[8]
        if dims % 2:
            del self.rows[5], self.rows[CHUNK_ROWS + 5]
        self.squares = {row: dot(vector, vector) for row, vector in self.rows.items()}
        self.queries = [dice.choices(range(-99, 100), k=dims), self.rows[CHUNK_ROWS + 2]]

    def exact(self, query):
        """By similarity: row → distance, and how far a sum of 32-bit floats may be from it."""
        square = dot(query, query)
        distances = {similarity: {} for similarity in SIMILARITIES}
        for row, vector in self.rows.items():
            product = dot(vector, query)
            lengths = math.sqrt(self.squares[row] * square)
            distances["l2"][row] = self.squares[row] + square - 2 * product
            distances["ip"][row] = 1 - product
            distances["cosine"][row] = 1 - (product / lengths if lengths else 0)
        most = math.sqrt(max(self.squares.values()) * square)
        return distances, {"l2": 4e-6 * most, "ip": 1e-6 * most, "cosine": 2e-6}


class Cases:
    def __init__(self):
        self.passed = self.failed = 0

    def run(self, name, work):
        try:
            work()
            self.passed += 1
        except Exception as error:  # whatever went wrong is told and counted
            self.failed += 1
            if self.failed <= 50:
                print(f"FAIL {name}: {type(error).__name__}: {str(error)[:600]}", flush=True)


def check_answer(found, distances, slack, exact):
    """`found` are pairs of id and distance; slack: of a distance."""
    expect(len(found) == K, f"{len(found)} rows instead of {K}: {found}")
    expect(len({row for row, _ in found}) == K, f"a row is there twice: {found}")
    for row, distance in found:
        expect(row in distances, f"row {row} has no vector")
        near = abs(distance - distances[row]) <= slack + 1e-6 * abs(distances[row])
        expect(near, f"row {row} has distance {distance!r} instead of {distances[row]!r}")
    expect(found == sorted(found, key=lambda hit: (hit[1], hit[0])), f"the order is wrong: {found}")
    nearest = sorted(distances.values())[:K]
    for (_, distance), right in zip(found, nearest):
        expect(not exact or distance <= right + slack + 1e-6 * abs(right),
               f"{distance!r} instead of {right!r} is among the nearest: {found}")


def create(connection, name, dims, engine, columns):
    parts = ", ".join(f"{column} float_vector knn_type='hnsw' knn_dims='{dims}' hnsw_similarity='{similarity}' "
                      f"quantization='{quantization}'" for column, quantization, similarity in columns)
    run(connection, f"CREATE TABLE {name} (g int, {parts}) engine='{engine}' rt_mem_limit='2G'")


def fill(connection, name, vectors, rows, columns):
    names = ", ".join(["id", "g"] + [column for column, _, _ in columns])
    statement, size = [], 0
    for row in rows:
        vector = text(vectors.get(row, ()))
        statement.append(f"({row},{row % 2}," + ",".join([vector] * len(columns)) + ")")
        size += len(statement[-1])
        if size > STATEMENT_BYTES:
            run(connection, f"INSERT INTO {name} ({names}) VALUES " + ",".join(statement))
            statement, size = [], 0
    if statement:
        run(connection, f"INSERT INTO {name} ({names}) VALUES " + ",".join(statement))


class Lengths:
    """The tables of every length."""

    def __init__(self, server, cases, seed):
        self.connection = server.connect()
        self.cases = cases
        self.seed = seed
        self.found = {candidates: dict.fromkeys(QUANTIZATIONS, 0) for candidates in LEAST_FOUND}
        self.wanted = {candidates: dict.fromkeys(QUANTIZATIONS, 0) for candidates in LEAST_FOUND}

    def check(self, dims):
        vectors = Vectors(dims, self.seed)
        truths = [vectors.exact(query) for query in vectors.queries]
        for engine in ENGINES:
            create(self.connection, "t", dims, engine, COLUMNS)
            fill(self.connection, "t", vectors.rows, range(1, CHUNK_ROWS + 1), COLUMNS)
            run(self.connection, "FLUSH RAMCHUNK t")
            fill(self.connection, "t", vectors.rows, range(CHUNK_ROWS + 1, CHUNK_ROWS + RAM_ROWS + 1), COLUMNS)
            for mode in MODES:
                run(self.connection, f"ALTER TABLE t access_columnar_attrs='{mode}'")
                for column in COLUMNS:
                    self.cases.run(f"{dims} dims, {engine}, {mode}, {column[1]}, {column[2]}",
                                   lambda c=column: self.check_column(c, vectors, truths))
            self.cases.run(f"{dims} dims, {engine}, parts", lambda: self.check_parts(vectors))
            self.cases.run(f"{dims} dims, {engine}, cosine text", lambda: self.check_cosine_text(vectors))
            self.cases.run(f"{dims} dims, {engine}, refusals", lambda: self.check_refusals(dims))
            run(self.connection, "DROP TABLE t")

    def check_column(self, column, vectors, truths):
        name, quantization, similarity = column
        for query, (distances, slacks) in zip(vectors.queries, truths):
            of_all, slack = distances[similarity], slacks[similarity]
            of_some = {row: distance for row, distance in of_all.items() if row % 2 == 0}
            check_answer(self.search(name, query, "{fullscan=1}"), of_all, slack, True)
            check_answer(self.search(name, query, f"{{oversampling={ALL / K}}}"), of_all, slack, True)
            check_answer(self.search(name, query, "{fullscan=1}", "AND g = 0"), of_some, slack, True)
            check_answer(self.search(name, query, "", "AND g = 0"), of_some, slack, False)
            bound = sorted(of_all.values())[K - 1] + slack
            for candidates in LEAST_FOUND:
                found = self.search(name, query, f"{{oversampling={candidates / K}}}" if candidates != SOME else "")
                check_answer(found, of_all, slack, False)
                self.found[candidates][quantization] += sum(of_all[row] <= bound for row, _ in found)
                self.wanted[candidates][quantization] += K

    def search(self, column, query, options, condition=""):
        options = options and ", " + options
        return list(run(self.connection, f"SELECT id, knn_dist() FROM t WHERE knn({column}, {K}, {text(query)}{options}) "
                                         f"{condition} LIMIT {K}"))

    def check_parts(self, vectors):
        """Codes are what the searches above went by."""
        for column, _, _ in COLUMNS:
            self.search(column, vectors.queries[0], "")
            meta = dict(run(self.connection, "SHOW META LIKE 'knn%'"))
            expect(meta["knn_code_parts"] == "2", f"{column}: {meta}")

    def check_cosine_text(self, vectors):
        column = next(name for name, _, similarity in COLUMNS if similarity == "cosine")
        for row in (1, 3, 7, 9, CHUNK_ROWS + 1, CHUNK_ROWS + 3):
            stored = run(self.connection, f"SELECT {column} FROM t WHERE id = {row}")[0][0]
            length = math.sqrt(vectors.squares[row]) or 1
            values = [float(value) for value in stored.split(",")]
            expect(len(values) == vectors.dims, f"row {row} has {len(values)} values")
            for value, given in zip(values, vectors.rows[row]):
                expect(abs(value - given / length) < 1e-6, f"row {row}: {value!r} instead of {given / length!r}")

    def check_refusals(self, dims):
        """Of each statement nothing is stored, and what was there stays."""
        column = COLUMNS[0][0]
        before = run(self.connection, f"SELECT count(*), sum(crc32(to_string({column}))) FROM t")
        ones = ["1"] * (dims - 1)
        wrong = [text(ones)] if ones else []  # nothing at all is no vector
        wrong += [text(ones + ["1", "1"])]
        wrong += [text(ones + [value]) for value in ("nan", "-inf", "inf", "1e39", "-1e39", "1e999", "1e-", "NULL")]
        wrong += [text(ones + ["1", ""])] + [f"'{','.join(ones + [value])}'" for value in ("nan", "inf", "1e39", "x", "0x10", "1,")]
        for vector in wrong:
            for statement in (f"INSERT INTO t (id, {column}) VALUES (90001, {text(['0'] * dims)}), (90002, {vector})",
                              f"REPLACE INTO t (id, {column}) VALUES (1, {vector})",
                              f"UPDATE t SET {column} = {vector} WHERE id = 1",
                              f"SELECT id FROM t WHERE knn({column}, 3, {vector})"):
                number, message = base.error_of(self.connection, statement)
                expect(number in (1064, 1105, 1366), f"{statement[:60]}… {vector[-30:]}: error {number} {message}")
        expect(run(self.connection, f"SELECT count(*), sum(crc32(to_string({column}))) FROM t") == before,
               "a refused statement changed something")

    def check_found(self):
        for candidates, least in LEAST_FOUND.items():
            for quantization, found in self.found[candidates].items():
                share = found / max(1, self.wanted[candidates][quantization])
                print(f"{quantization}: {share:.4f} of the nearest rows among {candidates} candidates")
                self.cases.run(f"{quantization}: nearest rows among {candidates} candidates", lambda s=share, l=least[quantization]:
                               expect(s >= l, f"{s:.4f} instead of {l}"))


class Graphs:
    """Tables that are large enough for a graph."""

    QUERIES = 30

    def __init__(self, server, cases, seed):
        self.connection = server.connect()
        self.cases = cases
        self.seed = seed

    def check(self, dims, quantization, similarity, rows):
        dice = random.Random(self.seed * 10_000 + dims)
        vectors = {row: [round(value, 3) for value in self.vector(dice, dims)] for row in range(1, rows + 1)}
        columns = (("v", quantization, similarity),)
        for engine in ENGINES:
            create(self.connection, "graph", dims, engine, columns)
            fill(self.connection, "graph", vectors, vectors, columns)
            run(self.connection, "FLUSH RAMCHUNK graph")
            for mode in MODES:
                run(self.connection, f"ALTER TABLE graph access_columnar_attrs='{mode}'")
                queries = [[round(value, 3) for value in self.vector(dice, dims)] for _ in range(self.QUERIES)]
                self.cases.run(f"graph: {dims} dims, {engine}, {mode}, {quantization}, {similarity}, {rows} rows",
                               lambda q=queries: self.check_walks(q, WALK_OPTIONS.get(quantization, USUAL_WALK_OPTIONS)))
            run(self.connection, "DROP TABLE graph")

    @staticmethod
    def vector(dice, dims):
        """Around one of some places, as vectors of texts and pictures lie."""
        place = random.Random(dice.randrange(40) + 1)
        return [place.uniform(-1, 1) + dice.uniform(-0.7, 0.7) for _ in range(dims)]

    def check_walks(self, queries, options):
        found = walked = 0
        for query in queries:
            nearest = self.search(query, "fullscan=1")
            expect(len(nearest) == K, f"fullscan finds {len(nearest)} rows")
            hits = self.search(query, options)
            meta = dict(run(self.connection, "SHOW META LIKE 'knn%'"))
            walked += meta["knn_graph_parts"] == "1"
            expect(len(hits) == K, f"{len(hits)} rows instead of {K}")
            known = dict(nearest)
            for row, distance in hits:
                slack = 1e-5 * max(1, abs(distance))
                expect(row not in known or abs(known[row] - distance) <= slack, f"row {row}: {distance!r}, exact: {known.get(row)!r}")
                expect(distance >= nearest[0][1] - slack, f"row {row} is nearer than the nearest: {distance!r}")
                found += distance <= nearest[-1][1] + slack
            expect(hits == sorted(hits, key=lambda hit: (hit[1], hit[0])), f"the order is wrong: {hits}")
        expect(walked >= len(queries) * 0.9, f"only {walked} of {len(queries)} searches walked over the graph: {meta}")
        share = found / (K * len(queries))
        expect(share >= LEAST_FOUND_BY_WALK, f"{share:.3f} of the nearest rows instead of {LEAST_FOUND_BY_WALK}")

    def search(self, query, options):
        return list(run(self.connection,
                        f"SELECT id, knn_dist() FROM graph WHERE knn(v, {K}, {text(query)}, {{{options}}}) LIMIT {K}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("searchd")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dims", type=int, nargs="*", help="these lengths, no graphs")
    args = parser.parse_args()
    cases = Cases()
    with tempfile.TemporaryDirectory() as home:
        with base.Server(args.searchd, home, "binlog_flush = 0", "max_packet_size = 64M") as server:
            lengths = Lengths(server, cases, args.seed)
            for dims in args.dims or (FULL if args.full else SHORT):
                lengths.check(dims)
            lengths.check_found()
            graphs = Graphs(server, cases, args.seed)
            for graph in () if args.dims else GRAPHS if args.full else GRAPHS[7:8]:
                graphs.check(*graph)
            server.stop()
    print(f"{cases.passed} passed, {cases.failed} failed")
    return 1 if cases.failed or not cases.passed else 0


if __name__ == "__main__":
    sys.exit(main())
