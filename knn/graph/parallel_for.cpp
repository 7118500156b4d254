#include "knn/graph/parallel_for.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace stoa::knn {

void ParallelFor(uint32_t threads, uint32_t first, uint32_t end, uint32_t grain,
                 const std::function<bool(uint32_t thread, uint32_t index)>& work) {
  std::atomic<uint64_t> next{first};
  std::atomic<bool> stop{false};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto take = [&](uint32_t thread) {
    while (!stop.load(std::memory_order_relaxed)) {
      const uint64_t from = next.fetch_add(grain, std::memory_order_relaxed);
      if (from >= end) {
        return;
      }
      const uint64_t to = std::min<uint64_t>(end, from + grain);
      for (uint64_t index = from; index < to; ++index) {
        if (!work(thread, static_cast<uint32_t>(index))) {
          stop.store(true, std::memory_order_relaxed);
          return;
        }
      }
    }
  };
  const auto run = [&](uint32_t thread) {
    try {
      take(thread);
    } catch (...) {
      stop.store(true, std::memory_order_relaxed);
      const std::lock_guard lock(failure_mutex);
      failure = failure != nullptr ? failure : std::current_exception();
    }
  };
  std::vector<std::jthread> others;
  for (uint32_t thread = 1; thread < threads && end - first > grain; ++thread) {
    others.emplace_back(run, thread);
  }
  run(0);
  others.clear();
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

}  // namespace stoa::knn
