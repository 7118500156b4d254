#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/server.h"
#include "daemon/tls.h"
#include "storage/base/thread_pool.h"

namespace stoa::daemon {

// What all connections of a server share; outlives them. Everything in it is constant or safe to share.
struct ServerState {
  explicit ServerState(ServerOptions server_options)
      : options(std::move(server_options)),
        registry(options.max_connections, *options.clock),
        status(options.version, *options.clock),
        wait_seconds(options.wait_timeout.count()),
        interactive_seconds(options.interactive_timeout.count()) {}

  // Each belongs to one I/O thread. A connection stays with the one it got, so that nothing of it needs a
  // strand, and its coroutine never moves between threads.
  boost::asio::any_io_executor NextExecutor() {
    return executors[next_executor.fetch_add(1, std::memory_order_relaxed) % executors.size()];
  }

  const ServerOptions options;
  ConnectionRegistry registry;
  StatusReport status;
  std::shared_ptr<TlsContext> tls;  // null: not offered
  std::unique_ptr<ThreadPool> workers;
  sql::SessionEnvironment environment;
  QueryObserver* observer = nullptr;
  std::atomic<int64_t> wait_seconds;
  std::atomic<int64_t> interactive_seconds;
  std::atomic<bool> stopping{false};
  std::vector<boost::asio::any_io_executor> executors;  // not empty
  std::atomic<size_t> next_executor{0};
};

}  // namespace stoa::daemon
