#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"
#include "storage/base/result.h"
#include "storage/schema.h"

namespace stoa::storage {

// Memory that keeps bytes alive for a caller of ReadBytes. In-memory and mapped columns have stable addresses
// and leave it alone; a column that is read from its file puts the values here. Reusable; one thread at a
// time.
class ReadBuffer {
 public:
  char* Allocate(size_t bytes);
  void Clear() { blocks_.clear(); }

 private:
  std::vector<std::string> blocks_;
};

// One column of one table part. `rows` ascend and are below the part's row_count(). Results have one value
// per row. Immutable and safe to share; valid while the snapshot it came from is held, and so are the
// returned addresses.
class ColumnReader {
 public:
  virtual ~ColumnReader() = default;

  virtual ColumnType type() const = 0;
  // Lane kInt, value ranges as in ColumnValues. kInternal on another lane.
  virtual Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) const = 0;
  // Lane kFloat.
  virtual Status ReadFloats(std::span<const RowId> rows, std::span<float> values) const = 0;
  // Lane kBytes, contents as in ColumnValues. Multi and vector values are aligned to their item size.
  virtual Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                           ReadBuffer& buffer) const = 0;
};

}  // namespace stoa::storage
