#include "storage/chunk/ram_segment.h"

#include <bit>

#include "storage/base/check.h"

namespace stoa::storage {

namespace {

uint64_t Hash(DocId id) { return id.value * 0x9e3779b97f4a7c15u; }

}  // namespace

uint32_t RamSegment::Tag(DocId id) { return static_cast<uint32_t>(Hash(id) >> 32) & kTagMask; }

RamSegment::RamSegment(uint32_t capacity)
    : capacity_(capacity),
      mask_(std::bit_ceil(capacity * 2) - 1),
      ids_(std::make_unique_for_overwrite<uint64_t[]>(capacity)),
      older_(std::make_unique_for_overwrite<std::atomic<uint32_t>[]>(capacity)),
      slots_(std::make_unique<std::atomic<uint32_t>[]>(size_t{mask_} + 1)) {
  STOA_CHECK(capacity <= kSegmentRows);
}

// The slot of `id`, or the free one where it would be. The tag spares most looks at the ids of others.
size_t RamSegment::Slot(DocId id, uint32_t tag) const {
  size_t slot = (Hash(id) >> 32) & mask_;
  while (true) {
    const uint32_t taken = slots_[slot].load(std::memory_order_acquire);
    if (taken == 0 || ((taken & kTagMask) == tag && ids_[(taken & kRowMask) - 1] == id.value)) {
      return slot;
    }
    slot = (slot + 1) & mask_;
  }
}

std::optional<RowId> RamSegment::FindNewest(DocId id, uint32_t row_count) const {
  const uint32_t taken = slots_[Slot(id, Tag(id))].load(std::memory_order_acquire);
  if (taken == 0) {
    return std::nullopt;
  }
  uint32_t row = (taken & kRowMask) - 1;
  while (row != kNone) {
    const uint32_t older = older_[row].load(std::memory_order_relaxed);
    if (row < row_count && (older & kGivenUp) == 0) {
      return RowId(row);
    }
    row = older & ~kGivenUp;
  }
  return std::nullopt;
}

RowId RamSegment::Append(DocId id) {
  STOA_DCHECK(appended_ < capacity_);
  const uint32_t row = appended_++;
  ids_[row] = id.value;
  const uint32_t tag = Tag(id);
  const size_t slot = Slot(id, tag);
  const uint32_t taken = slots_[slot].load(std::memory_order_relaxed);
  older_[row].store(taken == 0 ? kNone : (taken & kRowMask) - 1, std::memory_order_relaxed);
  slots_[slot].store(tag | (row + 1), std::memory_order_release);
  return RowId(row);
}

void RamSegment::GiveUp(uint32_t from, uint32_t to) {
  for (uint32_t row = from; row < to; ++row) {
    older_[row].fetch_or(kGivenUp, std::memory_order_relaxed);
  }
}

Result<std::optional<RowId>> SegmentView::FindDocument(DocId id) const {
  if (id < state_.min_id || id > state_.max_id) {
    return std::optional<RowId>();
  }
  const std::optional<RowId> row = state_.segment->FindNewest(id, state_.row_count);
  // Rows older than the newest of an id were deleted before it was written.
  if (!row.has_value() || state_.deleted->Contains(*row)) {
    return std::optional<RowId>();
  }
  return row;
}

}  // namespace stoa::storage
