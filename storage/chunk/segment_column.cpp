#include <algorithm>
#include <utility>

#include "storage/chunk/ram_segment.h"
#include "storage/chunk/segment_select.h"

namespace stoa::storage {
namespace {

// Calls `read(block, first, last)` for each run of rows[first, last) within one block.
template <typename Read>
void ForEachBlock(std::span<const RowId> rows, const Read& read) {
  size_t first = 0;
  while (first < rows.size()) {
    const uint32_t block = rows[first].value / kBlockRows;
    const uint32_t end = (block + 1) * kBlockRows;
    size_t last = first + 1;
    while (last < rows.size() && rows[last].value < end) {
      ++last;
    }
    read(block, first, last);
    first = last;
  }
}

// A column of one view. Keeps the segment, so that addresses stay valid as long as the reader.
class SegmentColumn : public ColumnReader {
 public:
  SegmentColumn(ColumnType type, std::shared_ptr<const StoredColumn> column,
                std::shared_ptr<RamSegment> segment, uint32_t row_count)
      : type_(type), column_(std::move(column)), segment_(std::move(segment)), row_count_(row_count) {
    if (column_ != nullptr && LaneOf(column_->type) != LaneOf(type_)) {
      column_ = nullptr;
    }
  }

  ColumnType type() const override { return type_; }

  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override {
    RETURN_IF_ERROR(CheckLane(Lane::kInt));
    if (type_ == ColumnType::kId) {
      for (size_t i = 0; i < rows.size(); ++i) {
        values[i] = static_cast<int64_t>(segment_->id(rows[i]).value);
      }
    } else if (column_ != nullptr && CellOf(column_->type) == Cell::kUint32) {
      Read<uint32_t>(rows, values, [](uint32_t value) { return int64_t{value}; });
    } else {
      Read<int64_t>(rows, values, [](int64_t value) { return value; });
    }
    return Status::Ok();
  }
  Status ReadFloats(std::span<const RowId> rows, std::span<float> values) override {
    RETURN_IF_ERROR(CheckLane(Lane::kFloat));
    Read<float>(rows, values, [](float value) { return value; });
    return Status::Ok();
  }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values, ReadBuffer&) override {
    RETURN_IF_ERROR(CheckLane(Lane::kBytes));
    Read<BytesCell>(rows, values,
                    [](const BytesCell& cell) { return std::string_view(cell.data, cell.size); });
    return Status::Ok();
  }

  Status Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) override {
    const uint32_t first = block * kBlockRows;
    const uint32_t rows = row_count_ > first ? std::min(kBlockRows, row_count_ - first) : 0;
    bool selected = false;
    if (type_ == ColumnType::kId) {
      selected = SelectCells(segment_->ids() + first, rows, predicate, bits);
    } else if (LaneOf(type_) == Lane::kFloat) {
      selected = SelectStored<float>(block, rows, predicate, bits);
    } else if (LaneOf(type_) == Lane::kBytes) {
      selected = SelectStored<BytesCell>(block, rows, predicate, bits);
    } else if (column_ != nullptr && CellOf(column_->type) == Cell::kUint32) {
      selected = SelectStored<uint32_t>(block, rows, predicate, bits);
    } else {
      selected = SelectStored<int64_t>(block, rows, predicate, bits);
    }
    return selected ? Status::Ok() : UnsupportedError("this column does not test its values so");
  }

 private:
  const ColumnBlock* FindBlock(uint32_t index) const {
    return column_ != nullptr && index < column_->blocks.size() ? column_->blocks[index].get() : nullptr;
  }

  template <typename T>
  bool SelectStored(uint32_t index, uint32_t rows, const ColumnPredicate& predicate, BlockBits& bits) const {
    const ColumnBlock* block = FindBlock(index);
    return block == nullptr
               ? SelectCells(static_cast<const T*>(nullptr), 0, predicate, bits)
               : SelectCells(block->template values<T>(), std::min(rows, block->capacity()), predicate, bits);
  }

  Status CheckLane(Lane lane) const {
    return LaneOf(type_) == lane ? Status::Ok() : InternalError("column read through the wrong lane");
  }

  template <typename T, typename Value, typename Convert>
  void Read(std::span<const RowId> rows, std::span<Value> values, const Convert& convert) const {
    ForEachBlock(rows, [&](uint32_t block_index, size_t first, size_t last) {
      const ColumnBlock* block = FindBlock(block_index);
      const uint32_t capacity = block != nullptr ? block->capacity() : 0;
      const T* cells = block != nullptr ? block->template values<T>() : nullptr;
      for (size_t i = first; i < last; ++i) {
        const uint32_t cell = rows[i].value % kBlockRows;
        values[i] = cell < capacity ? static_cast<Value>(convert(cells[cell])) : Value{};
      }
    });
  }

  ColumnType type_;
  std::shared_ptr<const StoredColumn> column_;
  std::shared_ptr<RamSegment> segment_;
  uint32_t row_count_;  // rows behind it may be being written
};

}  // namespace

Result<std::unique_ptr<ColumnReader>> SegmentView::Column(const ColumnDefinition& column) const {
  return std::unique_ptr<ColumnReader>(std::make_unique<SegmentColumn>(
      column.type, state_.directory->Share(column.id), state_.segment, state_.row_count));
}

}  // namespace stoa::storage
