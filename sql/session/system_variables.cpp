#include "sql/session/system_variables.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <thread>

#include "sql/session/variable_table.h"

namespace stoa::sql {
namespace {

// IANA name of the machine's zone, from TZ or the link /etc/localtime.
std::string MachineTimeZone() {
  if (const char* zone = std::getenv("TZ");
      zone != nullptr && *zone != '\0') {  // NOLINT(concurrency-mt-unsafe)
    return *zone == ':' ? zone + 1 : zone;
  }
  std::array<char, 512> target;
  const ssize_t length = readlink("/etc/localtime", target.data(), target.size());
  constexpr std::string_view kFolder = "zoneinfo/";
  if (length > 0) {
    const std::string_view path(target.data(), static_cast<size_t>(length));
    if (const size_t at = path.find(kFolder); at != std::string_view::npos) {
      return std::string(path.substr(at + kFolder.size()));
    }
  }
  return "UTC";
}

const std::string& CachedTimeZone() {
  static const std::string zone = MachineTimeZone();
  return zone;
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("localhost");
}

size_t Processors() { return std::max(1U, std::thread::hardware_concurrency()); }

// What an unset setting stands for, since users see the value in force.
std::string ComputedDefault(std::string_view name, std::string_view written) {
  if (name == "optimize_cutoff") {
    return std::to_string(2 * Processors());
  }
  if (name == "parallel_chunk_merges") {
    return std::to_string(std::clamp<size_t>(Processors() / 2, 1, 2));
  }
  if (name == "knn_parallel_build") {
    return std::to_string(std::clamp<size_t>(Processors() / 4, 1, 4));
  }
  if (name == "timezone") {
    return CachedTimeZone();
  }
  if (name == "hostname") {
    return HostName();
  }
  return std::string(written);
}

// Variables that tell of the session itself.
std::optional<std::string> SessionFact(const Session::State& session, std::string_view name) {
  if (name == "autocommit") {
    return session.autocommit ? "1" : "0";
  }
  if (name == "last_insert_id") {
    return session.last_insert_ids;
  }
  if (name == "identity") {
    return std::to_string(session.first_insert_id);
  }
  if (name == "user") {
    return session.user;
  }
  if (name == "version") {
    return session.environment.server->VersionString();
  }
  if (name == "warning_count") {
    return std::to_string(session.warnings.size());
  }
  if (name == "error_count") {
    return session.last_error.empty() ? "0" : "1";
  }
  if (name == "pseudo_thread_id") {
    return std::to_string(session.connection_id);
  }
  if (name == "in_transaction") {
    return session.in_transaction ? "1" : "0";
  }
  if (name == "timestamp") {
    return std::to_string(session.environment.clock->UnixMicros() / 1'000'000);
  }
  return std::nullopt;
}

// The server's own collation names are no MySQL ones; what clients read stays a name they know while the
// default rules.
bool IsHiddenSetting(std::string_view name, std::string_view value) {
  return name.starts_with("collation_") && value == "libc_ci";
}

// The server setting that a variable shows.
std::string_view SettingBehind(std::string_view variable) {
  if (variable == "collation_connection") {
    return "collation_server";
  }
  return variable == "max_allowed_packet" ? "max_packet_size" : variable;
}

std::string CurrentValue(const Session::State& session, std::string_view scope,
                         const VariableDefinition& variable) {
  if (auto fact = SessionFact(session, variable.name)) {
    return std::move(*fact);
  }
  if (scope != "global") {
    if (const auto set = session.variables.find(std::string(variable.name)); set != session.variables.end()) {
      return set->second;
    }
  }
  const std::string_view setting = SettingBehind(variable.name);
  if (Result<std::string> value = session.environment.server->Setting(setting);
      value.ok() && !value->empty() && !IsHiddenSetting(setting, *value)) {
    return std::move(value).value();
  }
  return ComputedDefault(variable.name, variable.value);
}

Value NumberOrText(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) {
    return Value::Bigint(number);
  }
  uint64_t wide = 0;
  const auto [wide_end, wide_error] = std::from_chars(text.data(), text.data() + text.size(), wide);
  if (wide_error == std::errc() && wide_end == text.data() + text.size() && !text.empty()) {
    return Value::Uint64(wide);
  }
  return Value::String(text);
}

}  // namespace

std::optional<Value> SystemVariable(const Session::State& session, std::string_view scope,
                                    std::string_view name) {
  if (name == "ro") {
    name = "session_read_only";
  }
  if (const VariableDefinition* variable = FindVariable(name)) {
    const std::string value = CurrentValue(session, scope, *variable);
    return variable->number ? NumberOrText(value) : Value::String(value);
  }
  if (scope != "global") {
    if (const auto set = session.variables.find(std::string(name)); set != session.variables.end()) {
      return NumberOrText(set->second);
    }
  }
  if (const Result<std::string> value = session.environment.server->Setting(name); value.ok()) {
    return NumberOrText(*value);
  }
  return std::nullopt;
}

std::vector<NamedValue> ListSystemVariables(const Session::State& session, std::string_view scope) {
  std::vector<NamedValue> rows;
  for (const VariableDefinition& variable : AllVariables()) {
    if (variable.listed) {
      rows.push_back({std::string(variable.name), CurrentValue(session, scope, variable)});
    }
  }
  return rows;
}

}  // namespace stoa::sql
