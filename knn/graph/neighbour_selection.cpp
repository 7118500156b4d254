#include "knn/graph/neighbour_selection.h"

#include <algorithm>

namespace stoa::knn {

const std::vector<Link>& NeighbourSelection::Select(std::span<const Link> candidates, uint32_t most) {
  taken_.clear();
  taken_codes_.clear();
  for (const Link& candidate : candidates) {
    if (taken_.size() == most) {
      break;
    }
    if (!IsNearerToTaken(candidate)) {
      taken_.push_back(candidate);
      taken_codes_.push_back(codes_[candidate.node]);
    }
  }
  return taken_;
}

bool NeighbourSelection::IsNearerToTaken(const Link& candidate) {
  if (taken_.empty()) {
    return false;
  }
  scorer_->SetQueryCode(codes_[candidate.node]);
  constexpr size_t kStep = 8;  // most candidates are refused by one of the first
  distances_.resize(kStep);
  for (size_t first = 0; first < taken_.size(); first += kStep) {
    const size_t count = std::min(kStep, taken_.size() - first);
    scorer_->Score(taken_codes_.data() + first, count, distances_.data());
    for (size_t i = 0; i < count; ++i) {
      if (distances_[i] < candidate.distance) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace stoa::knn
