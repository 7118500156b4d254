#include "sql/expr/constant_test.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sql/expr/collation.h"
#include "sql/expr/operand.h"

namespace stoa::sql {
namespace {

using Wide = __int128;  // holds every int64 and uint64

constexpr Wide kWideLimit = Wide{1} << 70;
constexpr uint64_t kBitmapSize = 1U << 16;
constexpr size_t kShortList = 4;

bool IsNumeric(const Value& value) {
  return IsNumber(ClassOf(value.type)) &&
         !(ClassOf(value.type) == ValueClass::kReal && std::isnan(value.real));
}
bool IsTextual(const Value& value) { return ClassOf(value.type) == ValueClass::kText; }

double AsReal(const Value& value) {
  if (ClassOf(value.type) == ValueClass::kReal) {
    return value.real;
  }
  return value.type == ValueType::kUint64 ? static_cast<double>(static_cast<uint64_t>(value.integer))
                                          : static_cast<double>(value.integer);
}

Wide WideOf(double value) {
  constexpr double kLimit = 1180591620717411303424.0;  // 2^70
  if (value >= kLimit) {
    return kWideLimit;
  }
  return value <= -kLimit ? -kWideLimit : static_cast<Wide>(value);
}

Wide WideOf(const Value& value) {
  return value.type == ValueType::kUint64 ? Wide{static_cast<uint64_t>(value.integer)} : Wide{value.integer};
}

// The smallest integer that is not below the constant, and the largest that is not above it.
Wide RoundUp(const Value& value) {
  return ClassOf(value.type) == ValueClass::kReal ? WideOf(std::ceil(value.real)) : WideOf(value);
}
Wide RoundDown(const Value& value) {
  return ClassOf(value.type) == ValueClass::kReal ? WideOf(std::floor(value.real)) : WideOf(value);
}

Wide Smallest(bool is_unsigned) { return is_unsigned ? Wide{0} : Wide{std::numeric_limits<int64_t>::min()}; }
Wide Largest(bool is_unsigned) {
  return is_unsigned ? Wide{std::numeric_limits<uint64_t>::max()} : Wide{std::numeric_limits<int64_t>::max()};
}

}  // namespace

ConstantTest ConstantTest::Compare(Operator op, Value value) {
  ConstantTest test;
  test.has_null = value.is_null();
  switch (op) {
    case Operator::kLess:
    case Operator::kLessEqual:
      test.is_range = true;
      test.high_open = op == Operator::kLess;
      test.high = std::move(value);
      break;
    case Operator::kGreater:
    case Operator::kGreaterEqual:
      test.is_range = true;
      test.low_open = op == Operator::kGreater;
      test.low = std::move(value);
      break;
    default:
      test.negated = op == Operator::kNotEqual;
      test.list.push_back(std::move(value));
      break;
  }
  return test;
}

ConstantTest ConstantTest::Between(Value low, Value high, bool negated) {
  ConstantTest test;
  test.is_range = true;
  test.has_null = low.is_null() || high.is_null();
  test.low = std::move(low);
  test.high = std::move(high);
  test.negated = negated;
  return test;
}

ConstantTest ConstantTest::In(std::vector<Value> values, bool negated) {
  ConstantTest test;
  test.has_null = std::erase_if(values, [](const Value& value) { return value.is_null(); }) > 0;
  test.list = std::move(values);
  test.negated = negated;
  return test;
}

std::vector<Value*> ConstantTest::values() {
  std::vector<Value*> all;
  if (low) {
    all.push_back(&*low);
  }
  if (high) {
    all.push_back(&*high);
  }
  for (Value& value : list) {
    all.push_back(&value);
  }
  return all;
}

IntegerTest::IntegerTest(const ConstantTest& test, bool is_unsigned) : is_unsigned_(is_unsigned) {
  if (test.is_range) {
    CompileRange(test, is_unsigned);
  } else {
    CompileList(test, is_unsigned);
  }
}

void IntegerTest::CompileRange(const ConstantTest& test, bool is_unsigned) {
  Wide low = Smallest(is_unsigned);
  Wide high = Largest(is_unsigned);
  const bool numeric = (!test.low || IsNumeric(*test.low)) && (!test.high || IsNumeric(*test.high));
  if (numeric && test.low) {
    low = std::max(low, test.low_open ? RoundDown(*test.low) + 1 : RoundUp(*test.low));
  }
  if (numeric && test.high) {
    high = std::min(high, test.high_open ? RoundUp(*test.high) - 1 : RoundDown(*test.high));
  }
  empty_ = !numeric || low > high;
  low_ = static_cast<uint64_t>(low);
  width_ = static_cast<uint64_t>(high) - low_;
}

void IntegerTest::CompileList(const ConstantTest& test, bool is_unsigned) {
  std::vector<Wide> wanted;
  for (const Value& value : test.list) {
    const bool is_whole = IsNumeric(value) && RoundUp(value) == RoundDown(value);
    if (is_whole && RoundUp(value) >= Smallest(is_unsigned) && RoundUp(value) <= Largest(is_unsigned)) {
      wanted.push_back(RoundUp(value));
    }
  }
  std::ranges::sort(wanted);
  empty_ = wanted.empty();
  if (empty_) {
    return;
  }
  low_ = static_cast<uint64_t>(wanted.front());
  width_ = static_cast<uint64_t>(wanted.back()) - low_;
  if (width_ == 0) {
    return;
  }
  if (width_ < kBitmapSize) {
    form_ = Form::kBitmap;
    bitmap_.assign(width_ + 1, 0);
    for (const Wide value : wanted) {
      bitmap_[static_cast<uint64_t>(value) - low_] = 1;
    }
    return;
  }
  form_ = Form::kSet;
  for (const Wide value : wanted) {
    set_.insert(static_cast<int64_t>(value));
  }
}

bool IntegerTest::Matches(int64_t value) const {
  if (empty_) {
    return false;
  }
  const uint64_t offset = static_cast<uint64_t>(value) - low_;
  switch (form_) {
    case Form::kRange:
      return offset <= width_;
    case Form::kBitmap:
      return offset <= width_ && bitmap_[offset] != 0;
    case Form::kSet:
      return set_.contains(value);
  }
  return false;
}

void IntegerTest::Run(std::span<const int64_t> in, std::span<int64_t> out, bool negated) const {
  const bool wanted = !negated;
  if (empty_) {
    std::ranges::fill(out, negated ? 1 : 0);
    return;
  }
  if (form_ == Form::kRange) {
    const uint64_t low = low_;
    const uint64_t width = width_;
    for (size_t row = 0; row < in.size(); ++row) {
      out[row] = static_cast<int64_t>((static_cast<uint64_t>(in[row]) - low <= width) == wanted);
    }
    return;
  }
  if (form_ == Form::kBitmap) {
    const uint64_t low = low_;
    const uint64_t width = width_;
    for (size_t row = 0; row < in.size(); ++row) {
      const uint64_t offset = static_cast<uint64_t>(in[row]) - low;
      out[row] = static_cast<int64_t>((offset <= width && bitmap_[offset] != 0) == wanted);
    }
    return;
  }
  for (size_t row = 0; row < in.size(); ++row) {
    out[row] = static_cast<int64_t>(set_.contains(in[row]) == wanted);
  }
}

// The values of a list, ascending.
std::vector<int64_t> IntegerTest::Listed() const {
  std::vector<int64_t> values(set_.begin(), set_.end());
  for (size_t i = 0; i < bitmap_.size(); ++i) {
    if (bitmap_[i] != 0) {
      values.push_back(static_cast<int64_t>(low_ + i));
    }
  }
  std::ranges::sort(values, [this](int64_t a, int64_t b) {
    return is_unsigned_ ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  });
  return values;
}

std::optional<storage::ColumnPredicate> IntegerTest::Predicate() const {
  if (empty_) {
    return std::nullopt;
  }
  if (form_ != Form::kRange) {
    std::vector<int64_t> values = Listed();
    if (values.size() - 1 != width_) {  // else there is no gap between them
      return storage::ColumnPredicate{storage::IntSet{std::move(values)}};
    }
  }
  return storage::ColumnPredicate{
      storage::IntRange{static_cast<int64_t>(low_), static_cast<int64_t>(low_ + width_)}};
}

RealTest::RealTest(const ConstantTest& test, bool as_float, double tolerance)
    : is_range_(test.is_range), tolerance_(tolerance) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto rounded = [as_float](const Value& value) {
    const double real = AsReal(value);
    return as_float ? static_cast<double>(static_cast<float>(real)) : real;
  };
  if (is_range_) {
    const bool numeric = (!test.low || IsNumeric(*test.low)) && (!test.high || IsNumeric(*test.high));
    low_ = test.low && numeric ? rounded(*test.low) : -kInfinity;
    high_ = test.high && numeric ? rounded(*test.high) : kInfinity;
    low_ = test.low_open ? std::nextafter(low_, kInfinity) : low_;
    high_ = test.high_open ? std::nextafter(high_, -kInfinity) : high_;
    if (!numeric) {
      high_ = -kInfinity;
      low_ = kInfinity;
    }
    return;
  }
  for (const Value& value : test.list) {
    if (IsNumeric(value)) {
      list_.push_back(rounded(value));
    }
  }
  std::ranges::sort(list_);
  if (list_.size() == 1) {
    is_range_ = true;
    low_ = list_[0] - tolerance_;
    high_ = list_[0] + tolerance_;
  }
}

