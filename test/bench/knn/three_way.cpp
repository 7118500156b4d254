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
constexpr size_t kTableCount = std::size(kTables);

void PrintCell(const Options& options, int connections, uint64_t k, const std::vector<LoadResult>& medians,
               const ExactAnswers& exact, const std::vector<std::string>& vectors) {
  for (size_t t = 0; t < kTableCount; ++t) {
    const LoadResult& result = medians[t];
    std::printf(
        "| %d | %llu | %s | %.0f | %.1f %% | %.0f | %.1f %% | %.0f | %.2f | %.2f | %.3f | %.0f | %.4f |\n",
        connections, static_cast<unsigned long long>(k), kTables[t].name.c_str(), result.per_second,
        100 * result.per_second / medians[0].per_second, result.cpu_us,
        100 * result.cpu_us / medians[0].cpu_us, result.client_cpu_us, result.p50_ms, result.p99_ms,
        result.major_faults, result.read_bytes, exact.Recall(options, kTables[t].name, k, vectors));
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
  std::printf("%llu rows of %u dims, %s, %s, %zu distinct queries; median of %d rounds of %.1f s\n\n",
              static_cast<unsigned long long>(options.rows), options.dims, options.similarity.c_str(),
              options.quantization.c_str(), vectors.size(), options.rounds, options.seconds);
  std::printf(
      "| connections | k | table | queries/s | of row-wise | server CPU a query, us | of row-wise | client "
      "CPU, us "
      "| p50, ms | p99, ms | major faults a query | bytes read a query | recall |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const int connections : options.connections) {
    QueryLoad load(options, connections);
    for (const uint64_t k : options.ks) {
      std::vector<std::vector<LoadResult>> rounds(kTableCount);
      for (int round = -1; round < options.rounds; ++round) {  // the first one warms up
        for (size_t i = 0; i < kTableCount; ++i) {
          const size_t t = (i + static_cast<size_t>(round + 1)) % kTableCount;
          const LoadResult result =
              load.Run(NearestRows(kTables[t].name, k, vectors), round < 0 ? 0.5 : options.seconds);
          if (round >= 0) {
            rounds[t].push_back(result);
          }
        }
      }
      std::vector<LoadResult> medians;
      for (const auto& of_table : rounds) {
        medians.push_back(MedianOf(of_table));
      }
      PrintCell(options, connections, k, medians, exact, vectors);
    }
  }
}

}  // namespace stoa::bench
