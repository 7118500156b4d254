#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/connection_registry.h"
#include "daemon/listen_address.h"
#include "daemon/status_report.h"
#include "sql/session/session.h"
#include "storage/base/clock.h"
#include "storage/base/result.h"

namespace stoa::daemon {

struct ServerOptions {
  std::vector<ListenAddress> listeners;
  std::string version = "8.0.40-stoa";  // of the greeting
  size_t worker_threads = 4;            // kept; more are started while these are busy
  size_t max_worker_threads = 256;
  size_t io_threads = 1;
  size_t max_connections = 0;  // 0: no limit
  uint64_t max_packet_size = 128 << 20;
  std::chrono::seconds network_timeout{5};   // for a packet that began to arrive, and for the whole handshake
  std::chrono::seconds wait_timeout{28800};  // idle connections
  std::chrono::seconds interactive_timeout{900};  // idle connections of CLIENT_INTERACTIVE
  std::chrono::seconds net_write_timeout{60};     // a client that does not read its result
  std::string ssl_cert;                           // TLS is offered when certificate and key are given
  std::string ssl_key;
  std::string ssl_ca;  // client certificates are asked for and checked against it
  const Clock* clock = &Clock::System();
};

// One packet of statements that ended; the texts are valid during the call only.
struct StatementReport {
  std::string_view text;
  std::string_view error;           // empty: success
  std::string_view client_address;  // ip:port
  std::string_view user;
  std::string_view table;  // empty when not known
  uint64_t connection_id = 0;
  int64_t start_micros = 0;  // Unix time
  int64_t wall_micros = 0;
  uint64_t rows = 0;  // sent, over all results
  size_t result_count = 0;
  bool prepared = false;
};

// The query log. Called by worker threads, several at a time.
class QueryObserver {
 public:
  virtual ~QueryObserver() = default;
  virtual void OnStatement(const StatementReport& report) = 0;
};

// Listeners, connections and the threads that serve them. Two steps, so that a port that is taken is known
// before tables are loaded, and the registry and counters exist before anybody asks ServerView for them:
//   Bind()  opens every listening socket, reads the certificate; nothing is accepted yet
//   Run()   accepts; returns at once
// Stop() (any thread but a worker's, repeatable) closes the listeners, ends idle connections, lets running
// statements finish for `patience`, cancels the rest and joins all threads.
class Server {
 public:
  static Result<std::unique_ptr<Server>> Bind(ServerOptions options);
  // Bind() and Run().
  static Result<std::unique_ptr<Server>> Start(ServerOptions options,
                                               const sql::SessionEnvironment& environment,
                                               QueryObserver* observer);
  ~Server();  // Stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // `environment` and `observer` (may be null) outlive the server's Stop().
  void Run(const sql::SessionEnvironment& environment, QueryObserver* observer);
  void Stop(std::chrono::milliseconds patience = std::chrono::milliseconds(3000));

  ConnectionRegistry& registry();
  StatusReport& status();
  // Changes that SET GLOBAL may make while running; they hold for connections made from now on.
  void SetIdleTimeouts(std::chrono::seconds wait, std::chrono::seconds interactive);
  // TCP ports of the mysql listeners, in the order of the options.
  std::vector<uint16_t> ports() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoa::daemon
