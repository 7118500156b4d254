#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/result.h"
#include "storage/chunk/rowwise_file.h"
#include "storage/row_batch.h"

namespace stoa::storage {

// Reads several columns of a chunk that is being written row by row: runs of rows for which the current piece
// of every column is in memory. Pieces of different columns may have different lengths. One thread at a time.
class LockstepInput {
 public:
  // A run of rows of one column: row i of the run is row `first + i` of `values`.
  struct Run {
    const ColumnValues* values = nullptr;
    size_t first = 0;
  };

  // Rewinds the inputs; they must have the same number of rows, and lanes that fit the definitions.
  static Result<LockstepInput> Start(std::span<const ColumnToWrite> columns);

  uint32_t row_count() const { return row_count_; }
  // The next at most `limit` rows, 0 behind the last. What runs() points to lives until the next call.
  Result<uint32_t> Next(uint32_t limit);
  std::span<const Run> runs() const { return runs_; }  // one a column

 private:
  explicit LockstepInput(std::span<const ColumnToWrite> columns) : columns_(columns), runs_(columns.size()) {}
  Status FillRun(size_t column);

  std::span<const ColumnToWrite> columns_;
  std::vector<Run> runs_;
  uint32_t row_count_ = 0;
  uint32_t rows_done_ = 0;
  uint32_t rows_in_run_ = 0;
};

}  // namespace stoa::storage
