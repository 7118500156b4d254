#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace stoa::sql {

struct NamedValue {
  std::string name;
  std::string value;
};

struct ProcessInfo {
  uint64_t id = 0;
  std::string user;
  std::string host;          // ip:port
  std::string protocol;      // mysql, http
  std::string command;       // Query, Sleep, ...
  std::string statement;     // text of the running statement, else empty
  int64_t state_micros = 0;  // since when it is in this state
};

// What statements see of the server around them: SHOW VARIABLES / SETTINGS / STATUS / PROCESSLIST, SET
// GLOBAL, KILL. The daemon implements it. Safe to share between threads.
class ServerView {
 public:
  virtual ~ServerView() = default;

  virtual std::string VersionString() const = 0;  // "8.0.40-stoa-0.1.0"
  // Settings of the config with their current values ("searchd.listen", …) for SHOW SETTINGS.
  virtual std::vector<NamedValue> Settings() const = 0;
  // A setting's current value by its config name; empty string when unset. NotFound when there is no such
  // setting.
  virtual Result<std::string> Setting(std::string_view name) const = 0;
  // SET GLOBAL of a setting that may change while running; NotFound, or kInvalid with the allowed range.
  virtual Status SetSetting(std::string_view name, std::string_view value) = 0;
  virtual std::vector<NamedValue> StatusCounters() const = 0;  // SHOW STATUS, in order
  virtual std::string StatusLine() const = 0;                  // COM_STATISTICS
  virtual std::vector<ProcessInfo> Processes() const = 0;
  // Ends the statement of a connection, or (query_only false) the connection. NotFound when there is none.
  virtual Status Kill(uint64_t connection_id, bool query_only) = 0;
  virtual Status FlushLogs() = 0;
};

}  // namespace stoa::sql
