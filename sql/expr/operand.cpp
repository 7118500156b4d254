#include "sql/expr/operand.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace stoa::sql {
namespace {

std::string_view TrimBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Reads a decimal number; `end` is behind what was read. Words such as "inf" are no numbers.
bool ReadDouble(std::string_view text, double& value, size_t& end) {
  size_t sign = 0;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    sign = 1;
  }
  if (sign >= text.size() || !((text[sign] >= '0' && text[sign] <= '9') || text[sign] == '.')) {
    return false;
  }
  const size_t skip = text[0] == '+' ? 1 : 0;
  const char* first = text.data() + skip;
  const auto read = std::from_chars(first, text.data() + text.size(), value);
  if (read.ec == std::errc::invalid_argument) {
    return false;
  }
  if (read.ec == std::errc::result_out_of_range) {
    value = text[0] == '-' ? -std::numeric_limits<double>::max() : std::numeric_limits<double>::max();
  }
  end = static_cast<size_t>(read.ptr - text.data());
  return true;
}

}  // namespace

ValueClass ClassOf(ValueType type) {
  switch (type) {
    case ValueType::kNull:
      return ValueClass::kNull;
    case ValueType::kInt:
    case ValueType::kBigint:
    case ValueType::kUint64:
      return ValueClass::kInteger;
    case ValueType::kFloat:
    case ValueType::kDouble:
      return ValueClass::kReal;
    case ValueType::kString:
    case ValueType::kText:
      return ValueClass::kText;
    case ValueType::kJson:
      return ValueClass::kJson;
    case ValueType::kMulti:
    case ValueType::kMulti64:
      return ValueClass::kSet;
    case ValueType::kFloatVector:
    case ValueType::kFloatVectorArray:
      return ValueClass::kVector;
  }
  return ValueClass::kNull;
}

Result<const Vector*> ReadOperand(const Expr& expr, Batch& batch, Vector& scratch) {
  const Vector* values = &scratch;
  if (expr.slot() >= 0) {
    ASSIGN_OR_RETURN(values, batch.Slot(static_cast<size_t>(expr.slot())));
  } else {
    RETURN_IF_ERROR(expr.Evaluate(batch, scratch));
  }
  if (values->size() != batch.size() || LaneOf(values->type()) != LaneOf(expr.type())) {
    return InternalError("an expression has {} values of another type for {} rows", values->size(),
                         batch.size());
  }
  return values;
}

void SetNullValue(Vector& out, size_t row) {
  out.SetNull(row);
  switch (LaneOf(out.type())) {
    case VectorLane::kInt:
      out.ints()[row] = 0;
      break;
    case VectorLane::kReal:
      out.reals()[row] = 0;
      break;
    case VectorLane::kBytes:
      out.texts()[row] = {};
      break;
  }
}

void CopyNulls(const Vector& in, Vector& out) {
  if (!in.has_nulls()) {
    return;
  }
  for (size_t row = 0; row < in.size(); ++row) {
    if (in.IsNull(row)) {
      SetNullValue(out, row);
    }
  }
}

std::string_view KeepText(const Expr& source, std::string_view text, Vector& out) {
  return source.slot() >= 0 || source.is_constant() ? text : out.Own(std::string(text));
}

std::optional<double> ParseNumber(std::string_view text) {
  const std::string_view number = TrimBlanks(text);
  double value = 0;
  size_t end = 0;
  if (!ReadDouble(number, value, end) || end != number.size()) {
    return std::nullopt;
  }
  return value;
}

double LeadingDouble(std::string_view text) {
  double value = 0;
  size_t end = 0;
  return ReadDouble(TrimBlanks(text), value, end) ? value : 0;
}

int64_t LeadingInteger(std::string_view text) {
  const std::string_view number = TrimBlanks(text);
  const size_t skip = number.starts_with('+') ? 1 : 0;
  int64_t value = 0;
  const char* end = number.data() + number.size();
  const auto read = std::from_chars(number.data() + skip, end, value);
  const bool more = read.ptr != end && (*read.ptr == '.' || *read.ptr == 'e' || *read.ptr == 'E');
  if (read.ec == std::errc() && !more) {
    return value;
  }
  return TruncateToInteger(LeadingDouble(number));
}

int64_t TruncateToInteger(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (std::isnan(value)) {
    return 0;
  }
  if (value >= kLimit) {
    return std::numeric_limits<int64_t>::max();
  }
  if (value <= -kLimit) {
    return std::numeric_limits<int64_t>::min();
  }
  return static_cast<int64_t>(value);
}

}  // namespace stoa::sql
