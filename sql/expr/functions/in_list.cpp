#include "sql/expr/functions/in_list.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sql/expr/collation.h"
#include "sql/expr/functions/function.h"

namespace stoa::sql {
namespace {

template <typename T>
std::vector<int64_t> ItemsOf(std::string_view set) {
  std::vector<int64_t> items;
  for (size_t at = 0; at + sizeof(T) <= set.size(); at += sizeof(T)) {
    T item{};
    std::memcpy(&item, set.data() + at, sizeof(T));
    items.push_back(static_cast<int64_t>(item));
  }
  return items;
}

}  // namespace

void InList::Add(const Value& value) {
  switch (value.type) {
    case ValueType::kNull:
      return;
    case ValueType::kMulti:
    case ValueType::kMulti64:
      for (int64_t item :
           value.type == ValueType::kMulti ? ItemsOf<uint32_t>(value.bytes) : ItemsOf<int64_t>(value.bytes)) {
        Add(Value::Bigint(item));
      }
      return;
    case ValueType::kFloat:
    case ValueType::kDouble: {
      constexpr double kExact = 9007199254740992.0;  // 2^53
      reals_.push_back(value.real);
      if (value.real == std::floor(value.real) && std::fabs(value.real) <= kExact) {
        integers_.push_back(static_cast<int64_t>(value.real));
      }
      return;
    }
    default:
      break;
  }
  if (IsInteger(value.type)) {
    integers_.push_back(value.integer);
    reals_.push_back(RealOf(value));
  } else {
    texts_.push_back(TextOf(value));
  }
}

void InList::RoundToFloat() {
  for (double& real : reals_) {
    real = static_cast<double>(static_cast<float>(real));
  }
}

void InList::Seal() {
  std::sort(integers_.begin(), integers_.end());
  std::sort(reals_.begin(), reals_.end());
  std::sort(texts_.begin(), texts_.end(), [this](const std::string& a, const std::string& b) {
    return CompareStrings(collation_, a, b) < 0;
  });
}

bool InList::Contains(int64_t value) const {
  return std::binary_search(integers_.begin(), integers_.end(), value);
}

bool InList::Contains(double value) const { return std::binary_search(reals_.begin(), reals_.end(), value); }

bool InList::Contains(std::string_view value) const {
  auto below = [this](const std::string& a, std::string_view b) {
    return CompareStrings(collation_, a, b) < 0;
  };
  auto at = std::lower_bound(texts_.begin(), texts_.end(), value, below);
  return at != texts_.end() && EqualStrings(collation_, *at, value);
}

bool InList::Contains(storage::JsonView value) const {
  if (value.kind() != storage::JsonKind::kArray) {
    return ContainsScalar(value);
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (ContainsScalar(value.At(i))) {
      return true;
    }
  }
  return false;
}

bool InList::ContainsScalar(storage::JsonView value) const {
  if (!value.exists()) {
    return false;
  }
  switch (value.kind()) {
    case storage::JsonKind::kFalse:
    case storage::JsonKind::kTrue:
    case storage::JsonKind::kInt:
      return Contains(value.AsInt());
    case storage::JsonKind::kDouble:
      return Contains(value.AsDouble());
    case storage::JsonKind::kString:
      return Contains(value.AsString());
    default:
      return false;
  }
}

}  // namespace stoa::sql
