#include "knn/search/code_scan.h"

namespace stoa::knn {

void CodeScan::Score() {
  distances_.resize(codes_.size());
  scorer_.Score(codes_.data(), codes_.size(), distances_.data());
  scored_ += codes_.size();
  for (size_t i = 0; i < codes_.size(); ++i) {
    if (distances_[i] > range_.above && distances_[i] <= range_.upto) {
      nearest_.Add({distances_[i], nodes_[i]});
    }
  }
  codes_.clear();
  nodes_.clear();
}

std::vector<FoundNode> CodeScan::TakeSorted() {
  Score();
  return nearest_.TakeSorted();
}

}  // namespace stoa::knn
