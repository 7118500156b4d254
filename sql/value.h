#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoa::sql {

// The types of expressions and result columns.
enum class ValueType : uint8_t {
  kNull,
  kInt,     // 32 bits; arithmetic wraps, values are held as 0 … 2^32-1
  kBigint,  // 64 bits signed
  kUint64,
  kFloat,  // 32-bit float
  kDouble,
  kString,
  kText,   // stored full-text field: readable, neither filtered nor sorted
  kJson,   // stored JSON (storage/json/json_value.h)
  kMulti,  // bytes as in storage::ColumnValues
  kMulti64,
  kFloatVector,
  kFloatVectorArray,
};

// One value that owns its bytes: parameters of a prepared statement, constants, cells kept for sorting.
struct Value {
  ValueType type = ValueType::kNull;
  int64_t integer = 0;  // kInt, kBigint; kUint64 as its bits
  double real = 0;      // kFloat, kDouble
  std::string bytes;    // the rest

  static Value Null() { return {}; }
  static Value Int(int64_t v) { return {ValueType::kInt, v, 0, {}}; }
  static Value Bigint(int64_t v) { return {ValueType::kBigint, v, 0, {}}; }
  static Value Uint64(uint64_t v) { return {ValueType::kUint64, static_cast<int64_t>(v), 0, {}}; }
  static Value Float(float v) { return {ValueType::kFloat, 0, static_cast<double>(v), {}}; }
  static Value Double(double v) { return {ValueType::kDouble, 0, v, {}}; }
  static Value String(std::string v) { return {ValueType::kString, 0, 0, std::move(v)}; }
  bool is_null() const { return type == ValueType::kNull; }
};

// The text of a value as the text protocol shows it (MW-10, DT-21): floats with at least six decimals and
// enough to come back as the same 32-bit float, doubles with at least six decimals and at most 15 digits; MVA
// "1,3"; vectors "0.100000,-2.000000"; JSON compact.
void AppendFloatText(float value, std::string& out);
void AppendDoubleText(double value, std::string& out);
void AppendMultiText(std::string_view bytes, std::string& out);
void AppendMulti64Text(std::string_view bytes, std::string& out);
void AppendVectorText(std::string_view bytes, std::string& out);
void AppendVectorArrayText(std::string_view bytes, std::string& out);

}  // namespace stoa::sql
