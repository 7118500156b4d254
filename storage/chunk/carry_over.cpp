#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <utility>

#include "storage/chunk/chunk_view.h"
#include "storage/chunk/ram_segment.h"

namespace stoa::storage {
namespace {

// Where the live rows of one part went: row → row of the new chunk.
class RowMap {
 public:
  RowMap(const DeleteMap& deleted, uint32_t row_count, uint32_t first)
      : deleted_(deleted), row_count_(row_count), first_(first) {}

  // Of a row that was alive.
  uint32_t At(uint32_t row) {
    if (dead_before_.empty()) {
      Count();
    }
    const uint32_t word = row / 64;
    uint32_t dead = dead_before_[word / kWordsPerBlock];
    for (uint32_t i = word / kWordsPerBlock * kWordsPerBlock; i < word; ++i) {
      dead += static_cast<uint32_t>(std::popcount(deleted_.Word(i)));
    }
    const uint64_t below = (uint64_t{1} << (row % 64)) - 1;
    dead += static_cast<uint32_t>(std::popcount(deleted_.Word(word) & below));
    return first_ + row - dead;
  }

 private:
  static constexpr uint32_t kWordsPerBlock = kBlockRows / 64;

  // The dead rows in front of each block; only pages that have some are looked at.
  void Count() {
    const uint32_t blocks = (row_count_ + kBlockRows - 1) / kBlockRows;
    dead_before_.resize(blocks);
    uint32_t dead = 0;
    for (uint32_t block = 0; block < blocks; ++block) {
      dead_before_[block] = dead;
      if (deleted_.PageWords(block / (DeleteMap::kPageRows / kBlockRows)) == nullptr) {
        continue;
      }
      for (uint32_t i = 0; i < kWordsPerBlock; ++i) {
        dead += static_cast<uint32_t>(std::popcount(deleted_.Word(block * kWordsPerBlock + i)));
      }
    }
  }

