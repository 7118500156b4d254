#pragma once

#include <vector>

#include "sql/exec/row_source.h"

namespace stoa::sql {

// Rows of a block of a part as bits, and back.
storage::BlockBits LiveRows(const RowSource& source, size_t part, uint32_t block);
uint32_t BlockCount(const RowSource& source, size_t part);
uint32_t CountBits(const storage::BlockBits& bits);
void AppendRows(const storage::BlockBits& bits, uint32_t block, std::vector<RowId>& rows);

}  // namespace stoa::sql
