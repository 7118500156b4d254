"""Vectors as the texts that SQL takes: files of the data pack, or made from a seed."""

import array
import dataclasses
import multiprocessing
import os
import random

BLOCK = 2000  # vectors that a process reads and formats at a time


@dataclasses.dataclass
class VectorSet:
    name: str
    metric: str
    dims: int
    rows: list  # texts "(0.1,…)"
    queries: list
    truth: list = dataclasses.field(default_factory=list)  # by query: the true distances, nearest first; may be missing


def format_records(work):
    """The vectors first … first + count of an .fvecs file, as texts."""
    path, dims, first, count = work
    record = 1 + dims
    with open(path, "rb") as file:
        file.seek(4 * record * first)
        floats = array.array("f", file.read(4 * record * count))
    template = "(" + ",".join(["%.8g"] * dims) + ")"
    return [template % tuple(floats[at + 1:at + record]) for at in range(0, len(floats), record)]


def read_fvecs(path, most, processes):
    with open(path, "rb") as file:
        dims = int.from_bytes(file.read(4), "little")
    count = min(most, os.path.getsize(path) // (4 + 4 * dims))
    work = [(path, dims, first, min(BLOCK, count - first)) for first in range(0, count, BLOCK)]
    with multiprocessing.Pool(processes) as pool:
        return dims, [text for texts in pool.imap(format_records, work) for text in texts]


def read_truth(path, metric, queries):
    """The file has squared distances for l2, cosines for cosine."""
    if not os.path.exists(path):
        return []
    floats = array.array("f")
    with open(path, "rb") as file:
        depth = int.from_bytes(file.read(4), "little")
        file.seek(0)
        floats.frombytes(file.read(4 * (1 + depth) * queries))
    lists = [floats[at + 1:at + 1 + depth] for at in range(0, len(floats), 1 + depth)]
    return [[value if metric == "l2" else 1 - value for value in values] for values in lists]


def from_files(folder, metric, rows, queries, processes=2):
    """The folder has base.fvecs, query.fvecs and perhaps gt.l2.fvecs or gt.cos.fvecs."""
    dims, base = read_fvecs(os.path.join(folder, "base.fvecs"), rows, processes)
    _, asked = read_fvecs(os.path.join(folder, "query.fvecs"), queries, processes)
    truth = os.path.join(folder, f"gt.{metric[:3]}.fvecs")
    return VectorSet(os.path.basename(os.path.normpath(folder)), metric, dims, base, asked,
                     [] if len(base) == rows else read_truth(truth, metric, len(asked)))


def clustered(metric, rows, dims, queries, seed=1):
    """Clusters of unequal size whose vectors differ mostly in a few directions, as those of real data do."""
    rng = random.Random(seed)
    noise = [rng.gauss(0, 1) for _ in range(1 << 18)]

    def piece():
        start = rng.randrange(len(noise) - dims)
        return noise[start:start + dims]

    clusters = [(piece(), [piece() for _ in range(4)]) for _ in range(40)]
    shares = [1 / (1 + i) for i in range(len(clusters))]
    template = "(" + ",".join(["%.4f"] * dims) + ")"

    def text():
        centre, (first, second, third, fourth) = rng.choices(clusters, shares)[0]
        a, b, c, d = (rng.gauss(0, 0.5) for _ in range(4))
        return template % tuple(m + a * p + b * q + c * r + d * s + 0.1 * e for m, p, q, r, s, e in zip(
            centre, first, second, third, fourth, piece()))

    return VectorSet(f"clusters-{dims}", metric, dims, [text() for _ in range(rows)], [text() for _ in range(queries)])
