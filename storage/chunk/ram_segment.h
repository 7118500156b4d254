#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "storage/base/ids.h"
#include "storage/chunk/arena.h"
#include "storage/chunk/column_block.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

inline constexpr uint32_t kSegmentRows = 65536;  // most rows of a segment

// What all versions of a RAM segment share: the document ids by row, the hash from id to row, and the arena
// of the bytes columns. Append-only: a row, once appended, keeps its id, and its number is never given to
// another row, even when the commit that appended it was given up. One writer (the table's writer mutex);
// readers take no lock and look at a segment through a SegmentView only.
//
// The hash has one slot for each distinct id: its newest row. Older rows of the same id hang on it, newest
// first.
class RamSegment {
 public:
  explicit RamSegment(uint32_t capacity);

  uint32_t capacity() const { return capacity_; }
  DocId id(RowId row) const { return DocId(ids_[row.value]); }
  const uint64_t* ids() const { return ids_.get(); }
  // The newest row of `id` below `row_count` that was not given up; whether it is deleted is for the caller
  // to look up.
  std::optional<RowId> FindNewest(DocId id, uint32_t row_count) const;

  // Writer only.
  uint32_t appended() const { return appended_; }
  RowId Append(DocId id);
  void GiveUp(uint32_t from, uint32_t to);  // these rows were never published and never will be
  Arena& arena() { return arena_; }
  // Memory of the codes of its vectors, in all versions that are held.
  const std::shared_ptr<std::atomic<uint64_t>>& code_bytes() const { return code_bytes_; }
  uint64_t fixed_bytes() const { return uint64_t{capacity_} * 12 + (uint64_t{mask_} + 1) * 4; }

 private:
  static constexpr uint32_t kNone = 0x7fffffff;
  static constexpr uint32_t kGivenUp = 0x80000000;

  static constexpr uint32_t kRowMask = (1u << 17) - 1;  // of a slot: row + 1
  static constexpr uint32_t kTagMask = ~kRowMask;       // of a slot: bits of the id's hash

  static uint32_t Tag(DocId id);
  size_t Slot(DocId id, uint32_t tag) const;

  const uint32_t capacity_;
  const uint32_t mask_;
  std::unique_ptr<uint64_t[]> ids_;
  std::unique_ptr<std::atomic<uint32_t>[]>
      older_;  // by row: the next older row of the same id, perhaps kGivenUp
  std::unique_ptr<std::atomic<uint32_t>[]> slots_;  // tag and row + 1; 0: free
  uint32_t appended_ = 0;
  Arena arena_;
  const std::shared_ptr<std::atomic<uint64_t>> code_bytes_ = std::make_shared<std::atomic<uint64_t>>(0);
};

// A segment as one snapshot sees it. Immutable and safe to share.
class SegmentView : public TablePart {
 public:
  struct State {
    std::shared_ptr<RamSegment> segment;
    uint32_t row_count = 0;
    std::shared_ptr<const DeleteMap> deleted;
    std::shared_ptr<const ColumnDirectory> directory;
    DocId min_id{UINT64_MAX};
    DocId max_id{0};
    uint64_t ram_bytes = 0;      // without codes
    uint64_t garbage_bytes = 0;  // of the arena: values that were replaced
    bool sealed = false;         // it is being written to a disk chunk: no row is appended any more
  };
  explicit SegmentView(State state) : state_(std::move(state)) {}

  uint32_t row_count() const override { return state_.row_count; }
  const DeleteMap& deleted() const override { return *state_.deleted; }
  Result<std::optional<RowId>> FindDocument(DocId id) const override;
  Result<std::unique_ptr<ColumnReader>> Column(const ColumnDefinition& column) const override;
  bool is_disk_chunk() const override { return false; }
  uint64_t ram_bytes() const override {
    return state_.ram_bytes + state_.segment->code_bytes()->load(std::memory_order_relaxed);
  }
  CodeBlock Codes(const ColumnDefinition& column, uint32_t block,
                  const std::shared_ptr<const VectorQuantizer>& quantizer) const override;
  // Whether Codes() has nothing to make.
  bool HasCodes(const ColumnDefinition& column, uint32_t block, const VectorQuantizer& quantizer) const;

  const State& state() const { return state_; }

 private:
  const ColumnBlock* BlockOf(const ColumnDefinition& column, uint32_t block) const;
  uint32_t RowsOfBlock(uint32_t block) const;

  State state_;
};

}  // namespace stoa::storage
