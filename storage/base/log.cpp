#include "storage/base/log.h"

#include <atomic>
#include <cstdio>

namespace stoa {
namespace {
std::atomic<LogSink*> installed{nullptr};
}  // namespace

void SetLogSink(LogSink* sink) { installed.store(sink); }

void LogText(LogLevel level, std::string_view text) {
  if (LogSink* sink = installed.load()) {
    sink->Write(level, text);
  } else if (level >= LogLevel::kWarning) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  }
}

}  // namespace stoa
