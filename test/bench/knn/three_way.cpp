#include <cstdio>
#include <vector>

#include "bench_tables.h"
#include "exact_answers.h"
#include "query_load.h"
#include "sql_parts.h"

namespace stoa::bench {

namespace {

const TableSpec kTables[] = {{.name = "by_row", .engine = "rowwise"},
                             {.name = "columnar_mmap"},
                             {.name = "columnar_file", .access = "file"}};
constexpr double kWarmUpSeconds = 0.5;

// One table after the other in rounds, each round beginning with another one.
std::vector<LoadResult> MeasureCell(const Options& options, QueryLoad& load, uint64_t k,
                                    const std::vector<std::string>& vectors) {
  const size_t count = options.tables.size();
  for (const std::string& table : options.tables) {
    load.Run(NearestRows(table, k, vectors), kWarmUpSeconds);
  }
  std::vector<std::vector<LoadResult>> rounds(count);
  for (size_t round = 0; round < static_cast<size_t>(options.rounds); ++round) {
    for (size_t i = 0; i < count; ++i) {
      const size_t t = (i + round) % count;
      rounds[t].push_back(load.Run(NearestRows(options.tables[t], k, vectors), options.seconds));
    }
  }
  std::vector<LoadResult> medians;
  for (const auto& of_table : rounds) {
    medians.push_back(MedianOf(of_table));
  }
  return medians;
}

void PrintCell(const Options& options, int connections, uint64_t k, const std::vector<LoadResult>& medians,
               const ExactAnswers& exact, const std::vector<std::string>& vectors) {
  for (size_t t = 0; t < medians.size(); ++t) {
    const LoadResult& result = medians[t];
    std::printf(
        "| %d | %llu | %s | %.0f | %.1f %% | %.0f | %.1f %% | %.0f | %.2f | %.2f | %.3f | %.0f | %.4f |\n",
        connections, static_cast<unsigned long long>(k), options.tables[t].c_str(), result.per_second,
        100 * result.per_second / medians[0].per_second, result.cpu_us,
        100 * result.cpu_us / medians[0].cpu_us, result.client_cpu_us, result.p50_ms, result.p99_ms,
        result.major_faults, result.read_bytes, exact.Recall(options, options.tables[t], k, vectors));
  }
  std::fflush(stdout);
}

}  // namespace

void MakeThreeWayTables(const Options& options) {
  EnsureTable(options, kTables[0], options.rows);
  EnsureTable(options, kTables[1], options.rows);
  EnsureTwin(options, kTables[1].name, kTables[2]);
}

void RunThreeWay(const Options& options) {
  MakeThreeWayTables(options);
  const std::vector<std::string> vectors = ReadQueryVectors(options);
  const ExactAnswers exact = ExactAnswers::Get(options, kTables[1].name, options.rows, vectors);
  WarmUp(options, options.tables, vectors);
  std::printf("%llu rows of %u dims, %s, %s, %zu distinct queries; median of %d rounds of %.1f s\n\n",
              static_cast<unsigned long long>(options.rows), options.dims, options.similarity.c_str(),
              options.quantization.c_str(), vectors.size(), options.rounds, options.seconds);
  std::printf(
      "| connections | k | table | queries/s | of the first | server CPU a query, us | of the first | client "
      "CPU, us "
      "| p50, ms | p99, ms | major faults a query | bytes read a query | recall |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const int connections : options.connections) {
    QueryLoad load(options, connections);
    for (const uint64_t k : options.ks) {
      const std::vector<LoadResult> medians = MeasureCell(options, load, k, vectors);
      PrintCell(options, connections, k, medians, exact, vectors);
    }
  }
}

}  // namespace stoa::bench
