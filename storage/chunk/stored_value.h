#pragma once

#include <cstdint>
#include <string_view>

#include "storage/base/status.h"
#include "storage/schema.h"

namespace stoa::storage {

// What the files of a chunk know of values of lane kBytes (contents: ColumnValues).

// The alignment that a reader promises: 4 or 8 for sets and vectors, 1 for texts and JSON.
uint32_t AlignmentOf(ColumnType type);

// False when no value of the type has this many bytes.
bool IsLengthOf(ColumnType type, uint64_t length);

// kCorrupt when the bytes are no value of the type: wrong length, sets that do not ascend, vector arrays that
// are no whole vectors, JSON without a value. Reads every item.
Status CheckStoredValue(ColumnType type, std::string_view bytes);

// Whether a column that was written as `stored` may be read as `wanted`: the same, or a wider one.
bool CanReadAs(ColumnType stored, ColumnType wanted);

}  // namespace stoa::storage
