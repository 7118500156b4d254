#include "daemon/query_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "daemon/log_files.h"

namespace stoa::daemon {

namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

bool IsLineBreak(char c) { return c == '\n' || c == '\r'; }

// Copies the statement piece by piece.
class StatementFlattener {
 public:
  explicit StatementFlattener(std::string_view text) : text_(text) {}

  std::string Flatten() {
    while (at_ < text_.size()) {
      Step();
    }
    const size_t end = out_.find_last_not_of(" \t\v\f;");
    out_.resize(end == std::string::npos ? 0 : end + 1);
    out_ += ';';
    return std::move(out_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (c == '\'' || c == '"' || c == '`') {
      CopyQuoted(c);
    } else if (c == '#' || IsDashComment()) {
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    } else if (text_.substr(at_).starts_with("/*")) {
      CopyComment();
    } else {
      out_ += IsLineBreak(c) || c == '\0' ? ' ' : c;
      ++at_;
    }
  }

  bool IsDashComment() const {
    const std::string_view rest = text_.substr(at_);
    return rest.starts_with("--") && (rest.size() == 2 || kBlanks.find(rest[2]) != std::string_view::npos);
  }

  void CopyQuoted(char quote) {
    out_ += quote;
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (IsLineBreak(c)) {
        out_ += c == '\n' ? "\\n" : "\\r";
        continue;
      }
      out_ += c;
      if (c == '\\' && quote != '`' && at_ < text_.size()) {
        out_ += text_[at_++];
      } else if (c == quote) {
        return;
      }
    }
  }

  void CopyComment() {
    const size_t end = text_.find("*/", at_ + 2);
    const size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
    for (; at_ < stop; ++at_) {
      out_ += IsLineBreak(text_[at_]) ? ' ' : text_[at_];
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

std::string FormatDate(int64_t unix_micros) {
  const auto seconds = static_cast<std::time_t>(unix_micros / 1'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:%a %b %d %H:%M:%S}.{:03} {:%Y}", local, unix_micros / 1000 % 1000, local);
}

// In lower case.
std::string FirstWord(std::string_view text) {
  size_t at = 0;
  for (;;) {
    at = text.find_first_not_of(" \t\r\n\v\f(", at);
    if (at == std::string_view::npos) {
      return {};
    }
    if (!text.substr(at).starts_with("/*")) {
      break;
    }
    const size_t end = text.find("*/", at);
    at = end == std::string_view::npos ? text.size() : end + 2;
  }
  std::string word;
  for (; at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0; ++at) {
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
  }
  return word;
}

std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (IsLineBreak(c)) {
      c = ' ';
    }
  }
  return line;
}

double Seconds(int64_t micros) { return static_cast<double>(micros) / 1e6; }

Result<std::shared_ptr<spdlog::logger>> OpenQueryLogger(const QueryLogOptions& options) {
  const bool is_file = options.path != "syslog" && !options.path.starts_with("/dev/");
  ASSIGN_OR_RETURN(auto logger, OpenLogger(options.path, "%v", false));
  if (is_file && chmod(options.path.c_str(), options.file_mode) != 0) {
    return IoError("query log {}: {}", options.path, std::strerror(errno));
  }
  return logger;
}

}  // namespace

std::string OneLineStatement(std::string_view text) { return StatementFlattener(text).Flatten(); }

std::string FormatReplayable(const StatementReport& report) {
  const double wall = Seconds(report.wall_micros);
  std::string line =
      fmt::format("/* {} conn {} ({}) real {:.3f} wall {:.3f} found {} */ {}{}",
                  FormatDate(report.start_micros), report.connection_id, report.client_address, wall, wall,
                  report.rows, report.prepared ? "# prepared: " : "", OneLineStatement(report.text));
  if (!report.error.empty()) {
    line += fmt::format(" # error={}", OneLine(report.error));
  }
  return line;
}

std::string FormatPlain(const StatementReport& report) {
  const double wall = Seconds(report.wall_micros);
  return fmt::format("[{}] {:.3f} sec {:.3f} sec [{}] [{}] {}", FormatDate(report.start_micros), wall, wall,
                     report.rows, report.table, OneLine(report.text));
}

QueryLog::QueryLog(QueryLogOptions options)
    : options_(std::move(options)), min_micros_(options_.min_micros), plain_(options_.plain) {
  commands_ = {"select", "update"};
  std::string word;
  for (char c : options_.more_commands + ",") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      all_commands_ = all_commands_ || word == "all";
      commands_.insert(std::exchange(word, {}));
    }
  }
}

QueryLog::~QueryLog() = default;

Result<std::unique_ptr<QueryLog>> QueryLog::Open(const QueryLogOptions& options) {
  std::unique_ptr<QueryLog> log(new QueryLog(options));
  RETURN_IF_ERROR(log->Reopen());
  return log;
}

Status QueryLog::Reopen() {
  if (options_.path.empty()) {
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(auto logger, OpenQueryLogger(options_));
  MutexLock lock(mutex_);
  logger_ = std::move(logger);
  return Status::Ok();
}

bool QueryLog::IsLogged(std::string_view text) const {
  return all_commands_ || commands_.contains(FirstWord(text));
}

void QueryLog::OnStatement(const StatementReport& report) {
  if (options_.path.empty() || report.wall_micros < min_micros_ || !IsLogged(report.text)) {
    return;
  }
  std::shared_ptr<spdlog::logger> logger;
  {
    MutexLock lock(mutex_);
    logger = logger_;
  }
  const bool plain = plain_ || options_.path == "syslog";
  logger->info("{}", plain ? FormatPlain(report) : FormatReplayable(report));
}

}  // namespace stoa::daemon
