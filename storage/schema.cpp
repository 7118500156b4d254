#include "storage/schema.h"

#include <fmt/format.h>

namespace stoa::storage {

Lane LaneOf(ColumnType type) {
  switch (type) {
    case ColumnType::kId:
    case ColumnType::kInt:
    case ColumnType::kBigint:
    case ColumnType::kBool:
    case ColumnType::kTimestamp:
      return Lane::kInt;
    case ColumnType::kFloat:
      return Lane::kFloat;
    case ColumnType::kText:
    case ColumnType::kString:
    case ColumnType::kJson:
    case ColumnType::kMulti:
    case ColumnType::kMulti64:
    case ColumnType::kFloatVector:
    case ColumnType::kFloatVectorArray:
      break;
  }
  return Lane::kBytes;
}

const ColumnDefinition* TableDefinition::Find(std::string_view column_name) const {
  for (const ColumnDefinition& column : columns) {
    if (column.name == column_name) {
      return &column;
    }
  }
  return nullptr;
}

int TableDefinition::IndexOf(ColumnId column) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].id == column) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

bool TableDefinition::IsColumnar(const ColumnDefinition& column) const {
  if (column.type == ColumnType::kJson || column.type == ColumnType::kText) {
    return false;
  }
  if (column.engine.has_value()) {
    return *column.engine == Engine::kColumnar;
  }
  const auto engine = settings.find("engine");
  return engine != settings.end() && engine->second == "columnar";
}

std::string DescribeType(const ColumnDefinition& column) {
  switch (column.type) {
    case ColumnType::kInt:
      return column.bits < 32 ? fmt::format("uint:{}", column.bits) : "uint";
    case ColumnType::kId:
    case ColumnType::kBigint:
      return "bigint";
    case ColumnType::kText:
      return "text";
    case ColumnType::kString:
      return "string";
    case ColumnType::kBool:
      return "bool";
    case ColumnType::kTimestamp:
      return "timestamp";
    case ColumnType::kFloat:
      return "float";
    case ColumnType::kJson:
      return "json";
    case ColumnType::kMulti:
      return "mva";
    case ColumnType::kMulti64:
      return "mva64";
    case ColumnType::kFloatVector:
      return "float_vector";
    case ColumnType::kFloatVectorArray:
      return "float_vector_array";
  }
  return "unknown";
}

std::string CreateType(const ColumnDefinition& column) {
  switch (column.type) {
    case ColumnType::kInt:
      return column.bits < 32 ? fmt::format("bit({})", column.bits) : "integer";
    case ColumnType::kMulti:
      return "multi";
    case ColumnType::kMulti64:
      return "multi64";
    default:
      return DescribeType(column);
  }
}

}  // namespace stoa::storage
