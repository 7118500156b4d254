#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace stoa::storage {

inline int64_t SteadySeconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// When background work that failed is tried again: after 10 seconds, then each time after twice as long, up
// to an hour for damage, which somebody has to mend, and to a minute for anything else. Safe to share.
class RetryDelay {
 public:
  static constexpr int64_t kShortest = 10;  // seconds
  static constexpr int64_t kLongest = 60;
  static constexpr int64_t kLongestForDamage = 3600;

  bool IsDue(int64_t now) const {
    MutexLock lock(mutex_);
    return now >= next_;
  }
  // Whether it is worth a line in the log: the first time in a row, or another kind of failure.
  bool Failed(int64_t now, StatusCode code) {
    MutexLock lock(mutex_);
    const bool is_new = code != last_;
    delay_ = is_new ? kShortest : std::min(delay_ * 2, LongestFor(code));
    next_ = now + delay_;
    last_ = code;
    return is_new;
  }
  void Succeeded() {
    MutexLock lock(mutex_);
    delay_ = next_ = 0;
    last_ = StatusCode::kOk;
  }

 private:
  static int64_t LongestFor(StatusCode code) {
    return code == StatusCode::kCorrupt ? kLongestForDamage : kLongest;
  }

  mutable Mutex mutex_;
  int64_t next_ GUARDED_BY(mutex_) = 0;
  int64_t delay_ GUARDED_BY(mutex_) = 0;
  StatusCode last_ GUARDED_BY(mutex_) = StatusCode::kOk;
};

}  // namespace stoa::storage
