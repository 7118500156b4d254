#pragma once

#include <optional>
#include <vector>

#include "sql/exec/knn_plan.h"
#include "sql/exec/select_options.h"

namespace stoa::sql {

// What finds the rows of a SELECT before its plans read them, and the conditions beside it that say which
// rows may be found.
struct SearchPlan {
  std::vector<KnnPlan> lists;           // one; several are fused
  std::optional<FusionOptions> fusion;  // of the lists

  SharedExpr filter;                            // none: every row
  std::optional<std::vector<DocId>> documents;  // the filter names these ids
};

// The conditions of a WHERE that AND connects.
void CollectConjuncts(const ParsedExpr& where, std::vector<const ParsedExpr*>& conjuncts);
// The searches among them; none without one. Two or more go with a fusion and only with it.
Result<std::vector<const ParsedExpr*>> FindSearches(const std::vector<const ParsedExpr*>& conjuncts,
                                                    const std::optional<FusionOptions>& fusion);

// Binds what FindSearches() found; conditions and SetRowsToFind() are left to do.
Result<SearchPlan> BindSearches(const std::vector<const ParsedExpr*>& searches,
                                const std::optional<FusionOptions>& fusion, const RowSource& source,
                                const NameScope& scope, std::string_view statement);

// The k of each search (DESIGN 4): as asked for, else as many rows as the answer may show. Of lists that are
// fused, none is longer than the window, which by itself is the longest of these.
void SetRowsToFind(uint64_t rows_of_answer, SearchPlan& plan);

}  // namespace stoa::sql
