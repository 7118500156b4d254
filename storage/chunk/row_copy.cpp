#include "storage/chunk/row_copy.h"

#include <algorithm>

#include "storage/chunk/segment_edit.h"

namespace stoa::storage {
namespace {

Result<ColumnValues> CopyColumn(const TablePart& part, std::span<const RowId> rows,
                                const ColumnDefinition& column, ReadBuffer& buffer) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ColumnReader> reader, part.Column(column));
  ColumnValues values;
  values.column = column.id;
  values.type = column.type;
  switch (LaneOf(column.type)) {
    case Lane::kInt:
      values.ints.resize(rows.size());
      RETURN_IF_ERROR(reader->ReadInts(rows, values.ints));
      return values;
    case Lane::kFloat:
      values.floats.resize(rows.size());
      RETURN_IF_ERROR(reader->ReadFloats(rows, values.floats));
      return values;
    case Lane::kBytes:
      break;
  }
  std::vector<std::string_view> texts(rows.size());
  buffer.Clear();
  RETURN_IF_ERROR(reader->ReadBytes(rows, texts, buffer));
  values.offsets.reserve(rows.size() + 1);
  for (const std::string_view text : texts) {
    values.AppendBytes(text);
  }
  return values;
}

}  // namespace

std::vector<RowId> LiveRows(const TablePart& part) {
  std::vector<RowId> rows;
  rows.reserve(part.live_count());
  for (uint32_t row = 0; row < part.row_count(); ++row) {
    if (!part.deleted().Contains(RowId(row))) {
      rows.emplace_back(row);
    }
  }
  return rows;
}

Result<RowBatch> CopyRows(const TablePart& part, std::span<const RowId> rows,
                          const TableDefinition& definition) {
  RowBatch batch;
  ReadBuffer buffer;
  for (const ColumnDefinition& column : definition.columns) {
    if (column.type == ColumnType::kId) {
      std::vector<int64_t> ids(rows.size());
      ASSIGN_OR_RETURN(const std::unique_ptr<ColumnReader> reader, part.Column(column));
      RETURN_IF_ERROR(reader->ReadInts(rows, ids));
      for (const int64_t id : ids) {
        batch.ids.emplace_back(static_cast<uint64_t>(id));
      }
      continue;
    }
    ASSIGN_OR_RETURN(ColumnValues values, CopyColumn(part, rows, column, buffer));
    batch.columns.push_back(std::move(values));
  }
  return batch;
}

Result<std::shared_ptr<const SegmentView>> RewriteSegments(
    std::span<const std::shared_ptr<const SegmentView>> views, const TableDefinition& definition) {
  uint32_t live = 0;
  for (const auto& view : views) {
    live += view->live_count();
  }
  SegmentEdit edit(std::max(live, uint32_t{1}));
  for (const auto& view : views) {
    const std::vector<RowId> rows = LiveRows(*view);
    for (size_t from = 0; from < rows.size(); from += kBlockRows) {
      const size_t count = std::min<size_t>(kBlockRows, rows.size() - from);
      ASSIGN_OR_RETURN(const RowBatch batch,
                       CopyRows(*view, std::span(rows).subspan(from, count), definition));
      edit.Append(batch, 0, count, definition);
    }
  }
  return edit.FinishView();
}

}  // namespace stoa::storage
