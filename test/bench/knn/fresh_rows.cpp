#include <cstdio>
#include <vector>

#include "bench_tables.h"
#include "query_load.h"
#include "sql_parts.h"

namespace stoa::bench {

namespace {

const TableSpec kWithout{.name = "no_fresh_rows"};
const TableSpec kFresh{.name = "fresh_rows"};

uint64_t RowsInChunk(const Options& options) { return options.rows * 9 / 10; }

void PrintPair(const Options& options, int connections, uint64_t k, const std::vector<std::string>& vectors) {
  QueryLoad load(options, connections);
  std::vector<LoadResult> without;
  std::vector<LoadResult> with;
  for (int round = -1; round < options.rounds; ++round) {
    const double seconds = round < 0 ? 0.5 : options.seconds;
    const LoadResult first = load.Run(NearestRows(kWithout.name, k, vectors), seconds);
    const LoadResult second = load.Run(NearestRows(kFresh.name, k, vectors), seconds);
    if (round >= 0) {
      without.push_back(first);
      with.push_back(second);
    }
  }
  const LoadResult a = MedianOf(without);
  const LoadResult b = MedianOf(with);
  std::printf("| %d | %llu | %.3f | %.3f | **%.2f** | %.3f | %.3f | %.2f | %.0f | %.0f | %.2f |\n",
              connections, static_cast<unsigned long long>(k), a.p50_ms, b.p50_ms, b.p50_ms / a.p50_ms,
              a.p99_ms, b.p99_ms, b.p99_ms / a.p99_ms, a.cpu_us, b.cpu_us, b.cpu_us / a.cpu_us);
  std::fflush(stdout);
}

}  // namespace

void MakeFreshRowsTables(const Options& options) { EnsureTable(options, kWithout, RowsInChunk(options)); }

void RunFreshRows(const Options& options) {
  Connection connection(options.endpoint);
  const uint64_t in_chunk = RowsInChunk(options);
  MakeFreshRowsTables(options);
  connection.Run("DROP TABLE IF EXISTS " + kFresh.name);
  EnsureTwin(options, kWithout.name, kFresh);
  const double seconds = InsertVectors(options, kFresh.name, in_chunk, options.rows);
  const uint64_t chunks_before = DiskChunks(connection, kFresh.name);
  const std::vector<std::string> vectors = ReadQueryVectors(options);
  WarmUp(options, {kWithout.name, kFresh.name}, vectors);
  std::printf(
      "%llu rows in a chunk, then %llu more in RAM (inserted in %.1f s); median of %d rounds of %.1f s\n\n",
      static_cast<unsigned long long>(in_chunk), static_cast<unsigned long long>(options.rows - in_chunk),
      seconds, options.rounds, options.seconds);
  std::printf(
      "| connections | k | p50 without, ms | with | ratio | p99 without, ms | with | ratio | server CPU "
      "without, us "
      "| with | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const int connections : {1, 16}) {
    for (const uint64_t k : options.ks) {
      PrintPair(options, connections, k, vectors);
    }
  }
  const uint64_t chunks_after = DiskChunks(connection, kFresh.name);
  std::printf("\ndisk_chunks of the table with fresh rows: %llu before, %llu after\n",
              static_cast<unsigned long long>(chunks_before), static_cast<unsigned long long>(chunks_after));
}

}  // namespace stoa::bench
