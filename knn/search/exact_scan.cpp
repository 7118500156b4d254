#include "knn/search/exact_scan.h"

#include <cmath>

#include "knn/search/time_limit.h"

namespace stoa::knn {

using storage::TablePart;
using storage::TableSnapshot;

Status AddNearest(uint32_t part, std::span<const RowId> rows, std::span<const float> distances,
                  storage::ColumnReader& ids, NearestRows& nearest) {
  std::vector<RowId> entering;
  std::vector<float> at;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!std::isnan(distances[i]) && nearest.MayEnter(distances[i])) {
      entering.push_back(rows[i]);
      at.push_back(distances[i]);
    }
  }
  std::vector<int64_t> documents(entering.size());
  RETURN_IF_ERROR(ids.ReadInts(entering, documents));
  for (size_t i = 0; i < entering.size(); ++i) {
    nearest.Add({.location = {.part = part, .row = entering[i]},
                 .id = DocId(static_cast<uint64_t>(documents[i])),
                 .distance = at[i]});
  }
  return Status::Ok();
}

Status ScanExactly(const SearchContext& context, uint32_t part, const PartRows& rows, NearestRows& nearest) {
  const TableSnapshot& snapshot = context.snapshot;
  const TablePart& table_part = *snapshot.parts[part];
  ASSIGN_OR_RETURN(ExactDistances exact, ExactDistances::Open(table_part, *context.request.column));
  ASSIGN_OR_RETURN(std::unique_ptr<storage::ColumnReader> ids,
                   table_part.Column(snapshot.definition->columns[0]));
  std::vector<RowId> batch;
  std::vector<float> distances(ExactDistances::kBatchRows + 64);
  const auto flush = [&]() -> Status {
    const std::span<float> found = std::span(distances).first(batch.size());
    RETURN_IF_ERROR(exact.Of(batch, context.request.query.data(), context.cancel, found));
    RETURN_IF_ERROR(AddNearest(part, batch, found, *ids, nearest));
    context.statistics.distance_computations += batch.size();
    batch.clear();
    return Status::Ok();
  };
  for (uint32_t word = 0; word < rows.word_count(); ++word) {
    rows.ForRowsOf(word, [&](RowId row) { batch.push_back(row); });
    if (batch.size() < ExactDistances::kBatchRows) {
      continue;
    }
    RETURN_IF_ERROR(flush());
    ASSIGN_OR_RETURN(const bool ended, IsOutOfTime(context.cancel, context.statistics));
    if (ended) {
      break;
    }
  }
  return flush();
}

}  // namespace stoa::knn
