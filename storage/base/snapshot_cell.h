#pragma once

#include <memory>
#include <utility>

#include "storage/base/mutex.h"

namespace stoa {

// Holds the current version of an immutable T. Load() and Store() may be called from any thread; each is one
// pointer copy under a mutex (std::atomic<shared_ptr> of g++ 12 is reported by TSan).
template <typename T>
class SnapshotCell {
 public:
  explicit SnapshotCell(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  std::shared_ptr<const T> Load() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return value_;
  }
  void Store(std::shared_ptr<const T> value) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      value_.swap(value);
    }
    // The old version is let go outside the lock: its destructor may delete files.
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const T> value_ GUARDED_BY(mutex_);
};

}  // namespace stoa
