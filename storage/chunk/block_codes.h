#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "storage/base/mutex.h"
#include "storage/chunk/column_block.h"
#include "storage/column/column_predicate.h"
#include "storage/vector/vector_index.h"

namespace stoa::storage {

// What codes of the vectors of a column in a RAM segment are made with.
struct CodeRecipe {
  std::shared_ptr<const VectorQuantizer> quantizer;
  uint32_t dims = 0;                             // floats of a vector; a cell of another size counts as none
  std::shared_ptr<std::atomic<uint64_t>> bytes;  // told how much memory codes take while they live
};

// The codes of the vectors of one ColumnBlock, for its first rows. rows() grows, and what lies below it never
// changes but by Renew(), before anybody else sees the block. One thread at a time extends (BlockCodeCell
// sees to it), any thread may read meanwhile.
class BlockCodes {
 public:
  BlockCodes(const CodeRecipe& recipe, uint32_t capacity);
  // For a copy of the block, with room for no fewer rows.
  BlockCodes(const BlockCodes& other, uint32_t capacity);
  ~BlockCodes();
  BlockCodes& operator=(const BlockCodes&) = delete;

  const VectorQuantizer& quantizer() const { return *recipe_.quantizer; }
  uint32_t rows() const { return rows_.load(std::memory_order_acquire); }
  uint32_t stride() const { return stride_; }            // bytes from row to row
  const uint8_t* codes() const { return codes_.get(); }  // 64-byte aligned
  BlockBits Present(uint32_t end) const;                 // rows below `end` ≤ rows() that have a vector

  void Extend(const BytesCell* cells, uint32_t end);  // codes the rows from rows() to `end` ≤ capacity
  void Renew(const BytesCell* cells, uint32_t row);   // codes a row below rows() again

 private:
  struct Free {
    void operator()(uint8_t* bytes) const;
  };

  static std::unique_ptr<uint8_t[], Free> Allocate(size_t bytes);
  bool HasVector(const BytesCell& cell) const { return cell.size == recipe_.dims * sizeof(float); }
  void Encode(const BytesCell* cells, uint32_t begin, uint32_t end);

  const CodeRecipe recipe_;
  const uint32_t stride_;
  const uint64_t size_;
  const std::unique_ptr<uint8_t[], Free> codes_;
  std::atomic<uint64_t> present_[kBlockRows / 64] = {};
  std::atomic<uint32_t> rows_{0};
};

// The place of a block's codes. They are made at the commit of its rows, or later when the quantiser is
// newer, by whoever needs them first. Safe to share.
class BlockCodeCell {
 public:
  BlockCodeCell() = default;
  explicit BlockCodeCell(std::shared_ptr<BlockCodes> codes) : codes_(std::move(codes)) {}

  std::shared_ptr<BlockCodes> Load() const;  // of any quantiser; nullptr: none
  // Codes of this quantiser for at least the first `rows` cells of `block`; what is missing is made, which
  // makes those wait who need it, too, and nobody else.
  std::shared_ptr<const BlockCodes> Make(const CodeRecipe& recipe, const ColumnBlock& block, uint32_t rows);
  // Whether Make() would find all of it.
  bool Has(const VectorQuantizer& quantizer, uint32_t rows) const;

 private:
  static bool IsOf(const std::shared_ptr<BlockCodes>& codes, const VectorQuantizer& quantizer) {
    return codes != nullptr && codes->quantizer().id() == quantizer.id();
  }

  Mutex making_;
  mutable Mutex mutex_;
  std::shared_ptr<BlockCodes> codes_ GUARDED_BY(mutex_);
};

}  // namespace stoa::storage
