#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "server_usage.h"
#include "sql_options.h"

namespace stoa::bench {

// The statements of a load: before + middles[i] + after.
struct QueryTexts {
  std::string before;
  const std::vector<std::string>* middles = nullptr;
  std::string after;

  std::string at(size_t index) const { return before + (*middles)[index % middles->size()] + after; }
};

// Texts of the vectors of the query file.
std::vector<std::string> ReadQueryVectors(const Options& options);

// SELECT id, knn_dist() of the k nearest rows of `table`.
QueryTexts NearestRows(const std::string& table, uint64_t k, const std::vector<std::string>& vectors);

// Compares the first query with every vector, which brings all of them into memory.
void WarmUp(const Options& options, const std::vector<std::string>& tables,
            const std::vector<std::string>& vectors);

struct LoadResult {
  double per_second = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double cpu_us = 0;         // of the server, a query
  double client_cpu_us = 0;  // of this program, a query
  double major_faults = 0;   // of the server, a query
  double read_bytes = 0;     // of the server, a query
};

// Connections that each send one statement after the other. One thread uses it.
class QueryLoad {
 public:
  QueryLoad(const Options& options, int connections);

  // For `seconds`. Each call goes on behind the texts that the last one has sent.
  LoadResult Run(const QueryTexts& texts, double seconds);

 private:
  void Ask(Connection& connection, const QueryTexts& texts, std::vector<float>& seconds_each);

  int server_pid_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stop_{false};
};

// Of each measure its median.
LoadResult MedianOf(const std::vector<LoadResult>& rounds);

}  // namespace stoa::bench
