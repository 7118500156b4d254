#pragma once

#include <atomic>
#include <cstdint>

namespace stoa::knn {

// How much memory the loaded vector indexes of a server take, and may take (knn_mem_limit). Safe to share.
class IndexMemory {
 public:
  explicit IndexMemory(uint64_t limit) : limit_(limit) {}

  // Whether `bytes` more fit below the limit; then they count until they are given back.
  bool TryTake(uint64_t bytes) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ || used > limit_ - bytes) {
        return false;
      }
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void GiveBack(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
};

}  // namespace stoa::knn
