#include "knn/search/code_scan.h"

#include <algorithm>

namespace stoa::knn {

void CodeScan::Score() {
  distances_.resize(codes_.size());
  if (bound_ < std::numeric_limits<float>::infinity()) {
    scorer_.ScoreNear(codes_.data(), codes_.size(), bound_, distances_.data());
  } else {
    scorer_.Score(codes_.data(), codes_.size(), distances_.data());
  }
  scored_ += codes_.size();
  for (size_t i = 0; i < codes_.size(); ++i) {
    if (distances_[i] <= bound_) {
      nearest_.Add({distances_[i], nodes_[i]});
    }
  }
  if (nearest_.full()) {
    bound_ = std::min(bound_, nearest_.largest().distance);
  }
  codes_.clear();
  nodes_.clear();
}

std::vector<FoundNode> CodeScan::TakeSorted() {
  Score();
  return nearest_.TakeSorted();
}

}  // namespace stoa::knn
