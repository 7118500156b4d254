#!/usr/bin/python3
"""Seeded kill -9 loop: writers keep a ledger of what was acknowledged; after every kill the server must have all of it.

The ledger and its rules are in ledger.py.

  kill_loop.py --searchd PATH [--rounds N] [--writers N] [--seed N] [--faults SPEC]

--faults arms fault points (searchd --fault-points); injected faults that were reached are counted from their report.
Last line: "N passed, N failed" (a round is one check).
"""
import argparse
import random
import shutil
import sys
import tempfile
import time

from ledger import Server, Writer, check, count_faults

TABLES = ("kill_a", "kill_b")


def read_back(server):
    found = {}
    connection = server.connect()
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute("SELECT id, w, v, s, m FROM %s LIMIT 1000000" % table)
            for row_id, _, version, text, values in cursor.fetchall():
                ok = text.endswith(" of %d" % row_id)
                found[int(row_id)] = (table, int(version), ok)
    connection.close()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searchd", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", default="")
    parser.add_argument("--binlog-flush", type=int, default=1, dest="binlog_flush")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    folder = tempfile.mkdtemp(prefix="stoa-kill-")
    server = Server(args.searchd, folder, ("binlog_max_log_size = 1M", "binlog_flush = %d" % args.binlog_flush))
    server.start("")
    connection = server.connect()
    for table in TABLES:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE %s (w int, v int, s string, m multi)" % table)
    connection.close()
    server.kill()
    ledgers = [{"next": 0, "batches": {}} for _ in range(args.writers)]
    passed = failed = hits = acknowledged = refused = failed_starts = 0
    for number in range(args.rounds):
        faults = args.faults and "%s,seed=%d,report=%s/faults.txt" % (args.faults, args.seed + number, folder)
        while not server.start(faults):
            failed_starts += 1  # an injected fault while starting: an error, never damage
            faults = "" if failed_starts % 3 == 0 else "%s,seed=%d,report=%s/faults.txt" % (
                args.faults, chance.randint(1, 10**6), folder)
        writers = [Writer(server, w + 1, chance.randint(0, 2**60), ledgers[w], TABLES) for w in range(args.writers)]
        for writer in writers:
            writer.start()
        time.sleep(0.05 + chance.random() * 0.15)
        flying = [w.in_flight for w in writers]
        server.kill()
        for writer in writers:
            writer.stop = True
            writer.join()
        hits += any(flying)
        acknowledged += sum(w.acknowledged for w in writers)
        refused += sum(w.refused for w in writers)
        if not server.start(""):
            print("round %d (seed %d): the server does not start again; folder %s" % (number, args.seed, folder))
            print("%d passed, %d failed" % (passed, failed + 1))
            return 1
        found = read_back(server)
        server.kill()
        complaints = []
        for writer, ledger in zip(writers, ledgers):
            complaints += ["writer %d: %s" % (writer.number, c) for c in check(found, ledger, writer.in_flight)]
        for complaint in complaints[:5]:
            print("round %d (seed %d): %s" % (number, args.seed, complaint))
        if complaints:
            failed += 1
            print("data folder kept: %s" % folder)
            break
        passed += 1
    print("%d kills, %d with statements in flight, %d statements acknowledged, %d refused, %d failed starts" %
          (passed + failed, hits, acknowledged, refused, failed_starts))
    for name, count in sorted(count_faults(folder).items()):
        print("injected fault %s: reached %d times" % (name, count))
    if not failed:
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
