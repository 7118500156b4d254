#pragma once

#include <atomic>
#include <thread>

namespace stoa::knn {

// A lock of one byte for very short sections: millions of them, hardly ever contended.
class SpinLock {
 public:
  void lock() {
    for (int tries = 0; busy_.exchange(true, std::memory_order_acquire); ++tries) {
      while (busy_.load(std::memory_order_relaxed)) {
        if (++tries > 64) {
          std::this_thread::yield();
        }
      }
    }
  }
  void unlock() { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> busy_{false};
};

}  // namespace stoa::knn
