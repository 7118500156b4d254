#include "storage/chunk/segment_edit.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "storage/base/check.h"
#include "storage/chunk/block_codes.h"

namespace stoa::storage {
namespace {

constexpr uint32_t kFirstBlockRows = 16;  // the only block of a small segment grows from here

bool IsDefault(const ColumnValues& values, size_t from, size_t count) {
  switch (LaneOf(values.type)) {
    case Lane::kInt:
      return std::all_of(values.ints.begin() + static_cast<ptrdiff_t>(from),
                         values.ints.begin() + static_cast<ptrdiff_t>(from + count),
                         [](int64_t value) { return value == 0; });
    case Lane::kFloat:
      return std::all_of(values.floats.begin() + static_cast<ptrdiff_t>(from),
                         values.floats.begin() + static_cast<ptrdiff_t>(from + count),
                         [](float value) { return std::bit_cast<uint32_t>(value) == 0; });
    case Lane::kBytes:
      break;
  }
  return values.offsets[from] == values.offsets[from + count];
}

// A block to write to; bytes go to the arena.
struct CellTarget {
  ColumnBlock& block;
  Cell cell;
  Arena& arena;
};

// Writes values[pick(i)] to the cells at(i) for i below `count`.
template <typename At, typename Pick>
void WriteCells(const CellTarget& target, const ColumnValues& values, size_t count, const At& at,
                const Pick& pick) {
  auto& [block, cell, arena] = target;
  switch (cell) {
    case Cell::kUint32:
      for (size_t i = 0; i < count; ++i) {
        block.values<uint32_t>()[at(i)] = static_cast<uint32_t>(values.ints[pick(i)]);
      }
      return;
    case Cell::kInt64:
      for (size_t i = 0; i < count; ++i) {
        block.values<int64_t>()[at(i)] = values.ints[pick(i)];
      }
      return;
    case Cell::kFloat:
      for (size_t i = 0; i < count; ++i) {
        block.values<float>()[at(i)] = values.floats[pick(i)];
      }
      return;
    case Cell::kBytes:
      break;
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string_view stored = arena.Copy(values.BytesAt(pick(i)));
    block.values<BytesCell>()[at(i)] = {stored.data(), stored.size()};
  }
}

std::shared_ptr<BlockCodeCell> CopyOf(const std::shared_ptr<BlockCodes>& codes, uint32_t capacity) {
  return codes == nullptr ? std::make_shared<BlockCodeCell>()
                          : std::make_shared<BlockCodeCell>(std::make_shared<BlockCodes>(*codes, capacity));
}

// The codes of rows of a block that was just copied or made, for their new values.
void RenewCodes(const ColumnBlock& block, std::span<const RowId> rows) {
  const std::shared_ptr<BlockCodes> codes = block.code_cell()->Load();
  if (codes == nullptr) {
    return;
  }
  for (const RowId row : rows) {
    if (row.value % kBlockRows < codes->rows()) {
      codes->Renew(block.values<BytesCell>(), row.value % kBlockRows);
    }
  }
}

uint32_t BlockCapacity(uint32_t segment_capacity, uint32_t rows) {
  if (segment_capacity > kBlockRows) {
    return kBlockRows;
  }
  uint32_t capacity = kFirstBlockRows;
  while (capacity < rows) {
    capacity *= 8;
  }
  return std::min(capacity, kBlockRows);
}

}  // namespace

SegmentEdit::SegmentEdit(std::shared_ptr<const SegmentView> base)
    : base_(std::move(base)),
      next_(base_->state()),
      first_new_row_(next_.row_count),
      deletes_(next_.deleted) {}

SegmentEdit::SegmentEdit(uint32_t capacity)
    : first_new_row_(0), deletes_(std::make_shared<const DeleteMap>()) {
  next_.segment = std::make_shared<RamSegment>(capacity);
  next_.directory = std::make_shared<const ColumnDirectory>();
}

Result<std::optional<RowId>> SegmentEdit::Find(DocId id) const {
  if (id < next_.min_id || id > next_.max_id) {
    return std::optional<RowId>();
  }
  const std::optional<RowId> row = next_.segment->FindNewest(id, next_.row_count);
  return row.has_value() && deletes_.Contains(*row) ? std::optional<RowId>() : row;
}

void SegmentEdit::Delete(RowId row) { changed_ |= deletes_.Add(row); }

// Rows of commits that were given up lie between what the head shows and what was appended: they become dead
// rows.
void SegmentEdit::PassOverGivenUpRows() {
  const uint32_t appended = next_.segment->appended();
  if (next_.row_count == appended) {
    return;
  }
  next_.segment->GiveUp(next_.row_count, appended);
  for (uint32_t row = next_.row_count; row < appended; ++row) {
    Delete(RowId(row));
  }
  next_.row_count = appended;
}

void SegmentEdit::Append(const RowBatch& rows, size_t from, size_t count, const TableDefinition& definition) {
  STOA_CHECK(count <= room());
  if (count == 0) {
    return;
  }
  PassOverGivenUpRows();
  const uint32_t first_row = next_.row_count;
  for (size_t i = 0; i < count; ++i) {
    const DocId id = rows.ids[from + i];
    next_.segment->Append(id);
    next_.min_id = std::min(next_.min_id, id);
    next_.max_id = std::max(next_.max_id, id);
  }
  next_.row_count += static_cast<uint32_t>(count);
  size_t next = 0;  // columns usually come in the order of the definition
  for (const ColumnValues& values : rows.columns) {
    if (next >= definition.columns.size() || definition.columns[next].id != values.column) {
      const int index = definition.IndexOf(values.column);
      if (index < 0) {
        continue;
      }
      next = static_cast<size_t>(index);
    }
    AppendColumn(values, from, count, first_row, definition.columns[next]);
    ++next;
  }
  changed_ = true;
}

void SegmentEdit::AppendColumn(const ColumnValues& values, size_t from, size_t count, uint32_t first_row,
                               const ColumnDefinition& column) {
  if (LaneOf(values.type) != LaneOf(column.type)) {
    return;  // a column id never changes its lane
  }
  const Cell cell = CellOf(column.type);
  size_t done = 0;
  while (done < count) {
    const uint32_t row = first_row + static_cast<uint32_t>(done);
    const uint32_t at = row % kBlockRows;
    const size_t run = std::min<size_t>(count - done, kBlockRows - at);
    const size_t begin = from + done;
    done += run;
    ColumnBlock* block =
        BlockForAppend(column, row, at + static_cast<uint32_t>(run), IsDefault(values, begin, run));
    if (block != nullptr) {
      WriteCells(
          {*block, cell, next_.segment->arena()}, values, run, [&](size_t i) { return at + i; },
          [&](size_t i) { return begin + i; });
    }
  }
}

// The block of `row` with room for cells below `end`; nullptr when there is none and only defaults are to be
// written.
ColumnBlock* SegmentEdit::BlockForAppend(const ColumnDefinition& column, uint32_t row, uint32_t end,
                                         bool only_defaults) {
  const ColumnDirectory& directory = directory_ != nullptr ? *directory_ : *next_.directory;
  const StoredColumn* stored = directory.Find(column.id);
  const uint32_t index = row / kBlockRows;
  ColumnBlock* block =
      stored != nullptr && index < stored->blocks.size() ? stored->blocks[index].get() : nullptr;
  if (block == nullptr && only_defaults) {
    return nullptr;
  }
  if (block != nullptr && block->capacity() >= end && CellOf(stored->type) == CellOf(column.type)) {
    return block;  // its cells behind the published rows are ours
  }
  StoredColumn& own = Own(column);
  if (own.blocks.size() <= index) {
    own.blocks.resize(index + 1);
  }
  std::shared_ptr<ColumnBlock>& place = own.blocks[index];
  if (place == nullptr || place->capacity() < end) {
    ReplaceBlock(own, place, BlockCapacity(next_.segment->capacity(), end));
  }
  return place.get();
}

ColumnBlock& SegmentEdit::BlockForUpdate(StoredColumn& column, uint32_t row) {
  const uint32_t index = row / kBlockRows;
  if (column.blocks.size() <= index) {
    column.blocks.resize(index + 1);
  }
  std::shared_ptr<ColumnBlock>& place = column.blocks[index];
  if (place == nullptr || !own_blocks_.contains(place.get()) || place->capacity() <= row % kBlockRows) {
    const uint32_t wanted = std::max(row % kBlockRows + 1, place != nullptr ? place->capacity() : 0);
    ReplaceBlock(column, place, BlockCapacity(next_.segment->capacity(), wanted));
  }
  return *place;
}

// A copy of the block at `place`, or a new one, with room for `capacity` cells.
void SegmentEdit::ReplaceBlock(const StoredColumn& column, std::shared_ptr<ColumnBlock>& place,
                               uint32_t capacity) {
  const Cell cell = CellOf(column.type);
  auto block = std::make_shared<ColumnBlock>(cell, capacity);
  if (column.coded_dims > 0) {
    const bool coded = quantizers_ != nullptr && place != nullptr && place->code_cell() != nullptr;
    block->SetCodeCell(CopyOf(coded ? place->code_cell()->Load() : nullptr, capacity));
  }
  if (place != nullptr) {
    const uint32_t cells = std::min(place->capacity(), capacity);
    std::memcpy(block->values<std::byte>(), place->values<std::byte>(), cells * CellWidth(cell));
    directory_->bytes -= place->capacity() * CellWidth(cell);
    own_blocks_.erase(place.get());
  }
  directory_->bytes += capacity * CellWidth(cell);
  own_blocks_.insert(block.get());
  place = std::move(block);
}

// This edit's own copy of a stored column, made when there is none, in the cells of the column's type.
StoredColumn& SegmentEdit::Own(const ColumnDefinition& column) {
  if (directory_ == nullptr) {
    directory_ = std::make_shared<ColumnDirectory>(*next_.directory);
    own_columns_.resize(directory_->entries.size());
  }
  auto& entries = directory_->entries;
  const auto place =
      std::lower_bound(entries.begin(), entries.end(), column.id,
                       [](const ColumnDirectory::Entry& entry, ColumnId id) { return entry.id < id; });
  const ptrdiff_t index = place - entries.begin();
  if (place == entries.end() || place->id != column.id) {
    auto own = std::make_shared<StoredColumn>();
    own->type = column.type;
    own->coded_dims =
        column.type == ColumnType::kFloatVector && column.knn.has_value() ? column.knn->dims : 0;
    entries.insert(place, {column.id, own});
    own_columns_.insert(own_columns_.begin() + index, own);
    return *own;
  }
  std::shared_ptr<StoredColumn>& own = own_columns_[static_cast<size_t>(index)];
  if (own == nullptr) {
    own = std::make_shared<StoredColumn>(*place->column);
    place->column = own;
  }
  if (CellOf(own->type) != CellOf(column.type)) {
    Widen(*own, column.type);
  }
  return *own;
}

// MODIFY COLUMN int → bigint: the segment's values of the column become 64 bits wide.
void SegmentEdit::Widen(StoredColumn& column, ColumnType type) {
  STOA_CHECK(CellOf(column.type) == Cell::kUint32 && CellOf(type) == Cell::kInt64);
  for (std::shared_ptr<ColumnBlock>& place : column.blocks) {
    if (place == nullptr) {
      continue;
    }
    auto block = std::make_shared<ColumnBlock>(Cell::kInt64, place->capacity());
    std::copy_n(place->values<uint32_t>(), place->capacity(), block->values<int64_t>());
    directory_->bytes += place->capacity() * (CellWidth(Cell::kInt64) - CellWidth(Cell::kUint32));
    own_blocks_.erase(place.get());
    own_blocks_.insert(block.get());
    place = std::move(block);
  }
  column.type = type;
}

void SegmentEdit::Update(std::span<const RowId> rows, std::span<const uint32_t> picks,
                         const ColumnValues& values, const ColumnDefinition& column) {
  if (rows.empty() || LaneOf(values.type) != LaneOf(column.type)) {
    return;
  }
  StoredColumn& own = Own(column);
  const Cell cell = CellOf(column.type);
  size_t done = 0;
  while (done < rows.size()) {
    const uint32_t index = rows[done].value / kBlockRows;
    size_t last = done;
    while (last < rows.size() && rows[last].value / kBlockRows == index) {
      ++last;
    }
    // The last row first: it decides how long the block has to be.
    ColumnBlock& block = BlockForUpdate(own, rows[last - 1].value);
    const auto at = [&](size_t i) { return rows[done + i].value % kBlockRows; };
    if (cell == Cell::kBytes) {
      for (size_t i = 0; i < last - done; ++i) {
        next_.garbage_bytes += block.values<BytesCell>()[at(i)].size;
      }
    }
    WriteCells({block, cell, next_.segment->arena()}, values, last - done, at,
               [&](size_t i) { return picks[done + i]; });
    if (own.coded_dims > 0) {
      RenewCodes(block, rows.subspan(done, last - done));
    }
    done = last;
  }
  changed_ = true;
}

// Vectors that come with this edit are coded before anybody sees them. Older ones whose codes are missing are
// left to others: the commit would wait for them.
void SegmentEdit::MakeCodes() {
  if (quantizers_ == nullptr) {
    return;
  }
  for (const TableQuantizers::Entry& entry : quantizers_->entries) {
    const StoredColumn* const column = next_.directory->Find(entry.column);
    if (column != nullptr && column->coded_dims > 0) {
      MakeCodesOf(*column, entry.quantizer);
    }
  }
}

void SegmentEdit::MakeCodesOf(const StoredColumn& column,
                              const std::shared_ptr<const VectorQuantizer>& quantizer) {
  const CodeRecipe recipe{quantizer, column.coded_dims, next_.segment->code_bytes()};
  for (uint32_t index = 0; index < column.blocks.size(); ++index) {
    const ColumnBlock* const block = column.blocks[index].get();
    const uint32_t first = index * kBlockRows;
    const bool has_new_rows =
        next_.row_count > std::max(first, first_new_row_) && first_new_row_ < first + kBlockRows;
    if (block == nullptr || block->code_cell() == nullptr || !(has_new_rows || own_blocks_.contains(block))) {
      continue;
    }
    const auto codes = block->code_cell()->Load();
    const bool is_current = codes != nullptr && codes->quantizer().id() == quantizer->id();
    if (is_current || first >= first_new_row_) {
      block->code_cell()->Make(recipe, *block, std::min(next_.row_count - first, block->capacity()));
    }
  }
}

std::shared_ptr<const SegmentView> SegmentEdit::FinishView() {
  if (!changed_ && base_ != nullptr) {
    return base_;
  }
  next_.deleted = deletes_.Finish();
  if (directory_ != nullptr) {
    next_.directory = std::move(directory_);
  }
  MakeCodes();
  next_.ram_bytes = next_.segment->fixed_bytes() + next_.segment->arena().allocated() +
                    next_.directory->bytes + next_.deleted->ram_bytes();
  return std::make_shared<const SegmentView>(std::move(next_));
}

}  // namespace stoa::storage
