#include "knn/search/code_scan.h"

#include <algorithm>

namespace stoa::knn {

void CodeScan::Score() {
  scorer_.Score(codes_, count_, distances_);
  scored_ += count_;
  for (size_t i = 0; i < count_; ++i) {
    if (distances_[i] <= range_.upto && !(distances_[i] <= range_.above)) {
      nearest_.Add({distances_[i], nodes_[i]});
    }
  }
  if (nearest_.full()) {
    range_.upto = std::min(range_.upto, nearest_.largest().distance);
  }
  count_ = 0;
}

std::vector<FoundNode> CodeScan::TakeSorted() {
  Score();
  return nearest_.TakeSorted();
}

}  // namespace stoa::knn
