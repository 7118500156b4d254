#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql/parser/ast.h"
#include "storage/base/result.h"

namespace stoa::sql {

inline constexpr uint64_t kDefaultMaxMatches = 1000;

// OPTION fusion_method='rrf': how the ranked lists of several searches become one.
struct FusionOptions {
  uint64_t rank_constant = 60;
  uint64_t window_size = 0;                             // rows of each list; 0: chosen
  std::vector<std::pair<std::string, double>> weights;  // by alias of the search; others: 1
};

// OPTION list of a SELECT (features OP-01): what changes how this server runs it. Options that have nothing
// to act on here (exact counts make accurate_aggregation one) are checked and accepted.
struct SelectOptions {
  std::optional<uint64_t> max_matches;  // as asked for
  uint64_t max_query_time_ms = 0;       // 0: none
  uint64_t cutoff = 0;                  // 0: none
  std::optional<uint64_t> rand_seed;
  std::optional<FusionOptions> fusion;
};

// "unknown option 'x'", "max_matches can not be less than one", "max_matches value should be a number:
// 'abc'", …
Result<SelectOptions> ReadSelectOptions(const std::vector<ParsedOption>& options);

}  // namespace stoa::sql
