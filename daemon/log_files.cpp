#include "daemon/log_files.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <syslog.h>

#include <vector>

namespace stoa::daemon {

namespace {

constexpr std::string_view kPattern = "[%a %b %d %H:%M:%S.%e %Y] [%P] %v";

std::string_view LevelPrefix(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG: ";
    case LogLevel::kInfo:
      return "";
    case LogLevel::kWarning:
      return "WARNING: ";
    case LogLevel::kError:
      return "ERROR: ";
  }
  return "";
}

spdlog::sink_ptr MakeSink(const std::string& path) {
  if (path == "/dev/stdout") {
    return std::make_shared<spdlog::sinks::stdout_sink_mt>();
  }
  if (path == "/dev/stderr") {
    return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  if (path == "syslog") {
    return std::make_shared<spdlog::sinks::syslog_sink_mt>("searchd", LOG_PID, LOG_DAEMON, true);
  }
  return std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
}

}  // namespace

Result<std::shared_ptr<spdlog::logger>> OpenLogger(const std::string& path, const std::string& pattern,
                                                   bool echo_to_stdout) {
  std::vector<spdlog::sink_ptr> sinks;
  try {
    sinks.push_back(MakeSink(path));
    if (echo_to_stdout && path != "/dev/stdout") {
      sinks.push_back(std::make_shared<spdlog::sinks::stdout_sink_mt>());
    }
    auto logger = std::make_shared<spdlog::logger>("searchd", sinks.begin(), sinks.end());
    logger->set_pattern(pattern);
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::trace);
    // A full disk must not end the server, nor fill stderr.
    logger->set_error_handler([](const std::string&) {});
    return logger;
  } catch (const std::exception& error) {
    return IoError("log {}: {}", path, error.what());
  }
}

LogFiles::LogFiles(LogOptions options, std::shared_ptr<spdlog::logger> logger)
    : options_(std::move(options)), logger_(std::move(logger)) {}

Result<std::unique_ptr<LogFiles>> LogFiles::Open(const LogOptions& options) {
  ASSIGN_OR_RETURN(auto logger, OpenLogger(options.path, std::string(kPattern), options.echo_to_stdout));
  std::unique_ptr<LogFiles> files(new LogFiles(options, std::move(logger)));
  SetLogSink(files.get());
  return files;
}

LogFiles::~LogFiles() { SetLogSink(nullptr); }

std::shared_ptr<spdlog::logger> LogFiles::Current() const {
  MutexLock lock(mutex_);
  return logger_;
}

void LogFiles::Write(LogLevel level, std::string_view text) {
  if (level < level_.load(std::memory_order_relaxed)) {
    return;
  }
  const spdlog::level::level_enum spdlog_level = level == LogLevel::kError     ? spdlog::level::err
                                                 : level == LogLevel::kWarning ? spdlog::level::warn
                                                 : level == LogLevel::kInfo    ? spdlog::level::info
                                                                               : spdlog::level::debug;
  Current()->log(spdlog_level, "{}{}", LevelPrefix(level), text);
}

void LogFiles::SetLevel(std::string_view name) {
  LogLevel level = LogLevel::kInfo;
  if (name == "error") {
    level = LogLevel::kError;
  } else if (name == "warning") {
    level = LogLevel::kWarning;
  } else if (name.starts_with("debug")) {
    level = LogLevel::kDebug;
  }
  level_.store(level, std::memory_order_relaxed);
}

Status LogFiles::Reopen() {
  ASSIGN_OR_RETURN(auto logger, OpenLogger(options_.path, std::string(kPattern), options_.echo_to_stdout));
  MutexLock lock(mutex_);
  logger_ = std::move(logger);
  return Status::Ok();
}

}  // namespace stoa::daemon
