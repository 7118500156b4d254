#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"
#include "storage/schema.h"

namespace stoa::storage {

// Values of one column for the rows of a RowBatch. Exactly the vector of the column's lane is filled:
//   kInt    ints: kId as the bits of a uint64; kInt, kBool, kTimestamp 0 … 2^32-1; kBigint signed
//   kFloat  floats
//   kBytes  offsets (rows + 1 entries, from 0) into `bytes`:
//             text, string   UTF-8 as given
//             json           binary JSON (storage/json/json_value.h); empty: NULL
//             multi          little-endian uint32, ascending, unique
//             multi64        little-endian int64, ascending, unique
//             float_vector   little-endian float32; empty: no vector
//             float_vector_array  uint32 dims, then float32 of all vectors; empty: none
struct ColumnValues {
  ColumnId column;
  ColumnType type = ColumnType::kInt;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<uint64_t> offsets{0};
  std::string bytes;

  size_t size() const;
  void AppendInt(int64_t value) { ints.push_back(value); }
  void AppendFloat(float value) { floats.push_back(value); }
  void AppendBytes(std::string_view value) {
    bytes.append(value);
    offsets.push_back(bytes.size());
  }
  std::string_view BytesAt(size_t row) const {
    return std::string_view(bytes).substr(offsets[row], offsets[row + 1] - offsets[row]);
  }
  // The value a row has when the column is left out: 0, 0.0 or no bytes.
  void AppendDefault();
};

// Rows to write: checked and converted by the caller, one ColumnValues per given column, all of the same
// length. Columns of the table that are not here take their default. `ids` are final (no zero: auto ids are
// assigned before).
struct RowBatch {
  std::vector<DocId> ids;
  std::vector<ColumnValues> columns;  // never the id column

  size_t size() const { return ids.size(); }
};

}  // namespace stoa::storage
