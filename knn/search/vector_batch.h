#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "storage/column/column_reader.h"
#include "storage/schema.h"

namespace stoa::knn {

// The stored vectors of some rows, gathered: whatever is missing of them in memory is asked of the disk at
// once by the reader. Reusable; one thread at a time.
class VectorBatch {
 public:
  // Of a column with knn; float_vector_array too, whose rows have several vectors.
  explicit VectorBatch(const storage::ColumnDefinition& column);

  // Rows ascend. kCorrupt when a value is not made of whole vectors.
  Status Read(storage::ColumnReader& reader, std::span<const RowId> rows);

  // Valid until the next Read. vectors()[i] belongs to rows[owners()[i]]; owners ascend.
  std::span<const float* const> vectors() const { return vectors_; }
  std::span<const uint32_t> owners() const { return owners_; }

 private:
  Status Append(std::string_view value, uint32_t place, RowId row);

  size_t vector_bytes_;
  bool arrays_;
  storage::ReadBuffer buffer_;
  std::vector<std::string_view> values_;
  std::vector<const float*> vectors_;
  std::vector<uint32_t> owners_;
};

}  // namespace stoa::knn
