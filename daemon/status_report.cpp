#include "daemon/status_report.h"

#include <array>
#include <ctime>

#include "daemon/connection_registry.h"
#include "storage/base/thread_pool.h"

namespace stoa::daemon {
namespace {

struct CommandWord {
  std::string_view word;     // a statement's first, in lower case
  std::string_view counter;  // command_<counter>
};

// Two words may share a counter; SHOW STATUS lists each once.
constexpr std::array<CommandWord, 12> kWords{{{"select", "search"},
                                              {"insert", "insert"},
                                              {"replace", "replace"},
                                              {"update", "update"},
                                              {"delete", "delete"},
                                              {"commit", "commit"},
                                              {"set", "set"},
                                              {"show", "show"},
                                              {"call", "call"},
                                              {"create", "create"},
                                              {"alter", "alter"},
                                              {"drop", "drop"}}};

std::string FirstWord(std::string_view text) {
  std::string word;
  size_t start = text.find_first_not_of(" \t\r\n(");
  for (; start < text.size() && word.size() < 8; ++start) {
    const char c = text[start];
    const bool upper = c >= 'A' && c <= 'Z';
    if (!upper && !(c >= 'a' && c <= 'z')) {
      break;
    }
    word.push_back(upper ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return word;
}

std::string Seconds(uint64_t micros) { return fmt::format("{:.3f}", static_cast<double>(micros) / 1e6); }

uint64_t CpuMicros() { return static_cast<uint64_t>(std::clock()) * 1'000'000 / CLOCKS_PER_SEC; }

}  // namespace

StatusReport::StatusReport(std::string version, const Clock& clock)
    : version_(std::move(version)), clock_(clock), start_micros_(clock.UnixMicros()) {
  static_assert(kWords.size() == kCommands);
}

void StatusReport::Watch(const ConnectionRegistry* registry, const ThreadPool* workers) {
  registry_ = registry;
  workers_ = workers;
}

void StatusReport::CountStatement(std::string_view text, int64_t wall_micros, bool failed) {
  Add(queries_);
  if (failed) {
    Add(failed_);
  }
  wall_micros_.fetch_add(static_cast<uint64_t>(wall_micros), std::memory_order_relaxed);
  const std::string word = FirstWord(text);
  for (size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i].word == word) {
      Add(commands_[i]);
      return;
    }
  }
}

int64_t StatusReport::UptimeSeconds() const { return (clock_.UnixMicros() - start_micros_) / 1'000'000; }

std::vector<sql::NamedValue> StatusReport::Counters() const {
  const ConnectionRegistry* registry = registry_;
  const ThreadPool* workers = workers_;
  const uint64_t queries = queries_;
  const uint64_t wall = wall_micros_;
  std::vector<sql::NamedValue> rows;
  const auto add = [&rows](std::string_view name, auto value) {
    rows.push_back({std::string(name), fmt::format("{}", value)});
  };
  add("uptime", UptimeSeconds());
  add("connections", connections_.load());
  add("maxed_out", maxed_out_.load());
  add("version", version_);
  add("mysql_version", version_);
  for (size_t i = 0; i < kWords.size(); ++i) {
    add(fmt::format("command_{}", kWords[i].counter), commands_[i].load());
  }
  add("queries", queries);
  add("failed_queries", failed_.load());
  add("workers_total", workers == nullptr ? 0 : workers->threads());
  add("workers_active", workers == nullptr ? 0 : workers->busy());
  add("workers_clients", registry == nullptr ? 0 : registry->size());
  add("workers_clients_vip", registry == nullptr ? 0 : registry->vip_count());
  add("work_queue_length", workers == nullptr ? 0 : workers->queued());
  add("query_wall", Seconds(wall));
  add("avg_query_wall", Seconds(queries == 0 ? 0 : wall / queries));
  add("aborted_clients", aborted_.load());
  add("bytes_received", received_.load());
  add("bytes_sent", sent_.load());
  // MySQL's names, which monitors ask for.
  add("Questions", queries);
  add("Threads_connected", registry == nullptr ? 0 : registry->size());
  add("Threads_running", registry == nullptr ? 0 : registry->running());
  return rows;
}

std::string StatusReport::Line() const {
  const ConnectionRegistry* registry = registry_;
  const ThreadPool* workers = workers_;
  return fmt::format(
      "Uptime: {}  Threads: {}  Queue: {}  Clients: {}  Vip clients: {}  Tasks: {}  Queries: {}  Wall: {}s  "
      "CPU: {}s",
      UptimeSeconds(), workers == nullptr ? 0 : workers->threads(),
      workers == nullptr ? 0 : workers->queued(), registry == nullptr ? 0 : registry->size(),
      registry == nullptr ? 0 : registry->vip_count(), workers == nullptr ? 0 : workers->busy(),
      queries_.load(), Seconds(wall_micros_), Seconds(CpuMicros()));
}

}  // namespace stoa::daemon