bool RealTest::Matches(double value) const {
  if (is_range_) {
    return value >= low_ && value <= high_;
  }
  const auto found = std::ranges::lower_bound(list_, value - tolerance_);
  return found != list_.end() && *found <= value + tolerance_;
}

void RealTest::Run(std::span<const double> in, std::span<int64_t> out, bool negated) const {
  const bool wanted = !negated;
  if (is_range_) {
    const double low = low_;
    const double high = high_;
    for (size_t row = 0; row < in.size(); ++row) {
      const bool inside = static_cast<int>(in[row] >= low) & static_cast<int>(in[row] <= high);
      out[row] = static_cast<int64_t>(inside == wanted);
    }
    return;
  }
  for (size_t row = 0; row < in.size(); ++row) {
    out[row] = static_cast<int64_t>(Matches(in[row]) == wanted);
  }
}

std::optional<storage::ColumnPredicate> RealTest::Predicate() const {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!is_range_ || !(low_ <= high_)) {
    return std::nullopt;
  }
  // The floats at the ends of the range of doubles.
  storage::FloatRange range{static_cast<float>(low_), static_cast<float>(high_)};
  if (static_cast<double>(range.low) < low_) {
    range.low = std::nextafter(range.low, kInfinity);
  }
  if (static_cast<double>(range.high) > high_) {
    range.high = std::nextafter(range.high, -kInfinity);
  }
  if (!(range.low <= range.high)) {
    return std::nullopt;
  }
  return storage::ColumnPredicate{range};
}

