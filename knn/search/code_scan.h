#pragma once

#include <bit>
#include <limits>
#include <vector>

#include "knn/graph/graph_walk.h"
#include "knn/quantize/quantizer.h"
#include "knn/search/bounded_heap.h"

namespace stoa::knn {

// Estimates that a scan looks for: above < estimate ≤ upto. Not a number: from −infinity on.
struct EstimateRange {
  float above = std::numeric_limits<float>::quiet_NaN();
  float upto = std::numeric_limits<float>::infinity();
};

// Compares codes one after the other with a query and keeps the `capacity` nearest in a range. Codes are
// collected and scored in batches. Reusable by one thread.
class CodeScan {
 public:
  CodeScan(const CodeScorer& scorer, size_t capacity, EstimateRange range = {})
      : scorer_(scorer), range_(range), nearest_(capacity) {}

  void Add(uint32_t node, const uint8_t* code) {
    nodes_[count_] = node;
    codes_[count_] = code;
    if (++count_ == kBatch) {
      Score();
    }
  }
  // Nodes that are set in `bits`; node `first` has the code at `codes`, the next ones follow at `stride`.
  void Add(uint32_t first, uint64_t bits, const uint8_t* codes, size_t stride) {
    if (bits == ~uint64_t{0} && count_ == 0) {
      for (uint32_t i = 0; i < kBatch; ++i) {
        nodes_[i] = first + i;
        codes_[i] = codes + i * stride;
      }
      count_ = kBatch;
      Score();
      return;
    }
    for (; bits != 0; bits &= bits - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(bits));
      Add(first + i, codes + i * stride);
    }
  }
  std::vector<FoundNode> TakeSorted();
  uint64_t scored() const { return scored_; }

 private:
  static constexpr size_t kBatch = 64;
  void Score();

  const CodeScorer& scorer_;
  EstimateRange range_;  // comes down to what may still enter
  size_t count_ = 0;     // of the batch
  uint32_t nodes_[kBatch];
  const uint8_t* codes_[kBatch];
  float distances_[kBatch];
  BoundedHeap<FoundNode> nearest_;
  uint64_t scored_ = 0;
};

}  // namespace stoa::knn
