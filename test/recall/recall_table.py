"""One table with a vector column on a server under test."""

import concurrent.futures

ROWS_OF_A_STATEMENT = 500
KINDS = ("none", "8bit", "4bit", "1bit")


def group_of(row):
    """0 … 999, whatever the order of the rows."""
    return (row * 2654435761 >> 8) % 1000


class RecallTable:
    """Rows are (document id, vector's number in the set). `n` repeats the id for conditions that look up no document,
    `g` has 0 … 999 evenly mixed, `odd` halves the table. Built from one thread; loads with `writers` connections."""

    def __init__(self, server, vectors, kind, writers=2):
        self.server = server
        self.vectors = vectors
        self.kind = kind
        self.writers = writers
        self.name = f"t_{kind}"
        self.ids = []
        self.connect()
        self.run(f"DROP TABLE IF EXISTS {self.name}")
        quantization = "" if kind == "none" else f" quantization='{kind}'"
        self.run(f"CREATE TABLE {self.name} (n int, g int, odd int, v float_vector knn_type='hnsw' "
                 f"knn_dims='{vectors.dims}' hnsw_similarity='{vectors.metric}'{quantization}) engine='columnar'")

    def connect(self):
        self.cursor = self.server.connect().cursor()

    def run(self, sql):
        self.cursor.execute(sql)
        return self.cursor.fetchall()

    def insert(self, rows):
        rows = list(rows)
        batches = [rows[at:at + ROWS_OF_A_STATEMENT] for at in range(0, len(rows), ROWS_OF_A_STATEMENT)]

        def write(first):
            with self.server.connect().cursor() as cursor:
                for batch in batches[first::self.writers]:
                    values = ",".join(f"({row},{row},{group_of(row)},{row % 2},{self.vectors.rows[vector]})"
                                      for row, vector in batch)
                    cursor.execute(f"INSERT INTO {self.name} (id,n,g,odd,v) VALUES {values}")

        with concurrent.futures.ThreadPoolExecutor(self.writers) as pool:
            list(pool.map(write, range(self.writers)))
        self.ids += [row for row, _ in rows]

    def flush(self):
        self.run(f"FLUSH RAMCHUNK {self.name}")

    def merge(self):
        self.flush()
        self.run(f"OPTIMIZE TABLE {self.name} OPTION sync=1, cutoff=1")

    def delete_odd(self):
        self.run(f"DELETE FROM {self.name} WHERE odd = 1")
        self.ids = [row for row in self.ids if row % 2 == 0]

    def restart(self):
        self.server.restart()
        self.connect()

    def drop(self):
        self.run(f"DROP TABLE {self.name}")

    def search(self, query, k, options="", where=""):
        """Rows (document id, distance)."""
        rows = self.run(f"SELECT id, knn_dist() FROM {self.name} WHERE knn(v, {k}, {query}{options}){where} LIMIT {k} "
                        f"OPTION max_matches={max(k, 1000)}")
        return [(row, float(distance)) for row, distance in rows]

    def meta(self):
        return dict(self.run("SHOW META"))

    def ranking(self, query):
        """All document ids, nearest first."""
        count = len(self.ids)
        rows = self.run(f"SELECT id FROM {self.name} WHERE knn(v, {count}, {query}, {{fullscan=1}}) LIMIT {count} "
                        f"OPTION max_matches={count}")
        return [row for (row,) in rows]

    def index_bytes_of_a_row(self):
        files = self.run(f"SELECT file, size FROM {self.name}.@files")
        return sum(int(size) for file, size in files if file.endswith(".spknn")) / max(len(self.ids), 1)
