#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/parser/ast.h"
#include "storage/schema.h"

namespace stoa::sql {

// A column as CREATE TABLE or ALTER TABLE ADD COLUMN declares it, with every check of type, flags and
// options. `table` gives the table's engine; its columns are not looked at. Errors are complete but for the
// table's name.
Result<storage::ColumnDefinition> MakeColumn(const ParsedColumn& parsed,
                                             const storage::TableDefinition& table,
                                             std::vector<std::string>& warnings);

// The column "id" that every table has.
storage::ColumnDefinition MakeIdColumn();

// Adds a column where DESC shows it; kInvalid for a name that is taken and for too many full-text fields.
Status AddColumn(storage::ColumnDefinition column, storage::TableDefinition& table);

// Names that no file system and no statement can trip over; kInvalid otherwise.
Status CheckTableName(std::string_view name);
Status CheckColumnName(std::string_view name);

}  // namespace stoa::sql
