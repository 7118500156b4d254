#!/usr/bin/python3
"""recall.py SEARCHD BASE.fvecs QUERIES.fvecs l2|cosine [--queries 200] [--kinds none,8bit,4bit,1bit] [--rows N]

Loads the vectors into one columnar table a quantisation through SQL, makes one disk chunk of it, and prints recall@k
with default options (oversampling = 3.0, rescore = 1, no ef) against the exact search of the same server
({fullscan=1}), with what SHOW META says of the work. A row counts as right when it is no farther than the true k-th.
"""
import argparse
import array
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
import server_under_test  # noqa: E402


def read_fvecs(path, most):
    vectors = []
    with open(path, "rb") as file:
        while len(vectors) < most:
            head = file.read(4)
            if len(head) < 4:
                break
            dims = int.from_bytes(head, "little")
            floats = array.array("f")
            floats.frombytes(file.read(4 * dims))
            vectors.append(floats)
    return vectors


def literal(vector):
    return "(" + ",".join("%g" % value for value in vector) + ")"


def load(cursor, table, vectors, metric, kind, batch=500):
    quantization = "" if kind == "none" else f" QUANTIZATION='{kind}'"
    cursor.execute(f"CREATE TABLE {table} (g int, v float_vector knn_type='hnsw' knn_dims='{len(vectors[0])}' "
                   f"hnsw_similarity='{metric}'{quantization}) engine='columnar'")
    start = time.time()
    for first in range(0, len(vectors), batch):
        rows = ",".join(f"({first + i + 1},{(first + i) % 1000},{literal(vector)})"
                        for i, vector in enumerate(vectors[first:first + batch]))
        cursor.execute(f"INSERT INTO {table} (id,g,v) VALUES {rows}")
    loaded = time.time()
    cursor.execute(f"FLUSH RAMCHUNK {table}")
    cursor.execute(f"OPTIMIZE TABLE {table} OPTION sync=1, cutoff=1")
    print(f"{kind}: load {loaded - start:.1f} s, flush and optimize {time.time() - loaded:.1f} s", flush=True)


def search(cursor, table, text, k, options="", where=""):
    cursor.execute(f"SELECT id, knn_dist() FROM {table} WHERE knn(v, {k}, {text}{options}){where} LIMIT {k}")
    return [(row[0], float(row[1])) for row in cursor.fetchall()]


def meta(cursor):
    cursor.execute("SHOW META")
    return {row[0]: row[1] for row in cursor.fetchall()}


def measure(cursor, table, queries, k, options="", where=""):
    right = wanted = 0
    computed = []
    seconds = 0.0
    for text in queries:
        start = time.time()
        found = search(cursor, table, text, k, options, where)
        seconds += time.time() - start
        told = meta(cursor)
        computed.append(float(told.get("knn_distance_computations", "nan")))
        exact = search(cursor, table, text, k, ", {fullscan=1}", where)
        bound = exact[-1][1] * (1 + 1e-5) + 1e-6 if exact else 0
        right += sum(distance <= bound for _, distance in found)
        wanted += len(exact)
    return right / max(wanted, 1), 1000 * seconds / len(queries), statistics.median(computed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("searchd")
    parser.add_argument("base")
    parser.add_argument("queries")
    parser.add_argument("metric")
    parser.add_argument("--queries", dest="count", type=int, default=200)
    parser.add_argument("--kinds", default="none,8bit,4bit,1bit")
    parser.add_argument("--rows", type=int, default=1 << 30)
    parser.add_argument("--ks", default="10,20,100,500")
    parser.add_argument("--filters", default="")
    given = parser.parse_args()
    vectors = read_fvecs(given.base, given.rows)
    queries = [literal(vector) for vector in read_fvecs(given.queries, given.count)]
    print(f"{len(vectors)} vectors of {len(vectors[0])} dims, {given.metric}, {len(queries)} queries", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as home, server_under_test.Server(given.searchd, home) as server:
        cursor = server.connect().cursor()
        for kind in given.kinds.split(","):
            load(cursor, f"t_{kind}", vectors, given.metric, kind)
            for k in map(int, given.ks.split(",")):
                recall, milliseconds, computed = measure(cursor, f"t_{kind}", queries, k)
                least = 0.98 if kind in ("none", "8bit") else 0.95
                failed += recall < least
                print(f"  {kind:5} k={k:<4} recall {recall:.4f} ({'ok' if recall >= least else 'TOO LOW'}) "
                      f"{milliseconds:7.2f} ms, {computed:.0f} distances", flush=True)
            for share in filter(None, given.filters.split(",")):
                below = int(float(share) * 10)
                recall, milliseconds, computed = measure(cursor, f"t_{kind}", queries, 10, "", f" AND g < {below}")
                print(f"  {kind:5} k=10 filter {share} %: recall {recall:.4f} {milliseconds:.2f} ms, "
                      f"{computed:.0f} distances", flush=True)
    print(f"{failed} below the demand")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
