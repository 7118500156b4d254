#pragma once

#include <optional>
#include <utility>

#include "storage/base/check.h"
#include "storage/base/status.h"

namespace stoa {

// A value or the Status that says why there is none. Reading the value of a failed result is a bug
// (STOA_CHECK).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor): return value;
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor): return status;
    STOA_CHECK(!status_.ok());
  }

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  T& value() & {
    STOA_CHECK(ok());
    return *value_;
  }
  const T& value() const& {
    STOA_CHECK(ok());
    return *value_;
  }
  T&& value() && {
    STOA_CHECK(ok());
    return std::move(*value_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace stoa

#define STOA_CONCAT_INNER(a, b) a##b
#define STOA_CONCAT(a, b) STOA_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression) RETURN_IF_ERROR_INNER(STOA_CONCAT(stoa_status_, __COUNTER__), expression)
#define RETURN_IF_ERROR_INNER(status, expression)   \
  do {                                              \
    if (auto status = (expression); !status.ok()) { \
      return status;                                \
    }                                               \
  } while (false)

// ASSIGN_OR_RETURN(auto file, env.Open(path));
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_INNER(STOA_CONCAT(stoa_result_, __COUNTER__), target, expression)
#define ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                              \
  if (!result.ok()) {                                      \
    return result.status();                                \
  }                                                        \
  target = std::move(result).value()
