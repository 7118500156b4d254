#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/chunk/row_copy.h"
#include "storage/row_batch.h"
#include "storage/table/table_snapshot.h"
#include "storage/table/write_set.h"

namespace stoa::storage::testing {

inline ColumnDefinition MakeColumn(std::string name, ColumnType type, uint32_t id = 0) {
  ColumnDefinition column;
  column.id = ColumnId(id);
  column.name = std::move(name);
  column.type = type;
  return column;
}

// id, n int (1), b bigint (2), f float (3), s string (4)
inline TableDefinition MakeDefinition(std::string name, uint64_t id = 1) {
  TableDefinition definition;
  definition.id = TableId(id);
  definition.name = std::move(name);
  definition.columns = {MakeColumn("id", ColumnType::kId), MakeColumn("n", ColumnType::kInt, 1),
                        MakeColumn("b", ColumnType::kBigint, 2), MakeColumn("f", ColumnType::kFloat, 3),
                        MakeColumn("s", ColumnType::kString, 4)};
  definition.next_column_id = 5;
  return definition;
}

inline std::shared_ptr<const TableSnapshot> EmptyTable(TableDefinition definition) {
  auto snapshot = std::make_shared<TableSnapshot>();
  snapshot->definition = std::make_shared<const TableDefinition>(std::move(definition));
  return snapshot;
}

// Rows of MakeDefinition() whose values follow from `n`.
inline RowBatch MakeRows(const std::vector<uint64_t>& ids, int64_t n) {
  RowBatch rows;
  ColumnValues ints{.column = ColumnId(1), .type = ColumnType::kInt};
  ColumnValues bigs{.column = ColumnId(2), .type = ColumnType::kBigint};
  ColumnValues floats{.column = ColumnId(3), .type = ColumnType::kFloat};
  ColumnValues texts{.column = ColumnId(4), .type = ColumnType::kString};
  for (const uint64_t id : ids) {
    rows.ids.emplace_back(id);
    ints.AppendInt(n);
    bigs.AppendInt(-n);
    floats.AppendFloat(static_cast<float>(n) / 2);
    texts.AppendBytes("text " + std::to_string(n));
  }
  rows.columns = {ints, bigs, floats, texts};
  return rows;
}

inline InsertRows Insert(const std::vector<uint64_t>& ids, int64_t n, bool replace = false) {
  return {.rows = MakeRows(ids, n), .replace = replace};
}

inline DeleteRows Delete(const std::vector<uint64_t>& ids) {
  DeleteRows change;
  for (const uint64_t id : ids) {
    change.ids.emplace_back(id);
  }
  return change;
}

inline UpdateRows UpdateInt(const std::vector<uint64_t>& ids, uint32_t column, ColumnType type,
                            int64_t value) {
  UpdateRows change;
  ColumnValues values{.column = ColumnId(column), .type = type};
  for (const uint64_t id : ids) {
    change.ids.emplace_back(id);
    values.AppendInt(value);
  }
  change.columns = {values};
  return change;
}

inline UpdateRows UpdateText(const std::vector<uint64_t>& ids, uint32_t column, std::string_view value) {
  UpdateRows change;
  ColumnValues values{.column = ColumnId(column), .type = ColumnType::kString};
  for (const uint64_t id : ids) {
    change.ids.emplace_back(id);
    values.AppendBytes(value);
  }
  change.columns = {values};
  return change;
}

inline std::string ValueText(const ColumnValues& values, size_t row) {
  switch (LaneOf(values.type)) {
    case Lane::kInt:
      return std::to_string(values.ints[row]);
    case Lane::kFloat:
      return fmt::format("{}", values.floats[row]);
    case Lane::kBytes:
      break;
  }
  return std::string(values.BytesAt(row));
}

// "7: 1 -1 0.5 text 1" a live row, in the order of the table.
inline std::vector<std::string> Dump(const TableSnapshot& snapshot) {
  std::vector<std::string> lines;
  for (const auto& part : snapshot.parts) {
    const std::vector<RowId> live = LiveRows(*part);
    const RowBatch rows = CopyRows(*part, live, *snapshot.definition).value();
    for (size_t i = 0; i < rows.size(); ++i) {
      std::string line = std::to_string(rows.ids[i].value) + ":";
      for (const ColumnValues& values : rows.columns) {
        line += " " + ValueText(values, i);
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace stoa::storage::testing
