#include "storage/chunk/rowwise_layout.h"

#include <algorithm>
#include <cstring>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"

namespace stoa::storage {
namespace {

constexpr uint32_t kWideCell = sizeof(uint64_t);
constexpr uint32_t kNarrowCell = sizeof(uint32_t);
constexpr uint32_t kReferenceCell = kWideCell + kNarrowCell;

// Cells of 8 bytes, then of 12, then of 4.
int OrderOf(ColumnType type) {
  switch (CellSizeOf(type)) {
    case kWideCell:
      return 0;
    case kReferenceCell:
      return 1;
    default:
      return 2;
  }
}

Result<RowwiseColumn> DecodeColumn(ByteReader& reader) {
  RowwiseColumn column;
  ASSIGN_OR_RETURN(const uint32_t id, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t type, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(column.offset, reader.Read<uint32_t>());
  if (type > static_cast<uint32_t>(ColumnType::kFloatVectorArray)) {
    return CorruptError("column {}: {} is no column type", id, type);
  }
  column.id = ColumnId(id);
  column.type = static_cast<ColumnType>(type);
  return column;
}

}  // namespace

uint32_t CellSizeOf(ColumnType type) {
  if (LaneOf(type) == Lane::kBytes) {
    return kReferenceCell;
  }
  return type == ColumnType::kId || type == ColumnType::kBigint ? kWideCell : kNarrowCell;
}

BlobReference BlobReference::Load(const char* cell) {
  BlobReference reference;
  std::memcpy(&reference.offset, cell, sizeof(reference.offset));
  std::memcpy(&reference.length, cell + sizeof(reference.offset), sizeof(reference.length));
  return reference;
}

void BlobReference::Store(char* cell) const {
  std::memcpy(cell, &offset, sizeof(offset));
  std::memcpy(cell + sizeof(offset), &length, sizeof(length));
}

RowwiseLayout RowwiseLayout::Plan(std::span<const ColumnDefinition* const> columns, uint32_t row_count) {
  RowwiseLayout layout;
  layout.row_count = row_count;
  for (const ColumnDefinition* column : columns) {
    layout.columns.push_back({.id = column->id, .type = column->type});
  }
  std::stable_sort(
      layout.columns.begin(), layout.columns.end(),
      [](const RowwiseColumn& a, const RowwiseColumn& b) { return OrderOf(a.type) < OrderOf(b.type); });
  bool wide = false;
  for (RowwiseColumn& column : layout.columns) {
    column.offset = layout.stride;
    layout.stride += CellSizeOf(column.type);
    wide = wide || CellSizeOf(column.type) == kWideCell;
  }
  if (wide) {
    layout.stride = (layout.stride + kWideCell - 1) / kWideCell * kWideCell;
  }
  return layout;
}

Result<RowwiseLayout> RowwiseLayout::Decode(std::string_view bytes) {
  RowwiseLayout layout;
  ByteReader reader(bytes);
  ASSIGN_OR_RETURN(layout.row_count, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(layout.stride, reader.Read<uint32_t>());
  uint64_t end = 0;
  std::vector<ColumnId> ids;
  while (!reader.done()) {
    ASSIGN_OR_RETURN(const RowwiseColumn column, DecodeColumn(reader));
    if (column.offset < end || uint64_t{column.offset} + CellSizeOf(column.type) > layout.stride) {
      return CorruptError("column {} does not fit at byte {} of a row of {}", column.id.value, column.offset,
                          layout.stride);
    }
    end = uint64_t{column.offset} + CellSizeOf(column.type);
    layout.columns.push_back(column);
    ids.push_back(column.id);
  }
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end()) {
    return CorruptError("column {} is there twice", twice->value);
  }
  return layout;
}

std::string RowwiseLayout::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write<uint32_t>(row_count);
  writer.Write<uint32_t>(stride);
  for (const RowwiseColumn& column : columns) {
    writer.Write<uint32_t>(column.id.value);
    writer.Write<uint32_t>(static_cast<uint32_t>(column.type));
    writer.Write<uint32_t>(column.offset);
  }
  return bytes;
}

const RowwiseColumn* RowwiseLayout::Find(ColumnId column) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const RowwiseColumn& c) { return c.id == column; });
  return found == columns.end() ? nullptr : &*found;
}

bool RowwiseLayout::HasBlobs() const {
  return std::any_of(columns.begin(), columns.end(),
                     [](const RowwiseColumn& c) { return LaneOf(c.type) == Lane::kBytes; });
}

}  // namespace stoa::storage
