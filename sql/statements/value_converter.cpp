#include "sql/statements/value_converter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "knn/metric.h"
#include "sql/parser/number_list.h"
#include "sql/sql_error.h"
#include "storage/json/json_value.h"

namespace stoa::sql {
namespace {

using storage::ColumnType;
using storage::ColumnValues;

constexpr uint64_t kMostInt = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMostBigint = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
constexpr double kTwoTo63 = 9223372036854775808.0;

bool IsList(const ParsedExpr& value) {
  return value.kind == ParsedKind::kList || value.kind == ParsedKind::kArray ||
         value.kind == ParsedKind::kNumbers;
}

size_t ItemCount(const ParsedExpr& list) {
  return list.kind == ParsedKind::kNumbers ? list.numbers->floats.size() : list.args.size();
}

// "1, 2,3" as integers; false when a number is none of these.
template <typename Item>
bool ReadItems(std::string_view text, std::vector<Item>& items) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip_blanks = [&] { at = std::find_if(at, end, [](char c) { return c != ' '; }); };
  for (;;) {
    Item item = 0;
    skip_blanks();
    const auto [stop, error] = std::from_chars(at, end, item);
    if (error != std::errc()) {
      return false;
    }
    items.push_back(item);
    at = stop;
    skip_blanks();
    if (at == end || *at != ',') {
      return at == end;
    }
    ++at;
  }
}

template <typename Item>
void AppendItems(const std::vector<Item>& items, ColumnValues& out) {
  out.AppendBytes({reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item)});
}

template <typename Item>
void SortUnique(std::vector<Item>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

Status NotMulti() { return InvalidError("non-MVA value specified for a MVA column"); }
Status NotScalar() { return InvalidError("MVA value specified for a non-MVA column"); }

Status OutOfRange(const ParsedExpr& value, const storage::ColumnDefinition& column, std::string_view range) {
  return InvalidError("value {} is out of range of column '{}' ({})", LiteralText(value), column.name, range);
}

bool TakesList(ColumnType type) {
  return type == ColumnType::kMulti || type == ColumnType::kMulti64 || type == ColumnType::kFloatVector ||
         type == ColumnType::kFloatVectorArray;
}

}  // namespace

Status ValueConverter::Append(const ParsedExpr& value, ColumnValues& out) {
  if (value.kind == ParsedKind::kNull) {
    if (column_.type == ColumnType::kJson) {  // a row without JSON shows NULL, and a dump must come back
      out.AppendBytes({});
      return Status::Ok();
    }
    return UnexpectedNull(context_.statement, value.range);
  }
  if (value.kind == ParsedKind::kString && TakesList(column_.type)) {
    const std::string_view text = value.is_bound ? WithoutBrackets(value.text) : value.text;
    floats_.clear();
    if (column_.type == ColumnType::kFloatVector && ReadFloats(text, '\0', floats_)) {
      return AppendRead(out);
    }
    if (const ParsedExprPtr list = ListFromText(text); list != nullptr) {
      return Append(*list, out);
    }
  }
  switch (column_.type) {
    case ColumnType::kInt:
      return AppendUnsigned(value, column_.bits >= 32 ? kMostInt : (uint64_t{1} << column_.bits) - 1, out);
    case ColumnType::kId:
    case ColumnType::kBigint:
      return AppendBigint(value, out);
    case ColumnType::kBool:
      return AppendBool(value, out);
    case ColumnType::kTimestamp:
      return AppendTimestamp(value, out);
    case ColumnType::kFloat:
      return AppendFloat(value, out);
    case ColumnType::kText:
    case ColumnType::kString:
      return AppendText(value, out);
    case ColumnType::kJson:
      return AppendJson(value, out);
    case ColumnType::kMulti:
      return AppendMulti(value, out);
    case ColumnType::kMulti64:
      return AppendMulti64(value, out);
    case ColumnType::kFloatVector:
      return AppendVector(value, out);
    case ColumnType::kFloatVectorArray:
      return AppendVectorArray(value, out);
  }
  return InternalError("column '{}' has an unknown type", column_.name);
}

Status ValueConverter::ReadScalar(const ParsedExpr& value, Number& number) const {
  if (ReadNumberOrText(value, number)) {
    return Status::Ok();
  }
  if (IsList(value)) {
    return NotScalar();
  }
  if (value.kind == ParsedKind::kString) {
    return InvalidError("'{}' is not a number, column '{}' needs one", value.text, column_.name);
  }
  return InvalidError("column '{}' needs a constant", column_.name);
}

Result<uint64_t> ValueConverter::ToUnsigned(const ParsedExpr& value, const Number& number,
                                            uint64_t most) const {
  if (number.integer && !number.negative && number.magnitude <= most) {
    return number.magnitude;
  }
  if (!number.integer && number.real > -1 && std::trunc(number.real) <= static_cast<double>(most)) {
    return static_cast<uint64_t>(std::max(0.0, number.real));
  }
  return OutOfRange(value, column_, fmt::format("0 to {}", most));
}

