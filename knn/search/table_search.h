#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/base/cancel_token.h"
#include "storage/base/disk_reads.h"
#include "storage/base/ids.h"
#include "storage/base/result.h"
#include "storage/table/table_snapshot.h"

namespace stoa::knn {

// Rows of one part of a table: bit `row % 64` of word `row / 64`.
struct RowBits {
  std::vector<uint64_t> words;  // (row_count + 63) / 64
  uint32_t count = 0;           // bits that are set
};

// What knn(column, query, {...}) asks for (features.md 2.3). Validated by whoever makes it.
struct SearchRequest {
  const storage::ColumnDefinition* column = nullptr;  // with knn, of the snapshot's definition
  std::vector<float> query;                           // column->knn->dims floats; normalised for cosine here
  uint32_t k = 0;                                     // rows of the answer, over all parts
  double oversampling = 3.0;                          // ≥ 1
  bool rescore = true;
  uint32_t ef = 0;         // 0: chosen here
  bool full_scan = false;  // exact, without any index
  // By part of the snapshot: the rows that pass the filters, dead ones perhaps included; none: no filter. A
  // function, so that a part that needs none is not filtered. Called once a part, by one thread at a time.
  std::function<Result<RowBits>(uint32_t part)> filter;
  bool prefilter = true;                         // false: `filter` is applied to the rows that were found
  std::optional<storage::RowLocation> excluded;  // a row that is left out: the document of a search by id
};

struct SearchHit {
  storage::RowLocation location;
  DocId id;
  float distance = 0;  // exact unless rescore is off
};

// How a search went; SHOW META shows it.
struct SearchStatistics {
  uint64_t distance_computations = 0;  // estimates and exact ones of the walk or scan over codes
  uint64_t candidates = 0;             // that were kept for rescoring, over all parts
  uint64_t rescored = 0;               // vectors read for exact distances
  uint64_t exact_parts = 0;            // parts that were compared exactly
  uint64_t graph_parts = 0;            // parts whose graph was walked
  uint64_t code_parts = 0;             // parts whose codes were scanned
  DiskReads disk;                      // while exact distances of candidates were computed
  double filter_seconds = 0;
  double walk_seconds = 0;
  double rescore_seconds = 0;
};

// The k nearest live rows that pass the filter, nearest first, equal distances by document id; fewer only
// when fewer rows have a vector and pass. The number of rows never depends on how the table is cut into
// parts.
Result<std::vector<SearchHit>> SearchTable(const storage::TableSnapshot& snapshot,
                                           const SearchRequest& request, const CancelToken* cancel,
                                           SearchStatistics& statistics);

}  // namespace stoa::knn