TextTest::TextTest(const ConstantTest& test, Collation collation)
    : collation_(collation), is_range_(test.is_range), low_open_(test.low_open), high_open_(test.high_open) {
  const bool textual = (!test.low || IsTextual(*test.low)) && (!test.high || IsTextual(*test.high));
  if (is_range_ && !textual) {
    is_range_ = false;  // an empty list: nothing matches
    return;
  }
  if (test.low) {
    low_ = test.low->bytes;
  }
  if (test.high) {
    high_ = test.high->bytes;
  }
  for (const Value& value : test.list) {
    if (IsTextual(value)) {
      list_.push_back(value.bytes);
    }
  }
  if (list_.size() > kShortList) {
    for (size_t i = 0; i < list_.size(); ++i) {
      by_hash_.emplace(HashString(collation_, list_[i]), i);
    }
  }
}

bool TextTest::Matches(std::string_view value) const {
  if (is_range_) {
    return MatchesRange(value);
  }
  if (!by_hash_.empty()) {
    const auto [first, last] = by_hash_.equal_range(HashString(collation_, value));
    return std::any_of(
        first, last, [&](const auto& entry) { return EqualStrings(collation_, value, list_[entry.second]); });
  }
  return std::ranges::any_of(list_,
                             [&](const std::string& text) { return EqualStrings(collation_, value, text); });
}

std::optional<storage::ColumnPredicate> TextTest::Predicate() const {
  if (is_range_ || list_.empty() || FoldsCase(collation_)) {
    auto passes = std::make_shared<const std::function<bool(std::string_view)>>(
        [test = *this](std::string_view value) { return test.Matches(value); });
    return storage::ColumnPredicate{storage::BytesTest{std::move(passes)}};
  }
  storage::BytesSet set{list_};
  std::ranges::sort(set.values);
  const auto repeated = std::ranges::unique(set.values);
  set.values.erase(repeated.begin(), repeated.end());
  return storage::ColumnPredicate{std::move(set)};
}

bool TextTest::MatchesRange(std::string_view value) const {
  if (low_) {
    const int order = CompareStrings(collation_, value, *low_);
    if (order < 0 || (low_open_ && order == 0)) {
      return false;
    }
  }
  if (high_) {
    const int order = CompareStrings(collation_, value, *high_);
    if (order > 0 || (high_open_ && order == 0)) {
      return false;
    }
  }
  return true;
}

JsonTest::JsonTest(const ConstantTest& test, Collation collation)
    : integers_(test, false), reals_(test, false, 0), texts_(test, collation) {
  const auto any = [&test](bool (*is)(const Value&)) {
    return (test.low && is(*test.low)) || (test.high && is(*test.high)) || std::ranges::any_of(test.list, is);
  };
  has_numbers_ = any(IsNumeric);
  has_texts_ = any(IsTextual);
}

bool JsonTest::Matches(storage::JsonView value) const {
  switch (value.kind()) {
    case storage::JsonKind::kFalse:
    case storage::JsonKind::kTrue:
    case storage::JsonKind::kInt:
      return has_numbers_ && integers_.Matches(value.AsInt());
    case storage::JsonKind::kDouble:
      return has_numbers_ && reals_.Matches(value.AsDouble());
    case storage::JsonKind::kString:
      return has_texts_ && texts_.Matches(value.AsString());
    default:
      return false;
  }
}

}  // namespace stoa::sql
