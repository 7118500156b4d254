#pragma once

#include <vector>

#include "knn/search/table_search.h"

namespace stoa::knn {

// Nearest first, equal distances by document id.
bool IsNearer(const SearchHit& a, const SearchHit& b);

// The `capacity` nearest of the rows that were added.
class NearestRows {
 public:
  explicit NearestRows(size_t capacity) : capacity_(capacity) {}

  // Whether a row at this distance may still enter; then its document id is worth looking up.
  bool MayEnter(float distance) const {
    return rows_.size() < capacity_ || distance <= rows_.front().distance;
  }
  void Add(const SearchHit& hit);
  std::vector<SearchHit> TakeSorted() &&;

 private:
  size_t capacity_;
  std::vector<SearchHit> rows_;  // a heap, the farthest in front
};

}  // namespace stoa::knn
