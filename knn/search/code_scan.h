#pragma once

#include <limits>
#include <vector>

#include "knn/graph/graph_walk.h"
#include "knn/quantize/quantizer.h"
#include "knn/search/bounded_heap.h"

namespace stoa::knn {

// Estimates that a scan looks for: above < estimate ≤ upto.
struct EstimateRange {
  float above = -std::numeric_limits<float>::infinity();
  float upto = std::numeric_limits<float>::infinity();
};

// Compares codes one after the other with a query and keeps the `capacity` nearest in a range. Codes are
// collected and scored in batches. Reusable by one thread.
class CodeScan {
 public:
  CodeScan(const CodeScorer& scorer, size_t capacity, EstimateRange range = {})
      : scorer_(scorer), range_(range), nearest_(capacity) {}

  void Add(uint32_t node, const uint8_t* code) {
    nodes_.push_back(node);
    codes_.push_back(code);
    if (nodes_.size() == kBatch) {
      Score();
    }
  }
  std::vector<FoundNode> TakeSorted();
  uint64_t scored() const { return scored_; }

 private:
  static constexpr size_t kBatch = 64;
  void Score();

  const CodeScorer& scorer_;
  const EstimateRange range_;
  std::vector<uint32_t> nodes_;
  std::vector<const uint8_t*> codes_;
  std::vector<float> distances_;
  BoundedHeap<FoundNode> nearest_;
  uint64_t scored_ = 0;
};

}  // namespace stoa::knn