  const DeleteMap& deleted_;
  const uint32_t row_count_;
  const uint32_t first_;
  std::vector<uint32_t> dead_before_;  // made when first needed
};

// New values by column, rows ascending.
struct ColumnPatches {
  std::vector<RowId> rows;
  ColumnValues values;
};
using Patches = std::map<ColumnId, ColumnPatches>;

ColumnPatches& PatchesOf(Patches& patches, const ColumnDefinition& column) {
  ColumnPatches& of = patches[column.id];
  of.values.column = column.id;
  of.values.type = column.type;
  return of;
}

const ColumnDefinition* FindColumn(const TableDefinition& definition, ColumnId id, ColumnType stored) {
  const int index = definition.IndexOf(id);
  if (index <= 0 || LaneOf(definition.columns[static_cast<size_t>(index)].type) != LaneOf(stored)) {
    return nullptr;  // dropped since
  }
  return &definition.columns[static_cast<size_t>(index)];
}

// Rows of one block of both views of a part, alive in both.
uint64_t AliveWord(const TablePart& before, const TablePart& after, uint32_t word) {
  const uint64_t first = uint64_t{word} * 64;
  const uint32_t end = before.row_count();
  if (first >= end) {
    return 0;
  }
  const uint64_t rows = end - first >= 64 ? ~uint64_t{0} : (uint64_t{1} << (end - first)) - 1;
  return rows & ~before.deleted().Word(word) & ~after.deleted().Word(word);
}

void CarryDeletes(const TablePart& before, const TablePart& after, RowMap& rows, DeleteMapEdit& deletes) {
  constexpr uint32_t kPageWords = DeleteMap::kPageRows / 64;
  const DeleteMap& old = before.deleted();
  const DeleteMap& now = after.deleted();
  for (uint32_t page = 0; page < now.page_count(); ++page) {
    const uint64_t* words = now.PageWords(page);
    if (words == nullptr || words == old.PageWords(page)) {
      continue;
    }
    for (uint32_t word = page * kPageWords; word < (page + 1) * kPageWords; ++word) {
      for (uint64_t fresh = now.Word(word) & ~old.Word(word); fresh != 0; fresh &= fresh - 1) {
        const uint32_t row = word * 64 + static_cast<uint32_t>(std::countr_zero(fresh));
        if (row >= before.row_count()) {
          return;
        }
        deletes.Add(RowId(rows.At(row)));
      }
    }
  }
}

// One block of a column of a segment, in the view that was written and as it is now. A block that is missing
// or short holds defaults.
struct BlockPair {
  const ColumnBlock* before;
  Cell before_cell;
  const ColumnBlock* after;
  Cell after_cell;
};

int64_t IntAt(const ColumnBlock* block, Cell cell, uint32_t at) {
  if (block == nullptr || at >= block->capacity()) {
    return 0;
  }
  return cell == Cell::kUint32 ? int64_t{block->values<uint32_t>()[at]} : block->values<int64_t>()[at];
}
template <typename T>
T CellAt(const ColumnBlock* block, uint32_t at) {
  return block != nullptr && at < block->capacity() ? block->values<T>()[at] : T{};
}

bool SameBytes(const BytesCell& a, const BytesCell& b) {
  return std::string_view(a.data, a.size) == std::string_view(b.data, b.size);
}

// Appends the value of the row when it is not what it was.
bool AppendIfChanged(const BlockPair& blocks, uint32_t at, ColumnValues& values) {
  switch (LaneOf(values.type)) {
    case Lane::kInt: {
      const int64_t now = IntAt(blocks.after, blocks.after_cell, at);
      if (now == IntAt(blocks.before, blocks.before_cell, at)) {
        return false;
      }
      values.AppendInt(now);
      return true;
    }
    case Lane::kFloat: {
      const auto now = CellAt<float>(blocks.after, at);
      const auto old = CellAt<float>(blocks.before, at);
      if (std::bit_cast<uint32_t>(now) == std::bit_cast<uint32_t>(old)) {
        return false;
      }
      values.AppendFloat(now);
      return true;
    }
    case Lane::kBytes:
      break;
  }
  const auto now = CellAt<BytesCell>(blocks.after, at);
  if (SameBytes(now, CellAt<BytesCell>(blocks.before, at))) {
    return false;
  }
  values.AppendBytes(std::string_view(now.data, now.size));
  return true;
}

const ColumnBlock* BlockAt(const StoredColumn* column, size_t index) {
  return column != nullptr && index < column->blocks.size() ? column->blocks[index].get() : nullptr;
}

// Both views of a part.
template <typename Part>
struct Views {
  const Part& before;
  const Part& after;
};

void CarryCells(const Views<SegmentView>& segment, uint32_t block, const BlockPair& cells, RowMap& rows,
                ColumnPatches& to) {
  constexpr uint32_t kBlockWords = kBlockRows / 64;
  for (uint32_t word = block * kBlockWords; word < (block + 1) * kBlockWords; ++word) {
    for (uint64_t alive = AliveWord(segment.before, segment.after, word); alive != 0; alive &= alive - 1) {
      const uint32_t row = word * 64 + static_cast<uint32_t>(std::countr_zero(alive));
      if (AppendIfChanged(cells, row % kBlockRows, to.values)) {
        to.rows.emplace_back(rows.At(row));
      }
    }
  }
}

void CarrySegment(const Views<SegmentView>& segment, RowMap& rows, const TableDefinition& definition,
                  Patches& patches) {
  const ColumnDirectory& before = *segment.before.state().directory;
  for (const ColumnDirectory::Entry& entry : segment.after.state().directory->entries) {
    const StoredColumn* old = before.Find(entry.id);
    const ColumnDefinition* column = FindColumn(definition, entry.id, entry.column->type);
    if (old == entry.column.get() || column == nullptr) {
      continue;
    }
    ColumnPatches& to = PatchesOf(patches, *column);
    for (uint32_t block = 0; block < entry.column->blocks.size(); ++block) {
      const BlockPair cells{BlockAt(old, block), old != nullptr ? CellOf(old->type) : Cell::kUint32,
                            entry.column->blocks[block].get(), CellOf(entry.column->type)};
      if (cells.before != cells.after) {
        CarryCells(segment, block, cells, rows, to);
      }
    }
  }
}

bool SameValue(const ColumnValues& a, size_t at_a, const ColumnValues& b, size_t at_b) {
  switch (LaneOf(a.type)) {
    case Lane::kInt:
      return a.ints[at_a] == b.ints[at_b];
    case Lane::kFloat:
      return std::bit_cast<uint32_t>(a.floats[at_a]) == std::bit_cast<uint32_t>(b.floats[at_b]);
    case Lane::kBytes:
      break;
  }
  return a.BytesAt(at_a) == b.BytesAt(at_b);
}

void AppendFrom(const ColumnValues& from, size_t at, ColumnValues& to) {
  switch (LaneOf(from.type)) {
    case Lane::kInt:
      to.AppendInt(from.ints[at]);
      return;
    case Lane::kFloat:
      to.AppendFloat(from.floats[at]);
      return;
    case Lane::kBytes:
      break;
  }
  to.AppendBytes(from.BytesAt(at));
}

void CarryBlock(const Views<ChunkView>& chunk, uint32_t block, const PatchBlock* old, const PatchBlock& now,
                RowMap& rows, ColumnPatches& to) {
  size_t at_old = 0;
  for (size_t i = 0; i < now.rows.size(); ++i) {
    while (old != nullptr && at_old < old->rows.size() && old->rows[at_old] < now.rows[i]) {
      ++at_old;
    }
    const bool was_patched = old != nullptr && at_old < old->rows.size() && old->rows[at_old] == now.rows[i];
    if (was_patched && SameValue(old->values, at_old, now.values, i)) {
      continue;
    }
    const uint32_t row = block * kBlockRows + now.rows[i];
    if (((AliveWord(chunk.before, chunk.after, row / 64) >> (row % 64)) & 1) != 0) {
      to.rows.emplace_back(rows.At(row));
      AppendFrom(now.values, i, to.values);
    }
  }
}

void CarryChunk(const Views<ChunkView>& chunk, RowMap& rows, const TableDefinition& definition,
                Patches& patches) {
  const PatchOverlay& before = *chunk.before.state().overlay;
  for (const auto& now : chunk.after.state().overlay->columns()) {
    const PatchOverlay::Column* old = before.Find(now->id);
    const ColumnDefinition* column = FindColumn(definition, now->id, now->type);
    if (old == now.get() || column == nullptr) {
      continue;
    }
    ColumnPatches& to = PatchesOf(patches, *column);
    for (const PatchOverlay::Column::Entry& entry : now->blocks) {
      const PatchBlock* old_block = old != nullptr ? old->Find(entry.block) : nullptr;
      if (old_block != entry.patch.get()) {
        CarryBlock(chunk, entry.block, old_block, *entry.patch, rows, to);
      }
    }
  }
}

// The views are of the same segment or chunk, which has as many rows now as it had.
bool AreOfOnePart(const TablePart& before, const TablePart& after) {
  if (before.is_disk_chunk() != after.is_disk_chunk() || before.row_count() > after.row_count()) {
    return false;
  }
  if (before.is_disk_chunk()) {
    const DiskChunk& old_chunk = *static_cast<const ChunkView&>(before).state().chunk;
    const DiskChunk& chunk = *static_cast<const ChunkView&>(after).state().chunk;
    // ALTER … access_columnar_attrs opens a chunk again.
    return old_chunk.header().id == chunk.header().id && old_chunk.folder() == chunk.folder();
  }
  return static_cast<const SegmentView&>(before).state().segment ==
         static_cast<const SegmentView&>(after).state().segment;
}

void CarryPart(const TablePart& before, const TablePart& after, uint32_t first,
               const TableDefinition& definition, DeleteMapEdit& deletes, Patches& patches) {
  RowMap rows(before.deleted(), before.row_count(), first);
  CarryDeletes(before, after, rows, deletes);
  if (before.is_disk_chunk()) {
    CarryChunk({static_cast<const ChunkView&>(before), static_cast<const ChunkView&>(after)}, rows,
               definition, patches);
  } else {
    CarrySegment({static_cast<const SegmentView&>(before), static_cast<const SegmentView&>(after)}, rows,
                 definition, patches);
  }
}

std::shared_ptr<const PatchOverlay> MakeOverlay(const Patches& patches, const TableDefinition& definition) {
  PatchOverlayEdit edit(std::make_shared<const PatchOverlay>());
  std::vector<uint32_t> picks;
  for (const auto& [id, column] : patches) {
    while (picks.size() < column.rows.size()) {
      picks.push_back(static_cast<uint32_t>(picks.size()));
    }
    edit.Set(column.rows, std::span(picks).first(column.rows.size()), column.values,
             definition.columns[static_cast<size_t>(definition.IndexOf(id))]);
  }
  return edit.Finish();
}

}  // namespace

Result<std::shared_ptr<const ChunkView>> CarryOver(std::span<const std::shared_ptr<const TablePart>> before,
                                                   std::span<const std::shared_ptr<const TablePart>> after,
                                                   std::shared_ptr<const DiskChunk> chunk,
                                                   const TableDefinition& definition) {
  if (before.size() != after.size()) {
    return InternalError("{} parts were written, {} are to be replaced", before.size(), after.size());
  }
  DeleteMapEdit deletes(std::make_shared<const DeleteMap>());
  Patches patches;
  uint64_t first = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const uint64_t end = first + before[i]->live_count();
    if (end > chunk->row_count()) {
      break;
    }
    if (after[i] == nullptr) {
      deletes.AddRange(static_cast<uint32_t>(first), static_cast<uint32_t>(end));
    } else if (!AreOfOnePart(*before[i], *after[i])) {
      return InternalError("part {} that was written is not the part that is to be replaced", i);
    } else if (before[i] != after[i]) {
      CarryPart(*before[i], *after[i], static_cast<uint32_t>(first), definition, deletes, patches);
    }
    first = end;
  }
  if (first != chunk->row_count()) {
    return InternalError("the new chunk has {} rows, not those of the parts that were written",
                         chunk->row_count());
  }
  return std::make_shared<const ChunkView>(
      ChunkView::State{std::move(chunk), deletes.Finish(), MakeOverlay(patches, definition)});
}

}  // namespace stoa::storage
