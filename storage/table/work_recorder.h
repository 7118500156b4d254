#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "storage/base/status.h"
#include "storage/table/catalog.h"

namespace stoa::storage {

// Collects ChunkWork. Safe to share.
class WorkRecorder {
 public:
  // One flush or merge, from its start on.
  class Scope {
   public:
    explicit Scope(WorkRecorder& recorder) : recorder_(recorder) {}
    void Finished(uint64_t bytes) {
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_);
      recorder_.finished_.fetch_add(1, std::memory_order_relaxed);
      recorder_.bytes_.fetch_add(bytes, std::memory_order_relaxed);
      recorder_.microseconds_.fetch_add(static_cast<uint64_t>(took.count()), std::memory_order_relaxed);
    }
    void Failed(const Status& status) {
      if (status.code() != StatusCode::kCancelled) {
        recorder_.failed_.fetch_add(1, std::memory_order_relaxed);
      }
    }

   private:
    using Clock = std::chrono::steady_clock;
    WorkRecorder& recorder_;
    const Clock::time_point start_ = Clock::now();
  };

  ChunkWork Read() const {
    return {.finished = finished_.load(std::memory_order_relaxed),
            .failed = failed_.load(std::memory_order_relaxed),
            .bytes = bytes_.load(std::memory_order_relaxed),
            .microseconds = microseconds_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<uint64_t> finished_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> microseconds_{0};
};

}  // namespace stoa::storage
