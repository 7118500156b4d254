#pragma once

#include <vector>

#include "knn/search/bounded_heap.h"
#include "knn/search/table_search.h"

namespace stoa::knn {

// Nearest first, equal distances by document id.
inline bool operator<(const SearchHit& a, const SearchHit& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

// The `capacity` nearest of the rows that were added.
class NearestRows : public BoundedHeap<SearchHit> {
 public:
  using BoundedHeap::BoundedHeap;

  // Whether a row at this distance may still enter; then its document id is worth looking up.
  bool MayEnter(float distance) const { return !full() || distance <= largest().distance; }
};

}  // namespace stoa::knn
