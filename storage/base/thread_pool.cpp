#include "storage/base/thread_pool.h"

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "storage/base/log.h"

namespace stoa {
namespace {

constexpr std::chrono::seconds kIdleTime{1};

void JoinAll(std::list<std::thread>& threads) {
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace

Status CatchAll(const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return LimitError("not enough memory");
  } catch (const std::exception& error) {
    return InternalError("unexpected: {}", error.what());
  } catch (...) {
    return InternalError("unexpected: an exception of unknown kind");
  }
}

ThreadPool::ThreadPool(size_t size, size_t max_size)
    : size_(std::max<size_t>(size, 1)), max_size_(std::max(size_, max_size)) {
  MutexLock lock(mutex_);
  while (live_.size() < size_) {
    StartThread();
  }
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Submit(std::function<void()> task) {
  Threads finished;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      return;
    }
    tasks_.push_back(std::move(task));
    wake_.NotifyOne();
    // An idle thread may be woken, but not yet running: count on each for one task only.
    if (tasks_.size() > idle_ && live_.size() < max_size_) {
      try {
        StartThread();
      } catch (const std::system_error& error) {
        LogWarning("cannot start thread {} of the pool: {}", live_.size() + 1, error.what());
      }
    }
    finished.swap(finished_);
  }
  JoinAll(finished);
}

void ThreadPool::Stop() {
  Threads finished;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
    while (!live_.empty()) {
      ended_.Wait(mutex_);
    }
    finished.swap(finished_);
  }
  JoinAll(finished);
}

void ThreadPool::StartThread() {
  const auto self = live_.emplace(live_.end());
  try {
    *self = std::thread(&ThreadPool::Work, this, self);
  } catch (...) {
    live_.erase(self);
    throw;
  }
}

void ThreadPool::Work(Threads::iterator self) {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      task = Take();
      if (!task) {
        finished_.splice(finished_.end(), live_, self);
        ended_.NotifyAll();
        return;
      }
    }
    const Status status = CatchAll([&task] {
      task();
      return Status::Ok();
    });
    if (!status.ok()) {
      LogError("a task of the pool was given up: {}", status.text());
    }
  }
}

std::function<void()> ThreadPool::Take() {
  ++idle_;
  while (tasks_.empty() && !stopping_) {
    const bool surplus = live_.size() > size_;
    if (!surplus) {
      wake_.Wait(mutex_);
    } else if (!wake_.WaitFor(mutex_, kIdleTime) && tasks_.empty() && live_.size() > size_) {
      break;
    }
  }
  --idle_;
  if (tasks_.empty()) {
    return {};
  }
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

size_t ThreadPool::busy() const {
  MutexLock lock(mutex_);
  return live_.size() - idle_;
}

size_t ThreadPool::queued() const {
  MutexLock lock(mutex_);
  return tasks_.size();
}

size_t ThreadPool::threads() const {
  MutexLock lock(mutex_);
  return live_.size();
}

}  // namespace stoa
