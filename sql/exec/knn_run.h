#pragma once

#include <memory>

#include "sql/exec/found_rows.h"
#include "sql/exec/select_plan.h"

namespace stoa::sql {

struct KnnOutcome {
  std::shared_ptr<const FoundRows> found;
  knn::SearchStatistics statistics;
  bool out_of_time = false;  // rows may be missing
};

// Runs the search of a plan that has one, over all its tables.
Result<KnnOutcome> RunKnn(const SelectPlan& plan, StatementContext& context);

}  // namespace stoa::sql
