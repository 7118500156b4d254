#include "sql/statements/mysql_type.h"

namespace stoa::sql {

using storage::ColumnType;

MysqlType MysqlTypeOf(const storage::ColumnDefinition& column) {
  constexpr uint64_t kText = 4294967295;
  switch (column.type) {
    case ColumnType::kId:
    case ColumnType::kBigint:
      return {"bigint", "bigint", {}, 19, 0};
    case ColumnType::kInt:
      return {"int", "int unsigned", {}, 10, 0};
    case ColumnType::kTimestamp:
      return {"int", "int unsigned", {}, 10, 0};
    case ColumnType::kBool:
      return {"tinyint", "tinyint(1)", {}, 3, 0};
    case ColumnType::kFloat:
      return {"float", "float", {}, 12, {}};
    case ColumnType::kJson:
      return {"json", "json", {}, {}, {}};
    case ColumnType::kString:
      return {"varchar", "varchar(65535)", 65535, {}, {}};
    case ColumnType::kText:
    case ColumnType::kMulti:
    case ColumnType::kMulti64:
    case ColumnType::kFloatVector:
    case ColumnType::kFloatVectorArray:
      return {"longtext", "longtext", kText, {}, {}};
  }
  return {"longtext", "longtext", kText, {}, {}};
}

}  // namespace stoa::sql
