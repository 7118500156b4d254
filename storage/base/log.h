#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace stoa {

enum class LogLevel : int { kDebug, kInfo, kWarning, kError };

// Where log lines go. The daemon installs one (spdlog); without one, warnings and errors go to stderr.
// Write() may be called from any thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(LogLevel level, std::string_view text) = 0;
};

// Installs `sink` for the process, or none (nullptr). Only at start and stop, with no other thread logging.
void SetLogSink(LogSink* sink);
void LogText(LogLevel level, std::string_view text);

template <typename... Args>
void LogInfo(fmt::format_string<Args...> text, Args&&... args) {
  LogText(LogLevel::kInfo, fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
void LogWarning(fmt::format_string<Args...> text, Args&&... args) {
  LogText(LogLevel::kWarning, fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
void LogError(fmt::format_string<Args...> text, Args&&... args) {
  LogText(LogLevel::kError, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace stoa