Result<int64_t> ValueConverter::ToBigint(const ParsedExpr& value, const Number& number) const {
  if (number.integer && number.magnitude <= kMostBigint + (number.negative ? 1 : 0)) {
    return static_cast<int64_t>(number.negative ? 0 - number.magnitude : number.magnitude);
  }
  if (!number.integer && number.real >= -kTwoTo63 && number.real < kTwoTo63) {
    return static_cast<int64_t>(number.real);
  }
  return OutOfRange(value, column_, "-9223372036854775808 to 9223372036854775807");
}

Status ValueConverter::AppendUnsigned(const ParsedExpr& value, uint64_t most, ColumnValues& out) {
  Number number;
  RETURN_IF_ERROR(ReadScalar(value, number));
  ASSIGN_OR_RETURN(const uint64_t stored, ToUnsigned(value, number, most));
  out.AppendInt(static_cast<int64_t>(stored));
  return Status::Ok();
}

Status ValueConverter::AppendBigint(const ParsedExpr& value, ColumnValues& out) {
  Number number;
  RETURN_IF_ERROR(ReadScalar(value, number));
  ASSIGN_OR_RETURN(const int64_t stored, ToBigint(value, number));
  out.AppendInt(stored);
  return Status::Ok();
}

Status ValueConverter::AppendBool(const ParsedExpr& value, ColumnValues& out) {
  const bool word = value.kind == ParsedKind::kString || value.kind == ParsedKind::kColumn;
  const std::string& text = value.kind == ParsedKind::kColumn ? value.name : value.text;
  if (word && (text == "true" || text == "false")) {
    out.AppendInt(text == "true" ? 1 : 0);
    return Status::Ok();
  }
  return AppendUnsigned(value, 1, out);
}

Status ValueConverter::AppendTimestamp(const ParsedExpr& value, ColumnValues& out) {
  if (value.kind != ParsedKind::kString) {
    return AppendUnsigned(value, kMostInt, out);
  }
  ASSIGN_OR_RETURN(const int64_t seconds, ParseDateText(value.text, context_.zone));
  if (seconds < 0 || static_cast<uint64_t>(seconds) > kMostInt) {
    return OutOfRange(value, column_, fmt::format("0 to {} seconds since 1970", kMostInt));
  }
  out.AppendInt(seconds);
  return Status::Ok();
}

Status ValueConverter::AppendFloat(const ParsedExpr& value, ColumnValues& out) {
  Number number;
  RETURN_IF_ERROR(ReadScalar(value, number));
  const double real = number.AsDouble();
  const float stored = static_cast<float>(real);
  if (!std::isfinite(stored)) {
    return OutOfRange(value, column_, "32-bit float");
  }
  out.AppendFloat(stored);
  return Status::Ok();
}

Status ValueConverter::AppendText(const ParsedExpr& value, ColumnValues& out) {
  if (value.kind == ParsedKind::kString) {
    out.AppendBytes(value.text);
    return Status::Ok();
  }
  Number number;
  if (ReadNumber(value, number)) {
    out.AppendBytes(LiteralText(value));
    return Status::Ok();
  }
  return IsList(value) ? NotScalar() : InvalidError("column '{}' needs a constant", column_.name);
}

