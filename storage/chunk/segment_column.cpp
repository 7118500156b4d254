#include <algorithm>
#include <utility>

#include "storage/chunk/ram_segment.h"

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
                std::shared_ptr<RamSegment> segment)
      : type_(type), column_(std::move(column)), segment_(std::move(segment)) {
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

 private:
  Status CheckLane(Lane lane) const {
    return LaneOf(type_) == lane ? Status::Ok() : InternalError("column read through the wrong lane");
  }

  template <typename T, typename Value, typename Convert>
  void Read(std::span<const RowId> rows, std::span<Value> values, const Convert& convert) const {
    ForEachBlock(rows, [&](uint32_t block_index, size_t first, size_t last) {
      const ColumnBlock* block = column_ != nullptr && block_index < column_->blocks.size()
                                     ? column_->blocks[block_index].get()
                                     : nullptr;
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
};

}  // namespace

Result<std::unique_ptr<ColumnReader>> SegmentView::Column(const ColumnDefinition& column) const {
  return std::unique_ptr<ColumnReader>(
      std::make_unique<SegmentColumn>(column.type, state_.directory->Share(column.id), state_.segment));
}

}  // namespace stoa::storage
