#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/server_view.h"
#include "storage/base/clock.h"
#include "storage/base/mutex.h"

namespace stoa::daemon {

// What others may see and do of one connection. Its owner reports state changes; safe to share.
class ConnectionEntry {
 public:
  // Called by KILL with query_only; must not block and must be safe from any thread.
  using KillFunction = std::function<void(bool query_only)>;

  ConnectionEntry(uint64_t id, std::string host, std::string protocol, const Clock& clock);

  uint64_t id() const { return id_; }
  const std::string& host() const { return host_; }

  void SetUser(std::string user);
  void SetKill(KillFunction kill);  // an empty one: the connection is ending
  // Long texts are cut.
  void BeginCommand(std::string_view command, std::string_view statement);
  void EndCommand();

  bool running() const;
  sql::ProcessInfo Describe() const;
  void Kill(bool query_only) const;

 private:
  const uint64_t id_;
  const std::string host_;
  const std::string protocol_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::string user_ GUARDED_BY(mutex_);
  std::string command_ GUARDED_BY(mutex_) = "Connect";
  std::string statement_ GUARDED_BY(mutex_);
  int64_t since_ GUARDED_BY(mutex_) = 0;
  bool running_ GUARDED_BY(mutex_) = false;
  KillFunction kill_ GUARDED_BY(mutex_);
};

// All open connections: limit, PROCESSLIST, KILL. Safe to share; outlives every connection.
class ConnectionRegistry {
 public:
  ConnectionRegistry(size_t max_connections, const Clock& clock);

  // nullptr when max_connections are open and `vip` is false.
  std::shared_ptr<ConnectionEntry> Add(std::string host, std::string protocol, bool vip);
  void Remove(uint64_t id);

  std::vector<sql::ProcessInfo> List() const;  // by id
  // KILL [QUERY] id; NotFound (1094).
  Status Kill(uint64_t id, bool query_only);
  void KillAll(bool query_only);
  // Ends the connections that run no statement.
  void KillIdle();

  size_t size() const;
  size_t running() const;
  size_t vip_count() const;
  // 0: no limit. For SET GLOBAL max_connections.
  void SetMaxConnections(size_t max_connections) { max_connections_ = max_connections; }
  // False when connections are still open after `patience`.
  bool WaitUntilEmpty(std::chrono::milliseconds patience);

 private:
  struct Slot {
    std::shared_ptr<ConnectionEntry> entry;
    bool vip = false;
  };
  std::vector<std::shared_ptr<ConnectionEntry>> Entries() const;

  const Clock& clock_;
  std::atomic<size_t> max_connections_;
  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t next_id_ GUARDED_BY(mutex_) = 1;
  std::map<uint64_t, Slot> slots_ GUARDED_BY(mutex_);
};

}  // namespace stoa::daemon
