#include "knn/search/nearest_rows.h"

#include <algorithm>

namespace stoa::knn {

bool IsNearer(const SearchHit& a, const SearchHit& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

void NearestRows::Add(const SearchHit& hit) {
  if (capacity_ == 0) {
    return;
  }
  if (rows_.size() == capacity_) {
    if (!IsNearer(hit, rows_.front())) {
      return;
    }
    std::pop_heap(rows_.begin(), rows_.end(), IsNearer);
    rows_.pop_back();
  }
  rows_.push_back(hit);
  std::push_heap(rows_.begin(), rows_.end(), IsNearer);
}

std::vector<SearchHit> NearestRows::TakeSorted() && {
  std::sort(rows_.begin(), rows_.end(), IsNearer);
  return std::move(rows_);
}

}  // namespace stoa::knn
