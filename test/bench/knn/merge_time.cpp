#include <chrono>
#include <cstdio>
#include <functional>

#include "bench_tables.h"
#include "server_usage.h"
#include "sql_parts.h"

namespace stoa::bench {

namespace {

constexpr const char* kLarge = "large_chunk";
constexpr uint64_t kSmallShare = 20;  // the small chunk has one row of so many

struct Cost {
  double seconds;
  double cpu_seconds;
};

Cost CostOf(const Options& options, const std::function<void()>& work) {
  const ServerUsage before = ServerUsage::Of(options.server_pid);
  const auto start = std::chrono::steady_clock::now();
  work();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {seconds, ServerUsage::Of(options.server_pid).Since(before).cpu_seconds};
}

void PrintCost(const char* what, const Cost& cost) {
  std::printf("| %s | %.2f | %.2f |\n", what, cost.seconds, cost.cpu_seconds);
  std::fflush(stdout);
}

}  // namespace

void MakeMergeTables(const Options& options) {
  EnsureTable(options, {.name = kLarge}, options.rows - options.rows / kSmallShare);
}

void RunMerge(const Options& options) {
  const std::string table = "merged";
  const uint64_t small = options.rows / kSmallShare;
  Connection connection(options.endpoint);
  MakeMergeTables(options);
  connection.Run("DROP TABLE IF EXISTS " + table);
  EnsureTwin(options, kLarge, {.name = table});
  InsertVectors(options, table, options.rows - small, options.rows);
  std::printf("| | s | server CPU, s |\n|---|---|---|\n");
  PrintCost("FLUSH RAMCHUNK of the small chunk", CostOf(options, [&] { Flush(connection, table); }));
  const uint64_t chunks_before = DiskChunks(connection, table);
  const Cost merge = CostOf(options, [&] { Optimize(connection, table); });
  PrintCost("OPTIMIZE of both chunks", merge);
  const uint64_t chunks_after = DiskChunks(connection, table);
  const Cost rebuild = CostOf(options, [&] { connection.Run("ALTER TABLE " + table + " REBUILD KNN"); });
  PrintCost("ALTER TABLE … REBUILD KNN", rebuild);
  std::printf("| OPTIMIZE / REBUILD | **%.2f** | **%.2f** |\n\n", merge.seconds / rebuild.seconds,
              merge.cpu_seconds / rebuild.cpu_seconds);
  std::printf("a chunk of %llu rows merged into one of %llu: %llu chunks before, %llu after\n",
              static_cast<unsigned long long>(small), static_cast<unsigned long long>(options.rows - small),
              static_cast<unsigned long long>(chunks_before), static_cast<unsigned long long>(chunks_after));
}

}  // namespace stoa::bench
