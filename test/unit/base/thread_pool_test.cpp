#include "storage/base/thread_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <vector>

namespace stoa {

TEST_CASE("a pool of one thread runs tasks in the order they came", "[base][threads]") {
  std::vector<int> order;
  ThreadPool pool(1, 1);
  for (int i = 0; i < 100; ++i) {
    pool.Submit([&order, i] { order.push_back(i); });
  }
  pool.Stop();
  REQUIRE(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("a task that throws ends neither the process nor its thread", "[base][threads]") {
  std::atomic<int> ran{0};
  ThreadPool pool(1, 1);
  pool.Submit([] { throw std::bad_alloc(); });
  pool.Submit([] { throw 7; });
  pool.Submit([&ran] { ++ran; });
  pool.Stop();
  CHECK(ran == 1);
  CHECK(CatchAll([] { return NotFoundError("nothing"); }).code() == StatusCode::kNotFound);
  CHECK(CatchAll([]() -> Status { throw std::bad_alloc(); }).code() == StatusCode::kLimit);
  CHECK(CatchAll([]() -> Status { throw 7; }).code() == StatusCode::kInternal);
}

TEST_CASE("a task that waits does not keep others from starting up to the largest size", "[base][threads]") {
  ThreadPool pool(2, 5);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::vector<std::future<void>> started;
  for (int i = 0; i < 5; ++i) {
    auto promise = std::make_shared<std::promise<void>>();
    started.push_back(promise->get_future());
    pool.Submit([promise, released] {
      promise->set_value();
      released.wait();
    });
  }
  for (auto& start : started) {
    start.wait();
  }
  CHECK(pool.threads() == 5);
  CHECK(pool.busy() == 5);
  std::atomic<bool> ran{false};
  pool.Submit([&ran] { ran = true; });
  CHECK(pool.queued() == 1);
  CHECK_FALSE(ran);
  release.set_value();
  pool.Stop();
  CHECK(ran);
  CHECK(pool.threads() == 0);
}

TEST_CASE("a stopped pool drops tasks and may be stopped again", "[base][threads]") {
  ThreadPool pool(2, 2);
  pool.Stop();
  bool ran = false;
  pool.Submit([&ran] { ran = true; });
  pool.Stop();
  CHECK_FALSE(ran);
}

TEST_CASE("tasks from many threads all run once", "[base][threads]") {
  std::atomic<int> count{0};
  ThreadPool pool(2, 8);
  {
    std::vector<std::jthread> submitters;
    for (int i = 0; i < 4; ++i) {
      submitters.emplace_back([&] {
        for (int k = 0; k < 500; ++k) {
          pool.Submit([&count] { ++count; });
        }
      });
    }
  }
  pool.Stop();
  CHECK(count == 2000);
}

}  // namespace stoa
