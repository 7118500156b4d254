#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql_connection.h"

namespace stoa::bench {

// The command line of knn_sql_bench.
struct Options {
  Endpoint endpoint;
  int server_pid = 0;
  std::string folder = ".";  // of the vectors, the exact answers and copies of tables
  uint64_t rows = 200'000;
  uint32_t dims = 1536;
  uint64_t query_count = 5000;
  std::string quantization = "1bit";
  std::string similarity = "cosine";
  std::vector<uint64_t> ks = {20, 100, 500};
  std::vector<std::string> tables = {"by_row", "columnar_mmap", "columnar_file"};  // of three_way
  std::vector<int> connections = {16, 2};
  double seconds = 2.5;  // of one round
  int rounds = 3;
  int exact_queries = 100;  // for recall

  std::string base_file() const { return folder + "/base.fvecs"; }
  std::string query_file() const { return folder + "/queries.fvecs"; }
};

}  // namespace stoa::bench
