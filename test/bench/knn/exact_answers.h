#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql_options.h"

namespace stoa::bench {

// The nearest rows of the first queries by exact search ({fullscan=1}), for recall. Kept in a file of the
// folder by number of rows.
class ExactAnswers {
 public:
  static ExactAnswers Get(const Options& options, const std::string& table, uint64_t rows,
                          const std::vector<std::string>& vectors);

  // The share of the k nearest rows that the table's answers have.
  double Recall(const Options& options, const std::string& table, uint64_t k,
                const std::vector<std::string>& vectors) const;

 private:
  std::vector<std::vector<uint64_t>> ids_;  // of a query, the nearest first
};

}  // namespace stoa::bench
