#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "knn/quantize/quantizer.h"
#include "storage/table/table_snapshot.h"

namespace stoa::knn {

// A row that may belong to the answer, by the estimate of its code.
struct Candidate {
  float estimate = 0;
  float error = 0;  // how far the exact distance may be from it
  storage::RowLocation location;
};

inline bool HasSmallerEstimate(const Candidate& a, const Candidate& b) {
  return a.estimate != b.estimate ? a.estimate < b.estimate : a.location < b.location;
}

// Keeps the `count` candidates with the smallest estimates, in no order.
inline void KeepNearest(std::vector<Candidate>& candidates, size_t count) {
  if (candidates.size() > count) {
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count),
                     candidates.end(), HasSmallerEstimate);
    candidates.resize(count);
  }
}

// Appends row i of `part` with the estimate for codes[i] and its bound.
void AppendCandidates(const CodeScorer& scorer, std::span<const uint8_t* const> codes, uint32_t part,
                      std::span<const RowId> rows, std::vector<Candidate>& candidates);

}  // namespace stoa::knn
