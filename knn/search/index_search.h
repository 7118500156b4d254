#pragma once

#include <vector>

#include "knn/index/hnsw_index.h"
#include "knn/search/candidate.h"
#include "knn/search/code_scan.h"
#include "knn/search/part_rows.h"

namespace stoa::knn {

// One search in the index of one part.
struct IndexSearch {
  const HnswIndex& index;  // with codes
  const PartRows& rows;
  uint32_t part = 0;
  size_t wanted = 0;  // candidates of a scan
  size_t share = 0;  // candidates of a walk, at most `wanted`: what lies in the part if all are spread evenly
  size_t beam = 0;   // of a walk, at least `share`
  EstimateRange range;  // of scans
  const CancelToken* cancel = nullptr;
};

// Appends candidates, nearest by their codes: up to `share` by a walk over the graph, or up to `wanted` by a
// scan of the codes of `rows` where that is estimated to cost less or the walk did not find enough. Returns
// whether it walked.
Result<bool> FindCandidates(const IndexSearch& search, const CodeScorer& scorer,
                            std::vector<Candidate>& candidates, SearchStatistics& statistics);

// The same, always by a scan.
Status ScanCandidates(const IndexSearch& search, const CodeScorer& scorer, std::vector<Candidate>& candidates,
                      SearchStatistics& statistics);

}  // namespace stoa::knn
