#include "storage/chunk/lockstep_input.h"

#include <algorithm>

namespace stoa::storage {

Result<LockstepInput> LockstepInput::Start(std::span<const ColumnToWrite> columns) {
  LockstepInput lockstep(columns);
  for (size_t i = 0; i < columns.size(); ++i) {
    const uint32_t rows = columns[i].input->row_count();
    if (i > 0 && rows != lockstep.row_count_) {
      return InternalError("column '{}' has {} rows to write, others have {}", columns[i].definition->name,
                           rows, lockstep.row_count_);
    }
    lockstep.row_count_ = rows;
    RETURN_IF_ERROR(columns[i].input->Rewind());
  }
  return lockstep;
}

Result<uint32_t> LockstepInput::Next(uint32_t limit) {
  for (Run& run : runs_) {
    run.first += rows_in_run_;
  }
  rows_done_ += rows_in_run_;
  rows_in_run_ = 0;
  size_t rows = std::min(limit, row_count_ - rows_done_);
  if (rows == 0) {
    return uint32_t{0};
  }
  for (size_t column = 0; column < columns_.size(); ++column) {
    RETURN_IF_ERROR(FillRun(column));
    rows = std::min(rows, runs_[column].values->size() - runs_[column].first);
  }
  rows_in_run_ = static_cast<uint32_t>(rows);
  return rows_in_run_;
}

Status LockstepInput::FillRun(size_t column) {
  Run& run = runs_[column];
  if (run.values != nullptr && run.first < run.values->size()) {
    return Status::Ok();
  }
  const ColumnDefinition& definition = *columns_[column].definition;
  ASSIGN_OR_RETURN(run.values, columns_[column].input->Next());
  run.first = 0;
  if (run.values == nullptr || run.values->size() == 0) {
    return InternalError("column '{}' ends after {} of {} rows", definition.name, rows_done_, row_count_);
  }
  return LaneOf(run.values->type) == LaneOf(definition.type)
             ? Status::Ok()
             : InternalError("column '{}' got values of another lane", definition.name);
}

}  // namespace stoa::storage
