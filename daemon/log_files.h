#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/log.h"
#include "storage/base/mutex.h"
#include "storage/base/result.h"

namespace spdlog {
class logger;
}

namespace stoa::daemon {

struct LogOptions {
  std::string path;             // a file, /dev/stdout, /dev/stderr or syslog
  bool echo_to_stdout = false;  // besides
};

// The server log, by spdlog. Safe to share. Installs itself as the process's LogSink while it lives.
class LogFiles : public LogSink {
 public:
  static Result<std::unique_ptr<LogFiles>> Open(const LogOptions& options);
  ~LogFiles() override;

  void Write(LogLevel level, std::string_view text) override;
  // "error", "warning", "info", "debug", "debugv", "debugvv".
  void SetLevel(std::string_view name);
  // For log rotation: the next line goes to a file of that name made anew. The old file stays in use on
  // error.
  Status Reopen();

 private:
  LogFiles(LogOptions options, std::shared_ptr<spdlog::logger> logger);
  std::shared_ptr<spdlog::logger> Current() const;

  const LogOptions options_;
  std::atomic<LogLevel> level_{LogLevel::kInfo};
  mutable Mutex mutex_;
  std::shared_ptr<spdlog::logger> logger_ GUARDED_BY(mutex_);
};

// A logger that writes to `path` (a file, /dev/stdout, /dev/stderr or syslog) with spdlog pattern `pattern`.
Result<std::shared_ptr<spdlog::logger>> OpenLogger(const std::string& path, const std::string& pattern,
                                                   bool echo_to_stdout);

}  // namespace stoa::daemon
