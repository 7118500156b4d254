#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/exec/aggregate.h"
#include "sql/exec/found_rows.h"
#include "sql/exec/grouper.h"
#include "sql/exec/row_source.h"
#include "sql/exec/search_plan.h"
#include "sql/exec/select_options.h"
#include "sql/exec/slot_batch.h"
#include "sql/exec/top_rows.h"
#include "sql/session/session_state.h"

namespace stoa::sql {

struct OutputColumn {
  ResultColumn column;
  SharedExpr expr;
};

// Rows of the answer: [offset, end) of the ordered rows.
struct RowWindow {
  uint64_t offset = 0;
  uint64_t end = 0;
};

// A bound SELECT: what to read, which rows, how to group, order and show them. Used once.
struct SelectPlan {
  std::shared_ptr<const RowSource> source;
  std::vector<SlotInfo> slots;
  SharedExpr filter;
  std::optional<std::vector<DocId>> documents;  // the WHERE names these ids: no scan
  // A search finds the rows; `filter` is what they have to pass afterwards.
  std::optional<SearchPlan> search;
  std::shared_ptr<const FoundRows> found;  // by the search, which runs before the plan

  bool grouped = false;  // by keys, or one group for aggregates without GROUP BY
  Grouper::Options grouping;
  std::vector<AggregateCall> aggregates;
  SharedExpr having;

  std::vector<SortKey> order;
  std::vector<OutputColumn> output;
  RowWindow window;
  SelectOptions options;
  Collation collation = Collation::kLibcCi;
};

// The source of a statement's FROM: table snapshots (distributed tables are the union of their local ones),
// virtual tables, a sub-select's rows, or one row without columns.
struct OpenedSource {
  std::shared_ptr<const RowSource> rows;
  std::vector<std::string> names;  // of the table and its alias; names[0] is the one for messages
  bool is_virtual = false;         // information_schema and the like: no LIMIT unless given
};
Result<OpenedSource> OpenSource(const SelectStatement& statement, StatementContext& context);

Result<SelectPlan> PlanSelect(const SelectStatement& statement, const OpenedSource& source,
                              StatementContext& context);
// The plan of one FACET of the statement, over the same rows.
Result<SelectPlan> PlanFacet(const SelectStatement& statement, const FacetClause& facet,
                             const OpenedSource& source, StatementContext& context);

}  // namespace stoa::sql
