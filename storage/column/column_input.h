#pragma once

#include <cstdint>

#include "storage/base/result.h"
#include "storage/row_batch.h"

namespace stoa::storage {

// The values of one column for all rows of a chunk that is being written, in row order, piece by piece; can
// be read again from the start. One thread at a time.
class ColumnInput {
 public:
  virtual ~ColumnInput() = default;

  virtual uint32_t row_count() const = 0;
  virtual Status Rewind() = 0;
  // The next 1 … 65,536 rows (a multiple of 1,024 but for the last piece), nullptr behind the last row. What
  // it points to lives until the next call. ColumnValues of the id column: `ints`, as the bits of a uint64.
  virtual Result<const ColumnValues*> Next() = 0;
};

}  // namespace stoa::storage
