#include "daemon/connection_registry.h"

#include <chrono>

#include "sql/sql_error.h"

namespace stoa::daemon {
namespace {

constexpr size_t kShownStatement = 8 << 10;

}  // namespace

ConnectionEntry::ConnectionEntry(uint64_t id, std::string host, std::string protocol, const Clock& clock)
    : id_(id),
      host_(std::move(host)),
      protocol_(std::move(protocol)),
      clock_(clock),
      since_(clock.UnixMicros()) {}

void ConnectionEntry::SetUser(std::string user) {
  MutexLock lock(mutex_);
  user_ = std::move(user);
}

void ConnectionEntry::SetKill(KillFunction kill) {
  MutexLock lock(mutex_);
  kill_ = std::move(kill);
}

void ConnectionEntry::BeginCommand(std::string_view command, std::string_view statement) {
  MutexLock lock(mutex_);
  command_ = command;
  statement_ = statement.substr(0, kShownStatement);
  since_ = clock_.UnixMicros();
  running_ = true;
}

void ConnectionEntry::EndCommand() {
  MutexLock lock(mutex_);
  command_ = "Sleep";
  statement_.clear();
  since_ = clock_.UnixMicros();
  running_ = false;
}

bool ConnectionEntry::running() const {
  MutexLock lock(mutex_);
  return running_;
}

sql::ProcessInfo ConnectionEntry::Describe() const {
  MutexLock lock(mutex_);
  return {id_, user_, host_, protocol_, command_, statement_, since_};
}

void ConnectionEntry::Kill(bool query_only) const {
  MutexLock lock(mutex_);  // held during the call: after SetKill({}) no call is under way
  if (kill_ && (running_ || !query_only)) {
    kill_(query_only);
  }
}

ConnectionRegistry::ConnectionRegistry(size_t max_connections, const Clock& clock)
    : clock_(clock), max_connections_(max_connections) {}

std::shared_ptr<ConnectionEntry> ConnectionRegistry::Add(std::string host, std::string protocol, bool vip) {
  const size_t limit = max_connections_.load();
  MutexLock lock(mutex_);
  if (limit > 0 && !vip && slots_.size() >= limit) {
    return nullptr;
  }
  const uint64_t id = next_id_++;
  auto entry = std::make_shared<ConnectionEntry>(id, std::move(host), std::move(protocol), clock_);
  slots_[id] = {entry, vip};
  return entry;
}

void ConnectionRegistry::Remove(uint64_t id) {
  MutexLock lock(mutex_);
  slots_.erase(id);
  changed_.NotifyAll();
}

std::vector<std::shared_ptr<ConnectionEntry>> ConnectionRegistry::Entries() const {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<ConnectionEntry>> entries;
  for (const auto& [id, slot] : slots_) {
    entries.push_back(slot.entry);
  }
  return entries;
}

std::vector<sql::ProcessInfo> ConnectionRegistry::List() const {
  std::vector<sql::ProcessInfo> list;
  for (const auto& entry : Entries()) {
    list.push_back(entry->Describe());
  }
  return list;
}

Status ConnectionRegistry::Kill(uint64_t id, bool query_only) {
  std::shared_ptr<ConnectionEntry> entry;
  {
    MutexLock lock(mutex_);
    const auto slot = slots_.find(id);
    if (slot == slots_.end()) {
      return sql::UnknownThread(id);
    }
    entry = slot->second.entry;
  }
  entry->Kill(query_only);
  return Status::Ok();
}

void ConnectionRegistry::KillAll(bool query_only) {
  for (const auto& entry : Entries()) {
    entry->Kill(query_only);
  }
}

void ConnectionRegistry::KillIdle() {
  for (const auto& entry : Entries()) {
    if (!entry->running()) {
      entry->Kill(false);
    }
  }
}

size_t ConnectionRegistry::size() const {
  MutexLock lock(mutex_);
  return slots_.size();
}

size_t ConnectionRegistry::running() const {
  size_t count = 0;
  for (const auto& entry : Entries()) {
    count += entry->running() ? 1 : 0;
  }
  return count;
}

size_t ConnectionRegistry::vip_count() const {
  MutexLock lock(mutex_);
  size_t count = 0;
  for (const auto& [id, slot] : slots_) {
    count += slot.vip ? 1 : 0;
  }
  return count;
}

bool ConnectionRegistry::WaitUntilEmpty(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  MutexLock lock(mutex_);
  while (!slots_.empty()) {
    const auto rest = end - std::chrono::steady_clock::now();
    if (rest <= std::chrono::nanoseconds(0)) {
      return false;
    }
    changed_.WaitFor(mutex_, rest);
  }
  return true;
}

}  // namespace stoa::daemon
