#include "knn/search/search_threads.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "storage/base/mutex.h"
#include "storage/base/thread_pool.h"

namespace stoa::knn {
namespace {

// Of one call. A thread that comes when all tasks are taken finds only this left.
class Tasks {
 public:
  Tasks(size_t count, const std::function<void(size_t, size_t)>& work) : count_(count), work_(work) {}

  // The calling worker takes tasks until there are none.
  void Work(size_t worker) {
    for (size_t task = next_.fetch_add(1); task < count_; task = next_.fetch_add(1)) {
      work_(worker, task);
      MutexLock lock(mutex_);
      if (++done_ == count_) {
        all_done_.NotifyAll();
      }
    }
  }
  void WaitForAll() {
    MutexLock lock(mutex_);
    while (done_ < count_) {
      all_done_.Wait(mutex_);
    }
  }

 private:
  const size_t count_;
  const std::function<void(size_t, size_t)>& work_;  // lives until all are done
  std::atomic<size_t> next_{0};
  Mutex mutex_;
  CondVar all_done_;
  size_t done_ GUARDED_BY(mutex_) = 0;
};

size_t Processors() {
  static const size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

ThreadPool& Helpers() {
  // Never destroyed: its threads sleep when the process ends.
  static auto* const pool = new ThreadPool(Processors() - 1, Processors() - 1);
  return *pool;
}

std::atomic<size_t>& Running() {
  static std::atomic<size_t> running{0};
  return running;
}

}  // namespace

size_t MostWorkers() { return Processors(); }

void RunOnThreads(size_t tasks, size_t most_workers,
                  const std::function<void(size_t worker, size_t task)>& work) {
  const size_t running = Running().fetch_add(1) + 1;
  const size_t free = Processors() - std::min(Processors(), running);
  const size_t helpers = std::min({free, tasks - std::min<size_t>(tasks, 1), most_workers - 1});
  const auto shared = std::make_shared<Tasks>(tasks, work);
  for (size_t helper = 0; helper < helpers; ++helper) {
    const Status submitted = CatchAll([&] {
      Helpers().Submit([shared, helper] { shared->Work(helper + 1); });
      return Status::Ok();
    });
    if (!submitted.ok()) {  // no memory, or no thread: this one does it all
      break;
    }
  }
  shared->Work(0);
  shared->WaitForAll();
  Running().fetch_sub(1);
}

}  // namespace stoa::knn
