#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Clang's thread-safety annotations (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html); nothing under
// g++.
#if defined(__clang__)
#define STOA_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define STOA_THREAD_ATTRIBUTE(x)
#endif
#define CAPABILITY(x) STOA_THREAD_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY STOA_THREAD_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) STOA_THREAD_ATTRIBUTE(guarded_by(x))
#define REQUIRES(...) STOA_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) STOA_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) STOA_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) STOA_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define EXCLUDES(...) STOA_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS STOA_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace stoa {

// std::mutex that clang can reason about. Lock order: docs/architecture.md.
class CAPABILITY("mutex") Mutex {
 public:
  void Lock() ACQUIRE() { mutex_.lock(); }
  void Unlock() RELEASE() { mutex_.unlock(); }
  bool TryLock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits release the mutex and take it again before they return; wake-ups may be spurious.
class CondVar {
 public:
  void Wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // False when the time ran out.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool woken = cv_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    lock.release();
    return woken;
  }
  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace stoa
