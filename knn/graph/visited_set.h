#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoa::knn {

// The nodes one walk has met: a bit a node, reused from walk to walk; clearing costs as much as was set. One
// a thread.
class VisitedSet {
 public:
  void Reset(uint32_t node_count) {
    for (const uint32_t word : touched_) {
      words_[word] = 0;
    }
    touched_.clear();
    if (const size_t needed = node_count / 64 + 1; words_.size() < needed) {
      words_.resize(needed);
    }
  }
  // True the first time.
  bool Insert(uint32_t node) {
    uint64_t& word = words_[node / 64];
    const uint64_t bit = uint64_t{1} << (node % 64);
    if ((word & bit) != 0) {
      return false;
    }
    if (word == 0) {
      touched_.push_back(node / 64);
    }
    word |= bit;
    return true;
  }

 private:
  std::vector<uint64_t> words_;
  std::vector<uint32_t> touched_;  // words that are not zero
};

}  // namespace stoa::knn
