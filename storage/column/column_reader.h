#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"
#include "storage/base/result.h"
#include "storage/column/column_predicate.h"
#include "storage/schema.h"

namespace stoa::storage {

// Memory that keeps bytes alive for a caller of ReadBytes. In-memory and mapped columns have stable addresses
// and leave it alone; a column that is read from its file puts the values here. Reusable; one thread at a
// time.
class ReadBuffer {
 public:
  ReadBuffer() = default;
  ReadBuffer(ReadBuffer&&) = default;
  ReadBuffer& operator=(ReadBuffer&&) = default;
  char* Allocate(size_t bytes);
  void Clear() { blocks_.clear(); }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
};

// Reads one column of one table part; the part is immutable, so two readers never disturb each other. One
// thread at a time: a reader may keep a position and buffers between calls. Make one a thread. `rows` ascend
// (equal ones are allowed) and are below the part's row_count(). Results have one value per row. Valid while
// the part is held, and so are the returned addresses that do not lie in the ReadBuffer.
class ColumnReader {
 public:
  virtual ~ColumnReader() = default;

  virtual ColumnType type() const = 0;
  // Lane kInt, value ranges as in ColumnValues. kInternal on another lane.
  virtual Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) = 0;
  // Lane kFloat.
  virtual Status ReadFloats(std::span<const RowId> rows, std::span<float> values) = 0;
  // Lane kBytes, contents as in ColumnValues. Multi and vector values are aligned to their item size.
  virtual Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                           ReadBuffer& buffer) = 0;

  // Clears the bits of the rows of `block` that do not satisfy the predicate; the last block may be short
  // (its bits behind the part's end are 0 already). Bits that are 0 need not be looked at. This one reads the
  // values and compares; columns that can tell from minimum and maximum, or compare packed values, do better.
  virtual Status Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits);
};

}  // namespace stoa::storage
