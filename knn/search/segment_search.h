#pragma once

#include <vector>

#include "knn/quantize/quantizer.h"
#include "knn/search/candidate.h"
#include "knn/search/part_rows.h"

namespace stoa::knn {

// One search over the codes of a RAM segment, which has no graph.
struct SegmentSearch {
  const storage::TablePart& segment;
  const storage::ColumnDefinition& column;
  const PartRows& rows;
  uint32_t part = 0;
  size_t wanted = 0;  // candidates
  float bound = 0;    // those with larger estimates need not be found
  const CancelToken* cancel = nullptr;
};

// Appends up to `wanted` candidates, nearest by their codes. False: the segment has no codes of this
// quantiser, nothing was appended.
Result<bool> FindCandidates(const SegmentSearch& search, const std::shared_ptr<const Quantizer>& quantizer,
                            const CodeScorer& scorer, std::vector<Candidate>& candidates,
                            SearchStatistics& statistics);

}  // namespace stoa::knn
