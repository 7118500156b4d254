#pragma once

#include <functional>
#include <vector>

#include "knn/search/table_search.h"
#include "sql/exec/knn_plan.h"
#include "sql/session/session_state.h"

namespace stoa::sql {

struct KnnHit {
  RowRef row;
  DocId id;
  float distance = 0;
};

// By part of the source: the rows that a search may find. None: every row.
using PartRows = std::function<Result<knn::RowBits>(uint32_t part)>;

// Runs one search over all tables of the source: nearest first, equal distances by document id. What it did
// is added to the statistics.
Result<std::vector<KnnHit>> RunKnn(const KnnPlan& knn, const RowSource& source, const PartRows& filter,
                                   StatementContext& context, knn::SearchStatistics& statistics);

}  // namespace stoa::sql
