#pragma once

#include <string>

#include "storage/base/byte_reader.h"
#include "storage/base/result.h"
#include "storage/row_batch.h"

namespace stoa::storage {

// The values of a column as they lie in log records and RAM part files (docs/format/transaction.md,
// "values").
void EncodeColumnValues(const ColumnValues& values, std::string& out);

// Reads `rows` values of a column. kCorrupt when the bytes end early; nothing is taken from memory before it
// is known to be there.
Result<ColumnValues> DecodeColumnValues(ByteReader& reader, ColumnId column, ColumnType type, size_t rows);

bool HoldsOnlyDefaults(const ColumnValues& values);

// kCorrupt for a number that is no column type.
Result<ColumnType> DecodeColumnType(ByteReader& reader);

}  // namespace stoa::storage
