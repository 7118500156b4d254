#include <cstdio>

#include "bench_tables.h"
#include "query_load.h"
#include "sql_parts.h"

namespace stoa::bench {

namespace {

constexpr uint64_t kFewRows = 20;

void Measure(const Options& options, const char* what, const QueryTexts& texts) {
  for (const int connections : options.connections) {
    QueryLoad load(options, connections);
    load.Run(texts, 0.3);
    std::vector<LoadResult> rounds;
    for (int round = 0; round < options.rounds; ++round) {
      rounds.push_back(load.Run(texts, options.seconds));
    }
    const LoadResult result = MedianOf(rounds);
    std::printf("| %s | %d | %.1f | %.1f | %.0f | %.3f |\n", what, connections, result.cpu_us,
                result.client_cpu_us, result.per_second, result.p50_ms);
    std::fflush(stdout);
  }
}

}  // namespace

void RunOverhead(const Options& options) {
  const std::string table = "few_rows";
  EnsureTable(options, {.name = table}, kFewRows);
  const std::vector<std::string> vectors = ReadQueryVectors(options);
  const std::vector<std::string> ids = {"1", "2", "3", "4", "5"};
  std::printf("a table of %llu rows of %u dims, LIMIT 20\n\n", static_cast<unsigned long long>(kFewRows),
              options.dims);
  std::printf(
      "| statement | connections | server CPU, us | client CPU, us | statements/s | p50, ms "
      "|\n|---|---|---|---|---|---|\n");
  Measure(options, "knn with the text of a vector", NearestRows(table, 20, vectors));
  Measure(options, "knn with the vector of a document", NearestRows(table, 20, ids));
  Measure(options, "rows without knn", {"SELECT id, g FROM " + table + " WHERE id >= ", &ids, " LIMIT 20"});
  Measure(options, "SELECT 1", {"SELECT ", &ids, ""});
}

}  // namespace stoa::bench
