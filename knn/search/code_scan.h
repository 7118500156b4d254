#pragma once

#include <functional>
#include <vector>

#include "knn/graph/graph_walk.h"
#include "knn/quantize/quantizer.h"

namespace stoa::knn {

// Compares codes one after the other with a query and keeps the `capacity` nearest. Codes are collected and
// scored in batches. Reusable by one thread.
class CodeScan {
 public:
  CodeScan(const CodeScorer& scorer, size_t capacity) : scorer_(scorer), capacity_(capacity) {}

  void Add(uint32_t node, const uint8_t* code) {
    nodes_.push_back(node);
    codes_.push_back(code);
    if (nodes_.size() == kBatch) {
      Score();
    }
  }
  // In no order.
  std::vector<FoundNode> Take();
  uint64_t scored() const { return scored_; }

 private:
  static constexpr size_t kBatch = 64;
  void Score();

  const CodeScorer& scorer_;
  size_t capacity_;
  std::vector<uint32_t> nodes_;
  std::vector<const uint8_t*> codes_;
  std::vector<float> distances_;
  std::vector<FoundNode> heap_;  // the farthest in front
  uint64_t scored_ = 0;
};

}  // namespace stoa::knn
