#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/column/column_reader.h"
#include "storage/row_batch.h"

namespace stoa::storage {

// New values of some rows of one block of one column. Immutable.
struct PatchBlock {
  std::vector<uint16_t> rows;  // within the block, ascending
  ColumnValues values;         // one a row; the type may be narrower than the overlay's (int, bigint)

  uint64_t ram_bytes() const;
};

// The values of a disk chunk that UPDATE changed since the chunk was written: row → new value, by column and
// block. Immutable; overlays that follow each other share what did not change. Readers consult it through
// the chunk's view, a merge folds it in.
class PatchOverlay {
 public:
  struct Column {
    ColumnId id;
    ColumnType type = ColumnType::kInt;
    struct Entry {
      uint32_t block = 0;
      std::shared_ptr<const PatchBlock> patch;
    };
    std::vector<Entry> blocks;  // ascending

    const PatchBlock* Find(uint32_t block) const;  // nullptr: nothing of the block is patched
  };

  bool empty() const { return columns_.empty(); }
  const Column* Find(ColumnId id) const;  // nullptr: nothing of the column is patched
  std::shared_ptr<const Column> Share(ColumnId id) const;
  const std::vector<std::shared_ptr<const Column>>& columns() const { return columns_; }  // by id
  uint64_t ram_bytes() const { return ram_bytes_; }
  uint64_t patched_values() const { return patched_values_; }

 private:
  friend class PatchOverlayEdit;
  std::vector<std::shared_ptr<const Column>> columns_;
  uint64_t ram_bytes_ = 0;
  uint64_t patched_values_ = 0;
};

// Makes the next overlay: copies the lists of the columns it touches and makes the blocks it changes anew.
// One thread at a time.
class PatchOverlayEdit {
 public:
  explicit PatchOverlayEdit(std::shared_ptr<const PatchOverlay> base);

  // Sets `column` of rows[i] to the value at picks[i]; `rows` ascend. A patch of an older, narrower type
  // (int → bigint) is widened.
  void Set(std::span<const RowId> rows, std::span<const uint32_t> picks, const ColumnValues& values,
           const ColumnDefinition& column);
  // Puts a whole block of patches in the place of what the block had. Its lane is that of `type`.
  void SetBlock(ColumnId id, ColumnType type, uint32_t block, std::shared_ptr<const PatchBlock> patch);
  bool changed() const { return changed_; }
  std::shared_ptr<const PatchOverlay> Finish();

 private:
  PatchOverlay::Column& Own(ColumnId id, ColumnType type);

  std::shared_ptr<const PatchOverlay> base_;
  std::shared_ptr<PatchOverlay> next_;                      // nullptr: nothing has changed
  std::vector<std::shared_ptr<PatchOverlay::Column>> own_;  // parallel to the columns of next_: this edit's
  bool changed_ = false;
};

// A reader of `base` with the patches of its column applied. nullptr for `patches`: `base` itself.
std::unique_ptr<ColumnReader> MakePatchedReader(std::unique_ptr<ColumnReader> base,
                                                std::shared_ptr<const PatchOverlay::Column> patches);

}  // namespace stoa::storage