Status ValueConverter::AppendJson(const ParsedExpr& value, ColumnValues& out) {
  if (value.kind != ParsedKind::kString) {
    return IsList(value) ? NotScalar() : InvalidError("column '{}' needs JSON as text", column_.name);
  }
  if (value.text.empty()) {
    out.AppendBytes({});
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(const std::string stored, storage::EncodeJson(value.text));
  out.AppendBytes(stored);
  return Status::Ok();
}

Status ValueConverter::AppendMulti(const ParsedExpr& value, ColumnValues& out) {
  if (!IsList(value)) {
    return NotMulti();
  }
  items_.clear();
  if (value.kind == ParsedKind::kNumbers) {
    if (!ReadItems(value.numbers->text, items_)) {
      const ParsedExprPtr list = ListFromText(value.numbers->text);
      return list == nullptr ? NotMulti() : AppendMulti(*list, out);
    }
    SortUnique(items_);
    AppendItems(items_, out);
    return Status::Ok();
  }
  for (const ParsedExprPtr& item : value.args) {
    Number number;
    RETURN_IF_ERROR(ReadScalar(*item, number));
    ASSIGN_OR_RETURN(const uint64_t stored, ToUnsigned(*item, number, kMostInt));
    items_.push_back(static_cast<uint32_t>(stored));
  }
  SortUnique(items_);
  AppendItems(items_, out);
  return Status::Ok();
}

Status ValueConverter::AppendMulti64(const ParsedExpr& value, ColumnValues& out) {
  if (!IsList(value)) {
    return NotMulti();
  }
  wide_items_.clear();
  if (value.kind == ParsedKind::kNumbers) {
    if (!ReadItems(value.numbers->text, wide_items_)) {
      const ParsedExprPtr list = ListFromText(value.numbers->text);
      return list == nullptr ? NotMulti() : AppendMulti64(*list, out);
    }
    SortUnique(wide_items_);
    AppendItems(wide_items_, out);
    return Status::Ok();
  }
  for (const ParsedExprPtr& item : value.args) {
    Number number;
    RETURN_IF_ERROR(ReadScalar(*item, number));
    ASSIGN_OR_RETURN(const int64_t stored, ToBigint(*item, number));
    wide_items_.push_back(stored);
  }
  SortUnique(wide_items_);
  AppendItems(wide_items_, out);
  return Status::Ok();
}

Status ValueConverter::ReadVector(const ParsedExpr& list) {
  if (list.kind == ParsedKind::kNumbers) {
    floats_.insert(floats_.end(), list.numbers->floats.begin(), list.numbers->floats.end());
    return Status::Ok();
  }
  for (const ParsedExprPtr& item : list.args) {
    if (IsList(*item)) {
      return SyntaxError("nested vector syntax is only valid for float_vector_array attributes");
    }
    Number number;
    if (!ReadNumberOrText(*item, number)) {
      return InvalidError("incompatible value specified for a float vector column");
    }
    const float stored = static_cast<float>(number.AsDouble());
    if (!std::isfinite(stored)) {
      return OutOfRange(*item, column_, "32-bit float");
    }
    floats_.push_back(stored);
  }
  return Status::Ok();
}

Status ValueConverter::AppendVector(const ParsedExpr& value, ColumnValues& out) {
  if (!IsList(value)) {
    return InvalidError("incompatible value specified for a float vector column");
  }
  floats_.clear();
  RETURN_IF_ERROR(ReadVector(value));
  return AppendRead(out);
}

// One vector, in floats_.
Status ValueConverter::AppendRead(ColumnValues& out) {
  if (column_.knn && !floats_.empty()) {
    if (floats_.size() != column_.knn->dims) {
      return SyntaxError(fmt::format("KNN error: data has {} values, index '{}' needs {} values",
                                     floats_.size(), column_.name, column_.knn->dims));
    }
    if (column_.knn->similarity == "cosine") {
      knn::Normalise(floats_);
    }
  }
  AppendItems(floats_, out);
  return Status::Ok();
}

Status ValueConverter::AppendVectorArray(const ParsedExpr& value, ColumnValues& out) {
  const auto is_vector = [](const ParsedExprPtr& item) { return IsList(*item); };
  const bool is_empty_list = IsList(value) && ItemCount(value) == 0;
  const bool is_array =
      value.kind == ParsedKind::kArray && std::all_of(value.args.begin(), value.args.end(), is_vector);
  if (!is_array && !is_empty_list) {
    return SyntaxError("float_vector_array requires an array of vectors, e.g. [[1,2],[3,4]]");
  }
  floats_.clear();
  const size_t first_length = value.args.empty() ? 0 : ItemCount(*value.args[0]);
  const size_t dims = column_.knn ? column_.knn->dims : first_length;
  for (size_t i = 0; i < value.args.size(); ++i) {
    const size_t begin = floats_.size();
    RETURN_IF_ERROR(ReadVector(*value.args[i]));
    const size_t length = floats_.size() - begin;
    if (length != dims || length == 0) {
      return SyntaxError(fmt::format("KNN error: vector {} of '{}' has {} entries, expected {}", i + 1,
                                     column_.name, length, dims));
    }
    if (column_.knn && column_.knn->similarity == "cosine") {
      knn::Normalise(std::span(floats_).subspan(begin));
    }
  }
  if (floats_.empty()) {
    out.AppendBytes({});
    return Status::Ok();
  }
  const uint32_t stored_dims = static_cast<uint32_t>(dims);
  out.bytes.append(reinterpret_cast<const char*>(&stored_dims), sizeof(stored_dims));
  AppendItems(floats_, out);
  return Status::Ok();
}

Result<uint64_t> ReadDocumentId(const ParsedExpr& value, std::string_view statement) {
  if (value.kind == ParsedKind::kNull) {
    return UnexpectedNull(statement, value.range);
  }
  Number number;
  if (!ReadNumberOrText(value, number)) {
    return IsList(value) ? NotScalar() : InvalidError("document id '{}' is not a number", LiteralText(value));
  }
  if (number.negative || number.real < 0) {
    return SyntaxError("Negative document ids are not allowed");
  }
  if (!number.integer) {
    return InvalidError("document id {} is not an integer from 1 to 18446744073709551615",
                        LiteralText(value));
  }
  return number.magnitude;
}

}  // namespace stoa::sql
