#pragma once

#include <vector>

#include "knn/index/hnsw_index.h"
#include "knn/search/candidate.h"
#include "knn/search/part_rows.h"

namespace stoa::knn {

// One search in the index of one part.
struct IndexSearch {
  const HnswIndex& index;  // with codes
  const PartRows& rows;
  uint32_t part = 0;
  size_t wanted = 0;  // candidates
  size_t beam = 0;    // of a walk, at least `wanted`
  const CancelToken* cancel = nullptr;
};

// Appends up to `wanted` candidates, nearest by their codes: by a walk over the graph, or by a scan of the
// codes of `rows` where that is estimated to cost less or the walk did not find enough.
Status FindCandidates(const IndexSearch& search, const CodeScorer& scorer, std::vector<Candidate>& candidates,
                      SearchStatistics& statistics);

}  // namespace stoa::knn
