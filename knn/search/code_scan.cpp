#include "knn/search/code_scan.h"

#include <algorithm>

namespace stoa::knn {

namespace {

bool IsNearer(const FoundNode& a, const FoundNode& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.node < b.node;
}

}  // namespace

void CodeScan::Score() {
  distances_.resize(codes_.size());
  scorer_.Score(codes_.data(), codes_.size(), distances_.data());
  scored_ += codes_.size();
  for (size_t i = 0; i < codes_.size(); ++i) {
    const FoundNode found{distances_[i], nodes_[i]};
    if (heap_.size() == capacity_) {
      if (capacity_ == 0 || !IsNearer(found, heap_.front())) {
        continue;
      }
      std::pop_heap(heap_.begin(), heap_.end(), IsNearer);
      heap_.pop_back();
    }
    heap_.push_back(found);
    std::push_heap(heap_.begin(), heap_.end(), IsNearer);
  }
  codes_.clear();
  nodes_.clear();
}

std::vector<FoundNode> CodeScan::Take() {
  Score();
  return std::move(heap_);
}

}  // namespace stoa::knn
