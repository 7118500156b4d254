#include "daemon/mysql/column_definition.h"

#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

constexpr uint16_t kFlagUnsigned = 1 << 5;
constexpr uint16_t kFlagBinary = 1 << 7;
constexpr uint8_t kDecimalsOfReals = 31;  // not fixed
constexpr uint32_t kStringLength = 65535 * 4;
constexpr uint8_t kFixedPartLength = 12;

struct WireColumn {
  WireType type = WireType::kVarString;
  uint16_t charset = kCharset;
  uint32_t length = kStringLength;
  uint16_t flags = 0;
  uint8_t decimals = 0;
};

WireColumn Describe(sql::ValueType type) {
  using sql::ValueType;
  switch (type) {
    case ValueType::kInt:
      return {WireType::kLong, kBinaryCharset, 11, kFlagUnsigned | kFlagBinary, 0};
    case ValueType::kBigint:
      return {WireType::kLongLong, kBinaryCharset, 20, kFlagBinary, 0};
    case ValueType::kUint64:
      return {WireType::kLongLong, kBinaryCharset, 20, kFlagUnsigned | kFlagBinary, 0};
    case ValueType::kFloat:
      return {WireType::kFloat, kBinaryCharset, 12, kFlagBinary, kDecimalsOfReals};
    case ValueType::kDouble:
      return {WireType::kDouble, kBinaryCharset, 22, kFlagBinary, kDecimalsOfReals};
    case ValueType::kNull:  // a column that is NULL in every row is a string to clients that cannot read type
                            // NULL
    case ValueType::kString:
    case ValueType::kText:
    case ValueType::kJson:
    case ValueType::kMulti:
    case ValueType::kMulti64:
    case ValueType::kFloatVector:
    case ValueType::kFloatVectorArray:
      return {};
  }
  return {};
}

void AppendDefinition(const sql::ResultColumn& column, const WireColumn& wire, std::string& out) {
  AppendLengthString("def", out);
  AppendLengthString(column.table.empty() ? "" : "Manticore", out);
  AppendLengthString(column.table, out);
  AppendLengthString(column.table, out);
  AppendLengthString(column.name, out);
  AppendLengthString(column.original_name, out);
  AppendFixed(kFixedPartLength, out);
  AppendFixed(wire.charset, out);
  AppendFixed(column.length != 0 ? column.length : wire.length, out);
  AppendFixed(static_cast<uint8_t>(wire.type), out);
  AppendFixed(wire.flags, out);
  AppendFixed(wire.decimals, out);
  AppendFixed(uint16_t{0}, out);
}

}  // namespace

WireType ColumnWireType(sql::ValueType type) { return Describe(type).type; }

void AppendColumnDefinition(const sql::ResultColumn& column, std::string& out) {
  AppendDefinition(column, Describe(column.type), out);
}

void AppendParameterDefinition(std::string& out) {
  sql::ResultColumn column;
  column.name = "?";
  AppendDefinition(column, {}, out);
}

}  // namespace stoa::daemon
