#pragma once

#include <vector>

#include "storage/schema.h"

namespace stoa::sql {

// Where a column stands in DESC, SHOW CREATE TABLE, SELECT * and INSERT without a column list: the id, text
// fields, strings that are fields as well, then the other attributes; each group in the order of declaration.
int DisplayRank(const storage::ColumnDefinition& column);

// The columns in that order. The pointers are valid as long as `definition` is.
std::vector<const storage::ColumnDefinition*> DisplayOrder(const storage::TableDefinition& definition);

// Puts a new column where DisplayOrder() shows it.
void InsertInDisplayOrder(storage::ColumnDefinition column, std::vector<storage::ColumnDefinition>& columns);

}  // namespace stoa::sql
