#include "storage/chunk/patch_overlay.h"

#include <algorithm>
#include <utility>

#include "storage/base/check.h"
#include "storage/chunk/column_block.h"

namespace stoa::storage {
namespace {

void AppendFrom(const ColumnValues& from, size_t at, ColumnType type, ColumnValues& to) {
  switch (CellOf(type)) {
    case Cell::kUint32:
      to.AppendInt(static_cast<uint32_t>(from.ints[at]));
      return;
    case Cell::kInt64:
      to.AppendInt(from.ints[at]);
      return;
    case Cell::kFloat:
      to.AppendFloat(from.floats[at]);
      return;
    case Cell::kBytes:
      break;
  }
  to.AppendBytes(from.BytesAt(at));
}

// Some rows of one block with their new values: rows[i] becomes values[picks[i]].
struct Change {
  std::span<const RowId> rows;  // ascending; of equal ones the last counts
  std::span<const uint32_t> picks;
  const ColumnValues& values;
};

void Reserve(PatchBlock& block, size_t rows, uint64_t bytes) {
  block.rows.reserve(rows);
  switch (LaneOf(block.values.type)) {
    case Lane::kInt:
      block.values.ints.reserve(rows);
      return;
    case Lane::kFloat:
      block.values.floats.reserve(rows);
      return;
    case Lane::kBytes:
      break;
  }
  block.values.offsets.reserve(rows + 1);
  block.values.bytes.reserve(bytes);
}

uint64_t BytesToCome(const PatchBlock* old, const Change& change, ColumnType type) {
  if (LaneOf(type) != Lane::kBytes) {
    return 0;
  }
  uint64_t bytes = old != nullptr ? old->values.bytes.size() : 0;
  for (const uint32_t pick : change.picks) {
    bytes += change.values.BytesAt(pick).size();
  }
  return bytes;
}

// What the block had (nullptr: nothing) and, in the place of it or between, what changes.
std::shared_ptr<const PatchBlock> Merge(const PatchBlock* old, const Change& change, ColumnId column,
                                        ColumnType type) {
  auto merged = std::make_shared<PatchBlock>();
  merged->values.column = column;
  merged->values.type = type;
  const size_t old_rows = old != nullptr ? old->rows.size() : 0;
  Reserve(*merged, std::min<size_t>(old_rows + change.rows.size(), kBlockRows),
          BytesToCome(old, change, type));
  size_t kept = 0;
  const auto keep_below = [&](uint32_t end) {
    for (; kept < old_rows && old->rows[kept] < end; ++kept) {
      merged->rows.push_back(old->rows[kept]);
      AppendFrom(old->values, kept, type, merged->values);
    }
  };
  for (size_t i = 0; i < change.rows.size(); ++i) {
    if (i + 1 < change.rows.size() && change.rows[i] == change.rows[i + 1]) {
      continue;
    }
    const auto row = static_cast<uint16_t>(change.rows[i].value % kBlockRows);
    keep_below(row);
    kept += kept < old_rows && old->rows[kept] == row ? 1 : 0;
    merged->rows.push_back(row);
    AppendFrom(change.values, change.picks[i], type, merged->values);
  }
  keep_below(kBlockRows);
  return merged;
}

template <typename Blocks>
auto FindBlock(Blocks& blocks, uint32_t block) {
  return std::lower_bound(blocks.begin(), blocks.end(), block,
                          [](const auto& entry, uint32_t wanted) { return entry.block < wanted; });
}

template <typename Columns>
auto FindColumn(Columns& columns, ColumnId id) {
  return std::lower_bound(columns.begin(), columns.end(), id,
                          [](const auto& column, ColumnId wanted) { return column->id < wanted; });
}

}  // namespace

uint64_t PatchBlock::ram_bytes() const {
  return sizeof(*this) + rows.capacity() * sizeof(rows[0]) + values.ints.capacity() * sizeof(int64_t) +
         values.floats.capacity() * sizeof(float) + values.offsets.capacity() * sizeof(uint64_t) +
         values.bytes.capacity();
}

const PatchBlock* PatchOverlay::Column::Find(uint32_t block) const {
  const auto place = FindBlock(blocks, block);
  return place != blocks.end() && place->block == block ? place->patch.get() : nullptr;
}

std::shared_ptr<const PatchOverlay::Column> PatchOverlay::Share(ColumnId id) const {
  const auto place = FindColumn(columns_, id);
  return place != columns_.end() && (*place)->id == id ? *place : nullptr;
}

const PatchOverlay::Column* PatchOverlay::Find(ColumnId id) const {
  return Share(id).get();  // the overlay keeps it
}

PatchOverlayEdit::PatchOverlayEdit(std::shared_ptr<const PatchOverlay> base) : base_(std::move(base)) {}

// This edit's own list of the column, made when there is none.
PatchOverlay::Column& PatchOverlayEdit::Own(ColumnId id, ColumnType type) {
  if (next_ == nullptr) {
    next_ = std::make_shared<PatchOverlay>(*base_);
    own_.resize(next_->columns_.size());
  }
  auto& columns = next_->columns_;
  const auto place = FindColumn(columns, id);
  const ptrdiff_t index = place - columns.begin();
  if (place == columns.end() || (*place)->id != id) {
    auto own = std::make_shared<PatchOverlay::Column>();
    own->id = id;
    own->type = type;
    columns.insert(place, own);
    own_.insert(own_.begin() + index, own);
    next_->ram_bytes_ += sizeof(*own);
    return *own;
  }
  std::shared_ptr<PatchOverlay::Column>& own = own_[static_cast<size_t>(index)];
  if (own == nullptr) {
    own = std::make_shared<PatchOverlay::Column>(**place);
    *place = own;
  }
  own->type = type;
  return *own;
}

void PatchOverlayEdit::SetBlock(ColumnId id, ColumnType type, uint32_t block,
                                std::shared_ptr<const PatchBlock> patch) {
  STOA_DCHECK(patch->rows.size() == patch->values.size());
  auto& blocks = Own(id, type).blocks;
  auto place = FindBlock(blocks, block);
  if (place == blocks.end() || place->block != block) {
    place = blocks.insert(place, {block, nullptr});
    next_->ram_bytes_ += sizeof(*place);
  } else {
    next_->ram_bytes_ -= place->patch->ram_bytes();
    next_->patched_values_ -= place->patch->rows.size();
  }
  next_->ram_bytes_ += patch->ram_bytes();
  next_->patched_values_ += patch->rows.size();
  place->patch = std::move(patch);
  changed_ = true;
}

void PatchOverlayEdit::Set(std::span<const RowId> rows, std::span<const uint32_t> picks,
                           const ColumnValues& values, const ColumnDefinition& column) {
  if (LaneOf(values.type) != LaneOf(column.type)) {
    return;  // a column id never changes its lane
  }
  size_t done = 0;
  while (done < rows.size()) {
    const uint32_t block = rows[done].value / kBlockRows;
    size_t last = done + 1;
    while (last < rows.size() && rows[last].value / kBlockRows == block) {
      ++last;
    }
    const PatchOverlay& now = next_ != nullptr ? *next_ : *base_;
    const PatchOverlay::Column* patches = now.Find(column.id);
    const PatchBlock* old = patches != nullptr ? patches->Find(block) : nullptr;
    const Change change{rows.subspan(done, last - done), picks.subspan(done, last - done), values};
    SetBlock(column.id, column.type, block, Merge(old, change, column.id, column.type));
    done = last;
  }
}

std::shared_ptr<const PatchOverlay> PatchOverlayEdit::Finish() {
  if (!changed_) {
    return base_;
  }
  own_.clear();
  return std::move(next_);
}

}  // namespace stoa::storage
