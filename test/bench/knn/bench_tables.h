#pragma once

#include <cstdint>
#include <string>

#include "sql_options.h"

namespace stoa::bench {

struct TableSpec {
  std::string name;
  std::string engine = "columnar";  // or rowwise
  std::string access = "mmap";      // or file
};

// Makes sure that the table is there and has the first `rows` vectors in one chunk; says what each step of
// making it took. What is there already is believed.
void EnsureTable(const Options& options, const TableSpec& spec, uint64_t rows);

// A copy of the table's files under another name, graph and all.
void EnsureTwin(const Options& options, const std::string& original, const TableSpec& twin);

// Rows `first` to below `end` of the vector file, over several connections. Document ids start at 1. Seconds.
double InsertVectors(const Options& options, const std::string& table, uint64_t first, uint64_t end);

uint64_t DiskChunks(Connection& connection, const std::string& table);
uint64_t CountRows(Connection& connection, const std::string& table);

// FLUSH RAMCHUNK, and OPTIMIZE to one chunk; seconds.
double Flush(Connection& connection, const std::string& table);
double Optimize(Connection& connection, const std::string& table);

}  // namespace stoa::bench
