#include "storage/base/status.h"

namespace stoa {

const char* StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalid:
      return "invalid";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kExists:
      return "exists";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kLimit:
      return "limit";
    case StatusCode::kCorrupt:
      return "corrupt";
    case StatusCode::kIo:
      return "io";
    case StatusCode::kCancelled:
      return "cancelled";
    case StatusCode::kInternal:
      return "internal";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string text, uint16_t number)
    : state_(code == StatusCode::kOk ? nullptr : new State{code, number, std::move(text)}) {}

Status::Status(const Status& other) : state_(other.state_ ? new State(*other.state_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) {
    state_.reset(other.state_ ? new State(*other.state_) : nullptr);
  }
  return *this;
}

const std::string& Status::text() const {
  static const std::string kEmpty;
  return state_ ? state_->text : kEmpty;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) {
    return {};
  }
  return {state_->code, fmt::format("{}: {}", context, state_->text), state_->number};
}

std::string Status::ToString() const {
  return ok() ? "ok" : fmt::format("{}: {}", StatusCodeName(state_->code), state_->text);
}

}  // namespace stoa
