#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/schema.h"

namespace stoa::sql {

// A column as MySQL's catalogue describes it, for clients that browse the schema.
struct MysqlType {
  std::string_view data_type;    // bigint, int, text, …
  std::string_view column_type;  // bigint, int unsigned, tinyint(1), …
  std::optional<uint64_t> character_length;
  std::optional<uint64_t> numeric_precision;
  std::optional<uint64_t> numeric_scale;
};

MysqlType MysqlTypeOf(const storage::ColumnDefinition& column);

}  // namespace stoa::sql
