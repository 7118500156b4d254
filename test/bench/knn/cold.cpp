#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "bench_tables.h"
#include "cold_pages.h"
#include "query_load.h"
#include "sql_parts.h"

namespace stoa::bench {

namespace {

constexpr size_t kQueries = 24;
constexpr double kPage = 4096;

struct Candidates {
  uint64_t count;
  uint64_t k;
  double oversampling;
};
constexpr Candidates kCandidates[] = {{100, 20, 5}, {1500, 500, 3}};

// Sums over the queries of a row of the table.
struct Sums {
  double latency = 0;
  double rescore = 0;
  double candidates = 0;
  double rescored = 0;
  double batch_reads = 0;
  double requested = 0;
  ServerUsage used;
  double serial = 0;
  double serial_read = 0;
};

struct ColdTable {
  std::string name;
  std::string file;
  std::unique_ptr<ColdFile> own;
};

// Makes sure that no page of a vector is in memory. Rows of file, bytes, resident pages.
Rows Evict(Connection& connection, const std::string& table) {
  const Rows files = connection.Run("DEBUG EVICT VECTORS " + table);
  for (const auto& file : files) {
    if (file.at(2) != "0") {
      std::fprintf(stderr, "%s: %s pages stay in memory\n", file.at(0).c_str(), file.at(2).c_str());
    }
  }
  return files;
}

void AskOnce(Connection& connection, const Options& options, const std::string& sql, Sums& sums) {
  const ServerUsage before = ServerUsage::Of(options.server_pid);
  const auto start = std::chrono::steady_clock::now();
  connection.Count(sql);
  sums.latency += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const ServerUsage used = ServerUsage::Of(options.server_pid).Since(before);
  sums.used.major_faults += used.major_faults;
  sums.used.read_bytes += used.read_bytes;
  std::map<std::string, double> meta;
  for (const auto& row : connection.Run("SHOW META")) {
    meta[row.at(0)] = std::strtod(row.at(1).c_str(), nullptr);
  }
  sums.rescore += meta["knn_rescore_time"];
  sums.candidates += meta["knn_candidates"];
  sums.rescored += meta["knn_rescored"];
  sums.batch_reads += meta["knn_batch_reads"];
  sums.requested += meta["knn_bytes_read"];
}

// As many vectors as the search has read, one page after the other.
void TouchOnce(const Options& options, ColdTable& table, uint64_t vectors, uint64_t seed, Sums& sums) {
  if (const uint64_t pages = table.own->Evict(); pages != 0) {
    std::fprintf(stderr, "%s: %llu pages stay in memory\n", table.file.c_str(),
                 static_cast<unsigned long long>(pages));
  }
  const ServerUsage before = ServerUsage::Of(getpid());
  sums.serial += table.own->TouchVectors(vectors, uint64_t{options.dims} * sizeof(float), seed);
  sums.serial_read += ServerUsage::Of(getpid()).Since(before).read_bytes;
  table.own->Evict();  // what this mapping holds, the server could not drop
}

void PrintRow(const Options& options, const ColdTable& table, const Candidates& asked, const Sums& sums) {
  const auto each = [](double sum) { return sum / static_cast<double>(kQueries); };
  // A vector that starts anywhere in a page lies in one more than its bytes fill.
  const double vector_bytes = static_cast<double>(options.dims * sizeof(float));
  const double pages = vector_bytes / kPage;
  const double pages_of_vector =
      options.dims % 1024 == 0 ? pages : static_cast<double>(static_cast<int>(pages) + 1);
  const double needed = each(sums.rescored) * pages_of_vector * kPage;
  std::printf(
      "| %s | %llu | %.0f | %.0f | %.2f | %.3f | %.3f | **%.1f** | %.1f | %.1f | %.2f | %.2f | %.2f | %.2f "
      "|\n",
      table.name.c_str(), static_cast<unsigned long long>(asked.count), each(sums.candidates),
      each(sums.rescored), 1e3 * each(sums.latency), 1e3 * each(sums.rescore), 1e3 * each(sums.serial),
      sums.serial / sums.rescore, each(sums.used.major_faults), each(sums.batch_reads),
      each(sums.requested) / 1e6, each(sums.used.read_bytes) / 1e6, each(sums.used.read_bytes) / needed,
      each(sums.serial_read) / needed);
  std::fflush(stdout);
}

}  // namespace

void RunCold(const Options& options) {
  MakeThreeWayTables(options);
  const std::vector<std::string> vectors = ReadQueryVectors(options);
  Connection connection(options.endpoint);
  std::printf("%zu queries each, one after the other, all pages of vectors evicted before each; averages\n\n",
              kQueries);
  std::printf(
      "| table | asked candidates | kept | rescored | latency, ms | rescoring, ms | serial touch, ms | times "
      "as fast "
      "| major faults | batches read | requested, MB | read by the server, MB | of the vectors' pages "
      "| serial touch: read, of the vectors' pages "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const char* name : {"columnar_mmap", "columnar_file"}) {
    ColdTable table{.name = name, .file = Evict(connection, name).at(0).at(0)};
    table.own = std::make_unique<ColdFile>(table.file);
    for (const Candidates& asked : kCandidates) {
      QueryTexts texts = NearestRows(name, asked.k, vectors);
      texts.after = ", {oversampling=" + std::to_string(asked.oversampling) + "}" + texts.after;
      connection.Count(texts.at(0));  // brings the graph into memory
      Sums sums;
      for (size_t i = 1; i <= kQueries; ++i) {
        Evict(connection, name);
        const double before = sums.rescored;
        AskOnce(connection, options, texts.at(i), sums);
        Evict(connection, name);
        TouchOnce(options, table, static_cast<uint64_t>(sums.rescored - before), i, sums);
      }
      PrintRow(options, table, asked, sums);
    }
  }
}

}  // namespace stoa::bench
