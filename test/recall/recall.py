#!/usr/bin/python3
"""recall.py SEARCHD [SET…] [--cases 'a;b'] [--kinds none,8bit,4bit,1bit] [--ks 10,20,100,500] [--rows N] …

Recall@k of searches with default options (oversampling = 3.0, rescore = 1, no ef) against exact search ({fullscan=1}):
what is done to the table (cases) × condition × quantisation × k, printed as tables. A row counts as right when it is
no farther than the true k-th, and once. A SET is FOLDER:l2, FOLDER:ip or FOLDER:cosine, with base.fvecs and
query.fvecs in FOLDER; without any, a small set is made from a seed. Fails when a recall is below what is
demanded (0.98 none and 8bit, 0.95 4bit and 1bit), an answer has too few rows, or a search of 200,000 rows or more with
k = 20 computes distances to more than 3 % of them. --list names the cases; --options ef=200 tries others.
"""
import argparse
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
import measuring  # noqa: E402
import server_under_test  # noqa: E402
import situations  # noqa: E402
import vector_sets  # noqa: E402
from recall_table import KINDS, RecallTable  # noqa: E402


# The farthest of a small set with few clusters are as far as each other but for less than codes of 4 bits and 1 tell.
NOT_IN_SHORT = set()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("searchd")
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--cases", default="", help="names, separated by ';'; default all")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--ks", default="10,20,100,500")
    parser.add_argument("--rows", type=int, default=1 << 30)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--filtered", type=int, default=100, help="queries with a condition")
    parser.add_argument("--correlated", type=int, default=20, help="queries with a condition made for each")
    parser.add_argument("--chunks", type=int, default=10)
    parser.add_argument("--options", default="")
    parser.add_argument("--config", default="rt_mem_limit = 8G", help="a line of the server's config")
    given = parser.parse_args()
    given.short = not given.sets
    if given.short:
        given.ks, given.chunks = "10,20,50", 2
        given.queries, given.filtered, given.correlated = 50, 20, 5
    known = situations.case_names(given.chunks)
    usual = [case for case in known if not given.short or case not in NOT_IN_SHORT]
    given.cases = given.cases.split(";") if given.cases else usual
    if unknown := set(given.cases) - set(known):
        parser.error(f"unknown case {', '.join(unknown)}; there are: {'; '.join(known)}")
    if given.list:
        print("\n".join(known))
        sys.exit(0)
    return given


def tell(text):
    print(text, flush=True)


def run_steps(given, server, kind, steps, measurement):
    """Yields what was measured of the steps that are asked for; those before them are done, too."""
    vectors = measurement.vectors
    last = max((i for i, step in enumerate(steps) if step.name in given.cases), default=-1)
    if last < 0:
        return
    table = RecallTable(server, vectors, kind, writers=1 if given.short else 2)
    for step in steps[:last + 1]:
        start = time.monotonic()
        step.prepare(table)
        index_bytes = table.index_bytes_of_a_row()
        tell(f"# {vectors.name} {kind} {step.name}: {time.monotonic() - start:.1f} s, {len(table.ids)} rows, "
             f"{index_bytes:.0f} index bytes a row")
        if step.name not in given.cases:
            continue
        measurement.index_bytes[step.name, kind] = index_bytes
        for measured in measurement.measure(table, step):
            tell(f"{vectors.name} {kind} | {measured.case} | k={measured.k} | {measured.recall:.4f} | "
                 f"{100 * measured.computed:.2f} % | {measured.rescored:.0f} rescored | "
                 f"{measured.milliseconds:.2f} ms | {measured.ways} | {'; '.join(measured.faults) or 'ok'}")
            yield measured
    table.drop()


def print_tables(measurement, kinds, all_measured):
    vectors = measurement.vectors
    tell(f"\n{vectors.name}: {len(vectors.rows):,} x {vectors.dims}, {vectors.metric}. Recall, and distances computed "
         "in % of the rows\n")
    tell("| case | k | " + " | ".join(kinds) + " |")
    tell("|---|---|" + "---|" * len(kinds))
    cells = {(m.case, m.k, m.kind): m for m in all_measured}
    for case, k in dict.fromkeys((m.case, m.k) for m in all_measured):
        found = [cells.get((case, k, kind)) for kind in kinds]
        tell(f"| {case} | {k} | " + " | ".join(
            f"{m.recall:.4f}, {100 * m.computed:.2f}{' **!**' if m.faults else ''}" if m else "" for m in found) + " |")
    tell("\n| bytes a row of .spknn | " + " | ".join(kinds) + " |")
    tell("|---|" + "---|" * len(kinds))
    for case in dict.fromkeys(case for case, _ in measurement.index_bytes):
        sizes = [measurement.index_bytes.get((case, kind)) for kind in kinds]
        tell(f"| {case} | " + " | ".join(f"{size:.0f}" if size is not None else "" for size in sizes) + " |")
    tell("")


def main():
    given = arguments()
    passed = failed = 0
    for name in given.sets or [None]:
        if name is None:
            vectors = vector_sets.clustered("l2", 6000, 768, given.queries)
        else:
            folder, metric = name.rsplit(":", 1)
            vectors = vector_sets.from_files(folder, metric, given.rows, given.queries)
        tell(f"# {vectors.name}: {len(vectors.rows)} rows of {vectors.dims} dims, {len(vectors.queries)} queries")
        measurement = measuring.Measurement(vectors, tuple(map(int, given.ks.split(","))), len(vectors.queries),
                                            given.filtered, given.correlated, given.options)
        kinds = given.kinds.split(",")
        all_measured = []
        with tempfile.TemporaryDirectory() as home, server_under_test.Server(given.searchd, home, given.config) as server:
            for steps in situations.situations(given.chunks):
                for kind in kinds:
                    all_measured += run_steps(given, server, kind, steps, measurement)
        print_tables(measurement, kinds, all_measured)
        bad = sum(bool(measured.faults) for measured in all_measured)
        failed += bad
        passed += len(all_measured) - bad
    tell(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
