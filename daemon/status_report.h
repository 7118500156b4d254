#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/server_view.h"
#include "storage/base/clock.h"

namespace stoa {
class ThreadPool;
}

namespace stoa::daemon {

class ConnectionRegistry;

// Counters behind SHOW STATUS and COM_STATISTICS. Safe to share.
class StatusReport {
 public:
  StatusReport(std::string version, const Clock& clock);

  // What is counted elsewhere; both outlive the report or are taken away with nullptr before they end.
  void Watch(const ConnectionRegistry* registry, const ThreadPool* workers);

  void CountConnection() { Add(connections_); }
  void CountRefused() { Add(maxed_out_); }
  void CountAborted() { Add(aborted_); }
  void CountReceived(size_t bytes) { received_.fetch_add(bytes, std::memory_order_relaxed); }
  void CountSent(size_t bytes) { sent_.fetch_add(bytes, std::memory_order_relaxed); }
  // One packet with statements that ran; the first word of `text` chooses the command counter.
  void CountStatement(std::string_view text, int64_t wall_micros, bool failed);

  std::vector<sql::NamedValue> Counters() const;  // SHOW STATUS, in order
  std::string Line() const;                       // COM_STATISTICS

 private:
  using Counter = std::atomic<uint64_t>;
  static void Add(Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); }
  static constexpr size_t kCommands = 12;

  int64_t UptimeSeconds() const;

  const std::string version_;
  const Clock& clock_;
  const int64_t start_micros_;
  std::atomic<const ConnectionRegistry*> registry_{nullptr};
  std::atomic<const ThreadPool*> workers_{nullptr};
  Counter connections_{0};
  Counter maxed_out_{0};
  Counter aborted_{0};
  Counter received_{0};
  Counter sent_{0};
  Counter queries_{0};
  Counter failed_{0};
  Counter wall_micros_{0};
  Counter commands_[kCommands] = {};
};

}  // namespace stoa::daemon
