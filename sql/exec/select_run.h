#pragma once

#include "sql/exec/select_plan.h"

namespace stoa::sql {

struct SelectOutcome {
  uint64_t rows = 0;         // sent
  uint64_t total = 0;        // rows that could be paged through
  uint64_t total_found = 0;  // rows (groups) that match
  bool complete = true;      // false: cutoff or max_query_time ended it early
  bool out_of_time = false;
};

// Runs a plan and sends its columns and rows to the context's sink; End() is left to the caller.
Result<SelectOutcome> RunSelect(SelectPlan& plan, StatementContext& context);

}  // namespace stoa::sql
