#include "daemon/mysql/cell_encoder.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "daemon/mysql/column_definition.h"
#include "daemon/mysql/wire.h"
#include "storage/json/json_value.h"

namespace stoa::daemon {
namespace {

using sql::Cell;
using sql::ValueType;

constexpr char kNullCell = '\xfb';

bool IsNull(const Cell& cell) {
  return cell.type == ValueType::kNull || (cell.type == ValueType::kJson && cell.bytes.empty());
}

template <typename T>
void AppendNumber(T value, std::string& out) {
  char text[24];
  const auto result = std::to_chars(text, text + sizeof(text), value);
  out.append(text, result.ptr);
}

// Appends what `append` writes to `out`, with its length in front.
template <typename Append>
void AppendMeasured(std::string& out, Append append) {
  const size_t start = out.size();
  out.push_back('\0');
  append(out);
  const size_t length = out.size() - start - 1;
  if (length < 251) {
    out[start] = static_cast<char>(length);
    return;
  }
  std::string prefix;
  AppendLengthInteger(length, prefix);
  out.replace(start, 1, prefix);
}

void AppendMeasuredCell(const Cell& cell, std::string& out) {
  if (cell.type == ValueType::kString || cell.type == ValueType::kText) {
    AppendLengthString(cell.bytes, out);
  } else {
    AppendMeasured(out, [&cell](std::string& text) { AppendCellText(cell, text); });
  }
}

int64_t ToInteger(const Cell& cell) {
  switch (cell.type) {
    case ValueType::kInt:
    case ValueType::kBigint:
    case ValueType::kUint64:
      return cell.integer;
    case ValueType::kFloat:
    case ValueType::kDouble:
      if (std::isnan(cell.real)) {
        return 0;
      }
      if (cell.real >= 9223372036854775808.0) {
        return std::numeric_limits<int64_t>::max();
      }
      return cell.real < -9223372036854775808.0 ? std::numeric_limits<int64_t>::min()
                                                : static_cast<int64_t>(cell.real);
    default:
      break;
  }
  std::string text;
  AppendCellText(cell, text);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double ToReal(const Cell& cell) {
  switch (cell.type) {
    case ValueType::kInt:
    case ValueType::kBigint:
      return static_cast<double>(cell.integer);
    case ValueType::kUint64:
      return static_cast<double>(static_cast<uint64_t>(cell.integer));
    case ValueType::kFloat:
    case ValueType::kDouble:
      return cell.real;
    default:
      break;
  }
  std::string text;
  AppendCellText(cell, text);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

void AppendCellText(const Cell& cell, std::string& out) {
  switch (cell.type) {
    case ValueType::kNull:
      return;
    case ValueType::kInt:
    case ValueType::kBigint:
      return AppendNumber(cell.integer, out);
    case ValueType::kUint64:
      return AppendNumber(static_cast<uint64_t>(cell.integer), out);
    case ValueType::kFloat:
      return sql::AppendFloatText(static_cast<float>(cell.real), out);
    case ValueType::kDouble:
      return sql::AppendDoubleText(cell.real, out);
    case ValueType::kString:
    case ValueType::kText:
      out.append(cell.bytes);
      return;
    case ValueType::kJson:
      return storage::AppendJsonText(storage::JsonView(cell.bytes), out);
    case ValueType::kMulti:
      return sql::AppendMultiText(cell.bytes, out);
    case ValueType::kMulti64:
      return sql::AppendMulti64Text(cell.bytes, out);
    case ValueType::kFloatVector:
      return sql::AppendVectorText(cell.bytes, out);
    case ValueType::kFloatVectorArray:
      return sql::AppendVectorArrayText(cell.bytes, out);
  }
}

void AppendTextRow(std::span<const Cell> cells, std::string& out) {
  for (const Cell& cell : cells) {
    if (IsNull(cell)) {
      out.push_back(kNullCell);
    } else {
      AppendMeasuredCell(cell, out);
    }
  }
}

void AppendBinaryRow(std::span<const Cell> cells, std::span<const ValueType> types, std::string& out) {
  constexpr size_t kFirstNullBit = 2;
  out.push_back('\0');
  const size_t nulls = out.size();
  out.append((cells.size() + kFirstNullBit + 7) / 8, '\0');
  for (size_t i = 0; i < cells.size(); ++i) {
    if (IsNull(cells[i])) {
      const size_t bit = i + kFirstNullBit;
      char& byte = out[nulls + bit / 8];
      byte = static_cast<char>(static_cast<unsigned char>(byte) | (1u << (bit % 8)));
      continue;
    }
    switch (ColumnWireType(types[i])) {
      case WireType::kLong:
        AppendFixed(static_cast<uint32_t>(ToInteger(cells[i])), out);
        break;
      case WireType::kLongLong:
        AppendFixed(ToInteger(cells[i]), out);
        break;
      case WireType::kFloat:
        AppendFixed(static_cast<float>(ToReal(cells[i])), out);
        break;
      case WireType::kDouble:
        AppendFixed(ToReal(cells[i]), out);
        break;
      default:
        AppendMeasuredCell(cells[i], out);
        break;
    }
  }
}

}  // namespace stoa::daemon
