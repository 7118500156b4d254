#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "storage/base/cancel_token.h"
#include "storage/base/result.h"
#include "storage/chunk/input_cache.h"
#include "storage/column/column_input.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// The rows of some parts that are not deleted, in order: what all inputs of one chunk share. Immutable.
class PartRows {
 public:
  explicit PartRows(std::span<const std::shared_ptr<const TablePart>> parts);

  const std::vector<std::shared_ptr<const TablePart>>& parts() const { return parts_; }
  uint64_t count() const { return count_; }

 private:
  std::vector<std::shared_ptr<const TablePart>> parts_;
  uint64_t count_ = 0;
};

// Whom the inputs tell how far they are, and who may stop them. One thread at a time.
class InputProgress {
 public:
  // `cache`: is told how much is read; may be nullptr.
  InputProgress(CancelToken* cancel, std::function<void(uint64_t done, uint64_t of)> report,
                InputCache* cache = nullptr)
      : cancel_(cancel), report_(std::move(report)), cache_(cache) {}

  void SetTotal(uint64_t total) { total_ = total; }
  // `values` were read for the first time; `bytes` also when they were read before.
  Status Advance(uint64_t values, uint64_t bytes);

 private:
  CancelToken* cancel_;
  std::function<void(uint64_t done, uint64_t of)> report_;
  InputCache* cache_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

// One column of the rows. Memory: one piece, of at least 1,024 values and otherwise about a megabyte.
class PartColumnInput : public ColumnInput {
 public:
  // All of them outlive the input; `progress` may be nullptr.
  PartColumnInput(const PartRows& rows, const ColumnDefinition& column, InputProgress* progress)
      : rows_(rows), column_(column), progress_(progress) {}

  uint32_t row_count() const override { return static_cast<uint32_t>(rows_.count()); }
  Status Rewind() override;
  Result<const ColumnValues*> Next() override;

 private:
  bool PieceIsFull() const;
  Status ReadRun();
  void TakeRows(const TablePart& part, size_t most);
  Status AppendValues();
  void ClearPiece();

  const PartRows& rows_;
  const ColumnDefinition& column_;
  InputProgress* progress_;
  size_t part_ = 0;
  uint32_t row_ = 0;                      // next one of the part
  std::unique_ptr<ColumnReader> reader_;  // of the part; nullptr: not made yet
  uint64_t position_ = 0;                 // rows given out since the start
  uint64_t reported_ = 0;                 // most of them so far: a second pass is no progress
  ColumnValues piece_;
  std::vector<RowId> run_;
  std::vector<std::string_view> texts_;
  ReadBuffer buffer_;
};

}  // namespace stoa::storage
