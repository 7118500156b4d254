#include "knn/search/table_search.h"

#include <cmath>

#include "knn/search/exact_scan.h"
#include "knn/search/nearest_rows.h"

namespace stoa::knn {

using storage::TableSnapshot;

namespace {

// A vector of zeros stays one.
void Normalise(std::vector<float>& vector) {
  double square = 0;
  for (const float value : vector) {
    square += double{value} * double{value};
  }
  if (square > 0) {
    const auto factor = 1 / std::sqrt(square);
    for (float& value : vector) {
      value = static_cast<float>(double{value} * factor);
    }
  }
}

}  // namespace

Result<std::vector<SearchHit>> SearchTable(const TableSnapshot& snapshot, const SearchRequest& given,
                                           const CancelToken* cancel, SearchStatistics& statistics) {
  SearchRequest request = given;
  if (MetricOf(request.column->knn->similarity) == Metric::kCosine) {
    Normalise(request.query);
  }
  NearestRows nearest(request.k);
  for (uint32_t part = 0; part < snapshot.parts.size(); ++part) {
    RowBits filter;
    if (request.filter) {
      ASSIGN_OR_RETURN(filter, request.filter(part));
    }
    PartRows rows(*snapshot.parts[part], request.filter ? &filter : nullptr);
    if (request.excluded && request.excluded->part == part) {
      const RowId excluded[] = {request.excluded->row};
      rows.LeaveOut(excluded);
    }
    RETURN_IF_ERROR(ScanExactly(snapshot, part, rows, request, cancel, nearest, statistics));
    ++statistics.exact_parts;
  }
  return std::move(nearest).TakeSorted();
}

}  // namespace stoa::knn
