#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "storage/table/catalog.h"

namespace stoa::storage {

// Collects WaitHistogram. Safe to share.
class WaitRecorder {
 public:
  using Clock = std::chrono::steady_clock;

  void Add(Clock::duration wait) {
    const auto micros =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(wait).count());
    size_t bucket = 0;
    while (bucket < WaitHistogram::kBounds.size() && micros > WaitHistogram::kBounds[bucket]) {
      ++bucket;
    }
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    uint64_t longest = longest_.load(std::memory_order_relaxed);
    while (micros > longest && !longest_.compare_exchange_weak(longest, micros, std::memory_order_relaxed)) {
    }
  }

  WaitHistogram Read() const {
    WaitHistogram histogram;
    for (size_t i = 0; i < counts_.size(); ++i) {
      histogram.counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    histogram.longest_microseconds = longest_.load(std::memory_order_relaxed);
    return histogram;
  }

  // Records how long it lived.
  class Scope {
   public:
    explicit Scope(WaitRecorder& recorder) : recorder_(recorder) {}
    ~Scope() { recorder_.Add(Clock::now() - start_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WaitRecorder& recorder_;
    Clock::time_point start_ = Clock::now();
  };

 private:
  std::array<std::atomic<uint64_t>, WaitHistogram::kBounds.size() + 1> counts_{};
  std::atomic<uint64_t> longest_{0};
};

}  // namespace stoa::storage
