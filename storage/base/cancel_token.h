#pragma once

#include <atomic>
#include <chrono>

#include "storage/base/status.h"

namespace stoa {

// One running statement's "stop" flag and deadline. Any thread may Cancel(); the statement calls Check() once
// a batch.
class CancelToken {
 public:
  using Clock = std::chrono::steady_clock;

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  // Forgets an earlier Cancel() and deadline, for the next statement of a session.
  void Reset() {
    cancelled_.store(false, std::memory_order_relaxed);
    deadline_.store(Clock::time_point::max(), std::memory_order_relaxed);
  }
  void SetDeadline(Clock::time_point deadline) { deadline_.store(deadline, std::memory_order_relaxed); }

  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  bool DeadlinePassed() const {
    const Clock::time_point deadline = deadline_.load(std::memory_order_relaxed);
    return deadline != Clock::time_point::max() && Clock::now() >= deadline;
  }
  // kCancelled after Cancel(). A deadline is asked for separately: a SELECT then returns what it has.
  Status Check() const {
    return cancelled() ? CancelledError("query execution was interrupted") : Status::Ok();
  }

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<Clock::time_point> deadline_{Clock::time_point::max()};
};

}  // namespace stoa
