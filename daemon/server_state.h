#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

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
};

}  // namespace stoa::daemon
