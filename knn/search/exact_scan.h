#pragma once

#include "knn/search/exact_distances.h"
#include "knn/search/nearest_rows.h"
#include "knn/search/part_rows.h"

namespace stoa::knn {

// What the steps of one search share.
struct SearchContext {
  const storage::TableSnapshot& snapshot;
  const SearchRequest& request;
  const CancelToken* cancel = nullptr;  // polled once a batch; may be nullptr
  SearchStatistics& statistics;
};

// Compares every vector of `rows` with the query and adds the nearest to `nearest`. The oracle of all faster
// ways.
Status ScanExactly(const SearchContext& context, uint32_t part, const PartRows& rows, NearestRows& nearest);

// Adds rows[i] at distances[i], those that are no number left out, with their document ids where they may
// enter.
Status AddNearest(uint32_t part, std::span<const RowId> rows, std::span<const float> distances,
                  storage::ColumnReader& ids, NearestRows& nearest);

}  // namespace stoa::knn
