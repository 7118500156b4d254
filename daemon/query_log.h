#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "daemon/server.h"
#include "storage/base/mutex.h"
#include "storage/base/result.h"

namespace spdlog {
class logger;
}

namespace stoa::daemon {

struct QueryLogOptions {
  std::string path;           // a file or syslog; empty: nothing is logged
  bool plain = false;         // query_log_format
  int64_t min_micros = 0;     // query_log_min_msec
  uint32_t file_mode = 0600;  // query_log_mode
  std::string more_commands;  // query_log_commands: "insert,replace" or "all"
};

// The statement as one line that means the same: line breaks in literals become \n, others blanks, comments
// to the end of a line go, and the end is one ';'.
std::string OneLineStatement(std::string_view text);

// One line of the log, without its end: "/* date conn N (ip:port) real T wall T found N */ SELECT ...;", and
// " # error=..." for a failed statement. A prepared statement, whose values are not known, is a comment.
std::string FormatReplayable(const StatementReport& report);
std::string FormatPlain(const StatementReport& report);

// The log of queries that can be run again with `mysql < query.log`. Safe to share.
class QueryLog : public QueryObserver {
 public:
  static Result<std::unique_ptr<QueryLog>> Open(const QueryLogOptions& options);
  ~QueryLog() override;

  void OnStatement(const StatementReport& report) override;
  Status Reopen();
  void SetMinMicros(int64_t micros) { min_micros_ = micros; }
  void SetPlain(bool plain) { plain_ = plain; }

 private:
  explicit QueryLog(QueryLogOptions options);
  bool IsLogged(std::string_view text) const;

  const QueryLogOptions options_;
  std::set<std::string, std::less<>> commands_;  // in lower case; written by the constructor only
  bool all_commands_ = false;
  std::atomic<int64_t> min_micros_;
  std::atomic<bool> plain_;
  Mutex mutex_;
  std::shared_ptr<spdlog::logger> logger_ GUARDED_BY(mutex_);
};

}  // namespace stoa::daemon
