#include "storage/json/json_value.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "storage/json/json_layout.h"

namespace stoa::storage {
namespace {

constexpr double kInt64Bound = 9223372036854775808.0;

int64_t Truncate(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  if (value >= kInt64Bound) {
    return std::numeric_limits<int64_t>::max();
  }
  if (value < -kInt64Bound) {
    return std::numeric_limits<int64_t>::min();
  }
  return static_cast<int64_t>(value);
}

// The number a whole text spells; false when it spells none.
template <typename Number>
bool ParseWhole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Number>
Number LoadNumber(std::string_view bytes) {
  Number value{};
  std::memcpy(&value, bytes.data() + 1, sizeof(Number));
  return value;
}

}  // namespace

JsonView::JsonView(std::string_view bytes) {
  if (!json_layout::IsWellFormedHead(bytes)) {
    return;
  }
  bytes_ = bytes;
  kind_ = static_cast<JsonKind>(bytes[0]);
  exists_ = true;
}

bool JsonView::is_number() const {
  return exists_ && (kind_ == JsonKind::kInt || kind_ == JsonKind::kDouble);
}

int64_t JsonView::AsInt() const {
  switch (kind_) {
    case JsonKind::kTrue:
      return 1;
    case JsonKind::kInt:
      return LoadNumber<int64_t>(bytes_);
    case JsonKind::kDouble:
      return Truncate(LoadNumber<double>(bytes_));
    case JsonKind::kString: {
      int64_t value = 0;
      return ParseWhole(AsString(), value) ? value : Truncate(AsDouble());
    }
    default:
      return 0;
  }
}

double JsonView::AsDouble() const {
  switch (kind_) {
    case JsonKind::kTrue:
      return 1;
    case JsonKind::kInt:
      return static_cast<double>(LoadNumber<int64_t>(bytes_));
    case JsonKind::kDouble:
      return LoadNumber<double>(bytes_);
    case JsonKind::kString: {
      double value = 0;
      return ParseWhole(AsString(), value) && std::isfinite(value) ? value : 0;
    }
    default:
      return 0;
  }
}

std::string_view JsonView::AsString() const {
  std::string_view text;
  if (kind_ == JsonKind::kString) {
    json_layout::SplitString(bytes_.substr(1), text);
  }
  return text;
}

size_t JsonView::size() const {
  const bool container = kind_ == JsonKind::kArray || kind_ == JsonKind::kObject;
  return container ? json_layout::ItemCount(bytes_) : 0;
}

JsonView JsonView::At(size_t index) const {
  if (kind_ != JsonKind::kArray || index >= size()) {
    return {};
  }
  return JsonView(json_layout::Item(bytes_, index));
}

JsonView JsonView::Member(std::string_view name) const {
  if (kind_ != JsonKind::kObject) {
    return {};
  }
  const size_t count = size();
  for (size_t i = 0; i < count; ++i) {
    std::string_view member;
    const std::string_view value = json_layout::SplitString(json_layout::Item(bytes_, i), member);
    if (member == name && !value.empty()) {
      return JsonView(value);
    }
  }
  return {};
}

std::string_view JsonView::MemberName(size_t index) const {
  std::string_view name;
  if (kind_ == JsonKind::kObject && index < size()) {
    json_layout::SplitString(json_layout::Item(bytes_, index), name);
  }
  return name;
}

JsonView JsonView::MemberAt(size_t index) const {
  if (kind_ != JsonKind::kObject || index >= size()) {
    return {};
  }
  std::string_view name;
  return JsonView(json_layout::SplitString(json_layout::Item(bytes_, index), name));
}

JsonView Follow(JsonView value, const std::vector<JsonStep>& path) {
  for (const JsonStep& step : path) {
    value = step.index ? value.At(*step.index) : value.Member(step.name);
    if (!value.exists()) {
      break;
    }
  }
  return value;
}

}  // namespace stoa::storage
