#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace stoa {

enum class StatusCode : uint8_t {
  kOk,
  kInvalid,      // the caller's input is wrong
  kNotFound,     // the named thing does not exist
  kExists,       // the named thing exists already
  kUnsupported,  // understood, but not built
  kLimit,        // a limit was hit; the text names it
  kCorrupt,      // bytes on disk are wrong; the text names file and offset
  kIo,           // the system refused; the text names path and reason
  kCancelled,    // the statement was ended from outside
  kInternal,     // our bug, survivable
};

const char* StatusCodeName(StatusCode code);

// How an operation ended: ok, or a code and one sentence that says what and which.
// An ok status is one null pointer. `number` lets a layer above attach its own error number (sql: the MySQL
// number); 0 means none was given. Value type; share between threads like any value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string text, uint16_t number = 0);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  static Status Ok() { return {}; }

  bool ok() const { return state_ == nullptr; }
  StatusCode code() const { return state_ ? state_->code : StatusCode::kOk; }
  const std::string& text() const;
  uint16_t number() const { return state_ ? state_->number : uint16_t{0}; }

  // The same status with `context` and ": " in front of the text. Ok stays ok.
  Status WithContext(std::string_view context) const;
  // "corrupt: file x, offset 12: ..." for logs and tests.
  std::string ToString() const;

 private:
  struct State {
    StatusCode code;
    uint16_t number;
    std::string text;
  };
  std::unique_ptr<State> state_;
};

// Makers: InvalidError("column '{}' has {} values", name, n).
template <typename... Args>
Status InvalidError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kInvalid, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Status NotFoundError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kNotFound, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Status ExistsError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kExists, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Status UnsupportedError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kUnsupported, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Status LimitError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kLimit, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Status CorruptError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kCorrupt, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Status IoError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kIo, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Status CancelledError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kCancelled, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Status InternalError(fmt::format_string<Args...> text, Args&&... args) {
  return {StatusCode::kInternal, fmt::format(text, std::forward<Args>(args)...)};
}

}  // namespace stoa
