#!/usr/bin/python3
"""Loads the 60,000 pictures of Debian's dataset-fashion-mnist into a table and searches them.

  packaging/demo/fashion.py [--port 9306] [--images 60000] [--queries 50] [--quantization 1bit]

A picture is 28 x 28 values of grey, a vector of 784 numbers. The table is made anew. Everything goes through the
mariadb client, as a user would type it; nothing but Python's own library is needed. The files are IDX, gzipped:
two zeros, the type (8: bytes), the number of dimensions, the dimensions as big-endian 32-bit numbers, the bytes.
"""

import argparse
import gzip
import struct
import subprocess
import sys
import time

from client import Client, DemoError

LABELS = ("T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
SIDE = 28
DIMS = SIDE * SIDE
BATCH = 500  # rows of one INSERT: about a megabyte of SQL
NUMBERS = [str(value).encode() for value in range(256)]
GREYS = " .:-=+*#%@"


def read_idx(path):
    """The dimensions and the bytes of an IDX file."""
    with gzip.open(path, "rb") as file:
        zero, kind, count = struct.unpack(">HBB", file.read(4))
        if zero != 0 or kind != 8:
            raise DemoError(f"{path}: not an IDX file of bytes")
        shape = struct.unpack(f">{count}I", file.read(4 * count))
        return shape, file.read()


class Pictures:
    def __init__(self, folder, count):
        shape, self.bytes = read_idx(f"{folder}/train-images-idx3-ubyte.gz")
        labels_shape, self.labels = read_idx(f"{folder}/train-labels-idx1-ubyte.gz")
        if shape[1:] != (SIDE, SIDE) or labels_shape[0] != shape[0] or len(self.bytes) != shape[0] * DIMS:
            raise DemoError(f"{folder}: pictures and labels do not fit together")
        self.count = min(count, shape[0])

    def grey(self, number):
        return self.bytes[number * DIMS:(number + 1) * DIMS]

    def row(self, number):
        """Document ids count from 1."""
        label = self.labels[number]
        vector = b",".join([NUMBERS[value] for value in self.grey(number)])
        return b"(%d,%d,'%s',(%s))" % (number + 1, label, LABELS[label].encode(), vector)

    def drawing(self, document):
        grey = self.grey(document - 1)
        rows = [grey[line * SIDE:(line + 1) * SIDE] for line in range(0, SIDE, 2)]
        lines = ["    " + "".join(GREYS[value * len(GREYS) // 256] for value in row).rstrip() for row in rows]
        return "\n".join(line for line in lines if line.strip())


def insert_statements(pictures):
    for start in range(0, pictures.count, BATCH):
        rows = [pictures.row(number) for number in range(start, min(start + BATCH, pictures.count))]
        yield b"INSERT INTO fashion (id, label, name, picture) VALUES " + b",".join(rows) + b";\n"


def load(client, pictures, quantization):
    client.rows(["DROP TABLE IF EXISTS fashion"])
    client.table(f"""CREATE TABLE fashion (label int, name string,
  picture float_vector knn_type='hnsw' knn_dims='{DIMS}' hnsw_similarity='l2' quantization='{quantization}')
  engine='columnar' access_columnar_attrs='mmap'""")
    start = time.monotonic()
    client.feed(insert_statements(pictures))
    loaded = time.monotonic()
    print(f"\n{pictures.count:,} pictures loaded in {loaded - start:.1f} s")
    client.table("FLUSH RAMCHUNK fashion")
    client.table("OPTIMIZE TABLE fashion OPTION sync=1, cutoff=1")
    print(f"one disk chunk with its vector index after {time.monotonic() - loaded:.1f} s more", flush=True)
    client.table("SELECT file, size, mapped_bytes FROM fashion.@files WHERE file LIKE '%.spc' OR file LIKE '%.spknn'")


def answers(client, documents, options):
    """The ids found for each document, and the milliseconds of a search as the server counts them."""
    statements = ["SET profiling=1"]
    for document in documents:
        statements += [f"SELECT {document} AS searched, id FROM fashion WHERE knn(picture, 20, {document}{options})",
                       "SHOW PROFILE"]
    found, seconds = {document: [] for document in documents}, 0.0
    for row in client.rows(statements):
        if len(row) == 2:
            found[int(row[0])].append(row[1])
        elif row[0] == "total":
            seconds += float(row[1])
    return found, seconds * 1000 / len(documents)


def show_recall(client, documents):
    runs = [answers(client, documents, "") for _ in range(4)]
    found, milliseconds = runs[0][0], min(run[1] for run in runs)
    exact, exact_milliseconds = answers(client, documents, ", {fullscan=1}")
    same = sum(len(set(found[document]) & set(exact[document])) for document in documents)
    recall = same / sum(map(len, exact.values()))
    print(f"\nrecall@20 of {len(documents)} searches against {{fullscan=1}}: {recall:.4f}; "
          f"{milliseconds:.2f} ms a search, {exact_milliseconds:.2f} ms exact", flush=True)
    return found


def show(client, pictures, document):
    print(f"\nPicture {document} is this:\n{pictures.drawing(document)}")
    client.table(f"SELECT id, name, knn_dist() FROM fashion WHERE knn(picture, {document}) LIMIT 5")
    client.table(f"SELECT id, name, knn_dist() FROM fashion WHERE knn(picture, {document}) AND name='Sandal' LIMIT 5; "
                 "SHOW META")
    client.table(f"SELECT name, count(*) AS pictures FROM fashion WHERE knn(picture, 100, {document}) "
                 "GROUP BY name ORDER BY pictures DESC, name ASC")


def run(arguments):
    client = Client(arguments.host, arguments.port)
    pictures = Pictures(arguments.folder, arguments.images)
    load(client, pictures, arguments.quantization)
    document = 1 + pictures.labels.index(LABELS.index("Sneaker"))
    show(client, pictures, document)
    queries = max(1, min(arguments.queries, pictures.count))
    documents = [1 + number * pictures.count // queries for number in range(queries)]
    mapped = show_recall(client, documents)
    client.table("ALTER TABLE fashion access_columnar_attrs='file'")
    client.table(f"SELECT id, name, knn_dist() FROM fashion WHERE knn(picture, {document}) LIMIT 5")
    client.table("SELECT file, size, mapped_bytes FROM fashion.@files WHERE file LIKE '%.spc' OR file LIKE '%.spknn'")
    by_file = show_recall(client, documents)
    print(f"\nmmap and file give {'the same' if mapped == by_file else 'DIFFERENT'} answers", flush=True)
    client.table("ALTER TABLE fashion access_columnar_attrs='mmap'")
    return 0 if mapped == by_file else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9306)
    parser.add_argument("--folder", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--images", type=int, default=60000)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--quantization", default="1bit")
    arguments = parser.parse_args()
    if arguments.images < 100:
        parser.error("--images: at least 100")
    try:
        return run(arguments)
    except (DemoError, OSError, subprocess.CalledProcessError) as error:
        print(f"fashion.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
