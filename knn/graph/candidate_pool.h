#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace stoa::knn {

// The nearest nodes a walk has met, at most `capacity`, nearest first; each is expanded once. A sorted array
// of keys: the distance's bits in an order that integers keep, the node, whether it was expanded. Equal
// distances are in the order of the nodes.
class CandidatePool {
 public:
  void Reset(size_t capacity) {
    capacity_ = capacity;
    next_ = 0;
    keys_.clear();
    keys_.reserve(capacity + 1);
  }

  size_t size() const { return keys_.size(); }
  uint32_t node(size_t place) const { return static_cast<uint32_t>(keys_[place]) >> 1; }
  float distance(size_t place) const { return DistanceOf(keys_[place]); }
  bool full() const { return keys_.size() == capacity_; }
  // Farther ones do not enter.
  float bound() const { return DistanceOf(keys_.back()); }

  // Nodes below 2^31; a node is added at most once.
  void Add(float distance, uint32_t node) {
    const uint64_t key = KeyOf(distance, node);
    if (full()) {
      if (key >= keys_.back()) {
        return;
      }
      keys_.pop_back();
    }
    const size_t place = PlaceOf(key);
    keys_.insert(keys_.begin() + static_cast<std::ptrdiff_t>(place), key);
    next_ = place < next_ ? place : next_;
  }

  // The nearest node that was not expanded, which is marked so; false when there is none.
  bool Next(uint32_t& node) {
    while (next_ < keys_.size() && (keys_[next_] & 1) != 0) {
      ++next_;
    }
    if (next_ == keys_.size()) {
      return false;
    }
    node = static_cast<uint32_t>(keys_[next_]) >> 1;
    keys_[next_++] |= 1;
    return true;
  }
  // The node that Next() would give now, for prefetching; perhaps one that was expanded.
  uint32_t Peek() const { return next_ < keys_.size() ? node(next_) : node(0); }

 private:
  static uint64_t KeyOf(float distance, uint32_t node) {
    const auto bits = std::bit_cast<uint32_t>(distance);
    const uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
    return uint64_t{ordered} << 32 | uint64_t{node} << 1;
  }
  static float DistanceOf(uint64_t key) {
    const auto ordered = static_cast<uint32_t>(key >> 32);
    return std::bit_cast<float>((ordered & 0x80000000u) != 0 ? ordered & 0x7fffffffu : ~ordered);
  }
  size_t PlaceOf(uint64_t key) const {
    size_t low = 0;
    size_t left = keys_.size();
    while (left > 1) {
      const size_t half = left / 2;
      low += keys_[low + half - 1] < key ? half : 0;
      left -= half;
    }
    low += left == 1 && keys_[low] < key ? 1 : 0;
    return low;
  }

  std::vector<uint64_t> keys_;
  size_t capacity_ = 0;
  size_t next_ = 0;  // keys before it were expanded
};

}  // namespace stoa::knn
