#pragma once

#include <memory>

#include "sql/exec/found_rows.h"
#include "sql/exec/select_plan.h"

namespace stoa::sql {

struct SearchOutcome {
  std::shared_ptr<const FoundRows> found;
  knn::SearchStatistics statistics;  // of all lists
  double fusion_seconds = 0;
  bool out_of_time = false;  // rows may be missing
};

// Runs the search of a plan that has one, over all its tables.
Result<SearchOutcome> RunSearch(const SelectPlan& plan, StatementContext& context);

}  // namespace stoa::sql
