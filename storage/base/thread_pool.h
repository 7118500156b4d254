#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <thread>

#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace stoa {

// What `work` returns, or an error for what it threw (std::bad_alloc, as a rule): background work that runs
// out of memory fails, and the server lives.
Status CatchAll(const std::function<Status()>& work);

// Threads that run tasks in the order they were submitted. `size` threads are kept; when all are busy more
// are started, up to `max_size`, and end again after a short idle time: a task that runs long or waits (for a
// slow client, for a lock) never keeps the others from starting. A task that throws is logged. Safe to share.
class ThreadPool {
 public:
  ThreadPool(size_t size, size_t max_size);
  ~ThreadPool();  // Stop()
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void Submit(std::function<void()> task);
  // Runs what was submitted, then joins all threads. Submit() afterwards drops the task. Not from a task.
  void Stop();

  size_t busy() const;    // threads running a task
  size_t queued() const;  // tasks waiting
  size_t threads() const;

 private:
  using Threads = std::list<std::thread>;

  void StartThread() REQUIRES(mutex_);
  void Work(Threads::iterator self);
  // The next task, or none when the thread shall end.
  std::function<void()> Take() REQUIRES(mutex_);

  const size_t size_;
  const size_t max_size_;
  mutable Mutex mutex_;
  CondVar wake_;
  CondVar ended_;
  std::deque<std::function<void()>> tasks_ GUARDED_BY(mutex_);
  Threads live_ GUARDED_BY(mutex_);
  Threads finished_ GUARDED_BY(mutex_);  // have left their loop and wait to be joined
  size_t idle_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace stoa
