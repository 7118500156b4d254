#include "sql/statements/row_copy.h"

#include <algorithm>

namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::ColumnType;
using storage::RowLocation;

constexpr size_t kRowsAtOnce = 1024;

Status AppendFrom(storage::ColumnReader& reader, std::span<const RowId> rows, storage::ColumnValues& out) {
  switch (storage::LaneOf(out.type)) {
    case storage::Lane::kInt: {
      out.ints.resize(out.ints.size() + rows.size());
      return reader.ReadInts(rows, std::span(out.ints).last(rows.size()));
    }
    case storage::Lane::kFloat: {
      out.floats.resize(out.floats.size() + rows.size());
      return reader.ReadFloats(rows, std::span(out.floats).last(rows.size()));
    }
    case storage::Lane::kBytes: {
      storage::ReadBuffer buffer;
      std::vector<std::string_view> values(rows.size());
      RETURN_IF_ERROR(reader.ReadBytes(rows, values, buffer));
      for (const std::string_view value : values) {
        out.AppendBytes(value);
      }
      return Status::Ok();
    }
  }
  return Status::Ok();
}

// Rows of one part, column after column; `columns` are those of the batch and the id.
Status CopyPart(std::span<const ColumnDefinition> columns, const storage::TablePart& part,
                std::span<const RowId> rows, storage::RowBatch& batch) {
  size_t target = 0;
  for (const ColumnDefinition& column : columns) {
    ASSIGN_OR_RETURN(const std::unique_ptr<storage::ColumnReader> reader, part.Column(column));
    storage::ColumnValues ids;
    ids.type = ColumnType::kId;
    storage::ColumnValues& values = column.type == ColumnType::kId ? ids : batch.columns[target++];
    for (size_t begin = 0; begin < rows.size(); begin += kRowsAtOnce) {
      const size_t count = std::min(kRowsAtOnce, rows.size() - begin);
      RETURN_IF_ERROR(AppendFrom(*reader, rows.subspan(begin, count), values));
    }
    for (const int64_t id : ids.ints) {
      batch.ids.emplace_back(static_cast<uint64_t>(id));
    }
  }
  return Status::Ok();
}

Result<storage::RowBatch> CopyColumns(const storage::TableSnapshot& snapshot,
                                      std::span<const RowLocation> locations,
                                      std::span<const ColumnDefinition> columns) {
  storage::RowBatch batch;
  for (const ColumnDefinition& column : columns) {
    if (column.type != ColumnType::kId) {
      storage::ColumnValues& values = batch.columns.emplace_back();
      values.column = column.id;
      values.type = column.type;
    }
  }
  std::vector<RowId> rows;
  for (size_t begin = 0; begin < locations.size();) {
    const uint32_t part = locations[begin].part;
    rows.clear();
    for (; begin < locations.size() && locations[begin].part == part; ++begin) {
      rows.push_back(locations[begin].row);
    }
    RETURN_IF_ERROR(CopyPart(columns, *snapshot.parts[part], rows, batch));
  }
  return batch;
}

}  // namespace

Status CheckCopyable(const storage::TableDefinition& definition) {
  for (const ColumnDefinition& column : definition.columns) {
    if (column.type == ColumnType::kText && !column.stored) {
      return InvalidError("table {}: column '{}' is not stored and its values cannot be kept",
                          definition.name, column.name);
    }
  }
  return Status::Ok();
}

std::vector<RowLocation> LiveRows(const storage::TableSnapshot& snapshot) {
  std::vector<RowLocation> rows;
  rows.reserve(snapshot.live_count());
  for (uint32_t part = 0; part < snapshot.parts.size(); ++part) {
    const storage::DeleteMap& deleted = snapshot.parts[part]->deleted();
    for (uint32_t row = 0; row < snapshot.parts[part]->row_count(); ++row) {
      if (!deleted.Contains(RowId(row))) {
        rows.push_back({part, RowId(row)});
      }
    }
  }
  return rows;
}

Result<std::vector<RowLocation>> RowsOf(const storage::TableSnapshot& snapshot, std::span<const DocId> ids) {
  std::vector<RowLocation> rows;
  for (const DocId id : ids) {
    ASSIGN_OR_RETURN(const std::optional<RowLocation> row, snapshot.FindDocument(id));
    if (row.has_value()) {
      rows.push_back(*row);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

Result<storage::RowBatch> CopyRows(const storage::TableSnapshot& snapshot,
                                   std::span<const RowLocation> locations) {
  return CopyColumns(snapshot, locations, snapshot.definition->columns);
}

Result<std::vector<DocId>> LiveDocuments(const storage::TableSnapshot& snapshot) {
  const std::vector<RowLocation> locations = LiveRows(snapshot);
  ASSIGN_OR_RETURN(storage::RowBatch batch,
                   CopyColumns(snapshot, locations, std::span(snapshot.definition->columns).first(1)));
  return std::move(batch.ids);
}

storage::ColumnValues RepeatedValue(const storage::ColumnValues& one, size_t count) {
  storage::ColumnValues values;
  values.column = one.column;
  values.type = one.type;
  switch (storage::LaneOf(one.type)) {
    case storage::Lane::kInt:
      values.ints.assign(count, one.ints[0]);
      break;
    case storage::Lane::kFloat:
      values.floats.assign(count, one.floats[0]);
      break;
    case storage::Lane::kBytes:
      for (size_t i = 0; i < count; ++i) {
        values.AppendBytes(one.BytesAt(0));
      }
      break;
  }
  return values;
}

}  // namespace stoa::sql
