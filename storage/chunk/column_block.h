#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "storage/base/ids.h"
#include "storage/column/column_predicate.h"
#include "storage/schema.h"

namespace stoa::storage {

// How one value lies in a block: 4, 8, 4 or 16 bytes. All bits zero is the default value of every column
// type.
enum class Cell : uint8_t { kUint32, kInt64, kFloat, kBytes };
Cell CellOf(ColumnType type);
size_t CellWidth(Cell cell);

// A value of a bytes column: its place in the segment's arena.
struct BytesCell {
  const char* data;
  uint64_t size;
};

class BlockCodeCell;

// Up to 1,024 consecutive values of one column, zero until written. A cell is written once, before its row is
// published; a later change of the value makes a new block.
class ColumnBlock {
 public:
  ColumnBlock(Cell cell, uint32_t capacity)
      : bytes_(new std::byte[CellWidth(cell) * capacity]()), capacity_(capacity) {}

  uint32_t capacity() const { return capacity_; }
  // Where the codes of its vectors are kept (block_codes.h); nullptr: the column has none. Set before anybody
  // else sees the block.
  void SetCodeCell(std::shared_ptr<BlockCodeCell> cell) { code_cell_ = std::move(cell); }
  BlockCodeCell* code_cell() const { return code_cell_.get(); }
  // T is the type of the column's cell: uint32_t, int64_t, float or BytesCell.
  template <typename T>
  T* values() {
    return reinterpret_cast<T*>(bytes_.get());
  }
  template <typename T>
  const T* values() const {
    return reinterpret_cast<const T*>(bytes_.get());
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  uint32_t capacity_;
  std::shared_ptr<BlockCodeCell> code_cell_;
};

// One column of one segment. A block that is missing, or shorter than asked for, holds defaults there.
struct StoredColumn {
  ColumnType type = ColumnType::kInt;
  uint32_t coded_dims = 0;  // > 0: vectors of so many floats, whose blocks have a place for codes
  std::vector<std::shared_ptr<ColumnBlock>> blocks;
};

// The columns of a segment in one version of its view; columns that hold only defaults are absent. Immutable
// once a view has it.
struct ColumnDirectory {
  struct Entry {
    ColumnId id;
    std::shared_ptr<const StoredColumn> column;
  };
  std::vector<Entry> entries;  // by id
  uint64_t bytes = 0;          // of all blocks

  const StoredColumn* Find(ColumnId id) const;  // nullptr when absent
  std::shared_ptr<const StoredColumn> Share(ColumnId id) const;
};

}  // namespace stoa::storage
