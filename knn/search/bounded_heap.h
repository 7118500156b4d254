#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace stoa::knn {

// The `capacity` (at least 1) smallest by operator< of the values that were added. Its memory grows with what
// is added.
template <typename T>
class BoundedHeap {
 public:
  explicit BoundedHeap(size_t capacity) : capacity_(capacity) {}

  bool full() const { return values_.size() == capacity_; }
  const T& largest() const { return values_.front(); }  // of at least one
  void Add(const T& value) {
    if (full()) {
      if (!(value < values_.front())) {
        return;
      }
      std::pop_heap(values_.begin(), values_.end());
      values_.pop_back();
    }
    values_.push_back(value);
    std::push_heap(values_.begin(), values_.end());
  }
  template <typename IsOut>
  void RemoveIf(const IsOut& is_out) {
    std::erase_if(values_, is_out);
    std::make_heap(values_.begin(), values_.end());
  }
  std::vector<T> TakeSorted() {
    std::sort_heap(values_.begin(), values_.end());
    return std::exchange(values_, {});
  }

 private:
  size_t capacity_;
  std::vector<T> values_;  // a heap, the largest in front
};

}  // namespace stoa::knn
