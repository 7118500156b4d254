#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/memory_env.h"
#include "storage/chunk/disk_chunk.h"
#include "storage/json/json_value.h"
#include "storage/table/head_builder.h"
#include "table_fixture.h"

namespace stoa::storage::testing {

// Every type of column; `engine`: "rowwise" or "columnar". Ids of columns are their positions.
inline TableDefinition EveryType(const std::string& engine) {
  TableDefinition definition;
  definition.id = TableId(1);
  definition.name = "every";
  definition.settings = {{"engine", engine}};
  definition.setting_order = {"engine"};
  const std::pair<const char*, ColumnType> columns[] = {
      {"id", ColumnType::kId},        {"n", ColumnType::kInt},
      {"b", ColumnType::kBigint},     {"o", ColumnType::kBool},
      {"ts", ColumnType::kTimestamp}, {"f", ColumnType::kFloat},
      {"s", ColumnType::kString},     {"m", ColumnType::kMulti},
      {"m64", ColumnType::kMulti64},  {"v", ColumnType::kFloatVector},
      {"j", ColumnType::kJson},       {"title", ColumnType::kText},
      {"hidden", ColumnType::kText},  {"vs", ColumnType::kFloatVectorArray},
      {"nibble", ColumnType::kInt}};
  for (const auto& [name, type] : columns) {
    definition.columns.push_back(MakeColumn(name, type, definition.next_column_id - 1));
    ++definition.next_column_id;
  }
  definition.columns[11].indexed = definition.columns[11].stored = true;
  definition.columns[12].indexed = true;
  definition.columns[14].bits = 4;
  return definition;
}

template <typename T>
std::string Packed(const std::vector<T>& items) {
  std::string bytes(items.size() * sizeof(T), '\0');
  if (!items.empty()) {
    std::memcpy(bytes.data(), items.data(), bytes.size());
  }
  return bytes;
}

inline void AppendValue(ColumnValues& values, uint64_t id) {
  const auto n = static_cast<int64_t>(id);
  switch (values.type) {
    case ColumnType::kId:
      return;
    case ColumnType::kInt:
      return values.AppendInt(n % 16);
    case ColumnType::kBigint:
      return values.AppendInt(n * -1'000'000'007);
    case ColumnType::kBool:
      return values.AppendInt(n % 3 == 0 ? 1 : 0);
    case ColumnType::kTimestamp:
      return values.AppendInt(1'700'000'000 + n);
    case ColumnType::kFloat:
      return values.AppendFloat(static_cast<float>(n) / 8);
    case ColumnType::kString:
      return values.AppendBytes("color " + std::to_string(n % 7));
    case ColumnType::kText:
      return values.AppendBytes(std::string(static_cast<size_t>(n % 50), 'x') + std::to_string(n));
    case ColumnType::kJson:
      return values.AppendBytes(n % 4 == 0 ? "" : EncodeJson("{\"n\":" + std::to_string(n) + "}").value());
    case ColumnType::kMulti:
      return values.AppendBytes(Packed<uint32_t>(n % 5 == 0 ? std::vector<uint32_t>{}
                                                            : std::vector<uint32_t>{1, 2 + uint32_t(n % 9)}));
    case ColumnType::kMulti64:
      return values.AppendBytes(Packed<int64_t>({-n, n + 1}));
    case ColumnType::kFloatVector:
      return values.AppendBytes(
          Packed<float>(n % 6 == 0 ? std::vector<float>{} : std::vector<float>{float(n), 0.5f, -1.0f}));
    case ColumnType::kFloatVectorArray:
      return values.AppendBytes(n % 3 == 0 ? std::string()
                                           : Packed<uint32_t>({2}) + Packed<float>({1.0f, float(n % 10)}));
  }
}

inline RowBatch RowsOf(const TableDefinition& definition, const std::vector<uint64_t>& ids) {
  RowBatch rows;
  for (const uint64_t id : ids) {
    rows.ids.emplace_back(id);
  }
  for (const ColumnDefinition& column : definition.columns) {
    if (column.type == ColumnType::kId) {
      continue;
    }
    ColumnValues values{.column = column.id, .type = column.type};
    for (const uint64_t id : ids) {
      AppendValue(values, id);
    }
    rows.columns.push_back(std::move(values));
  }
  return rows;
}

// `count` documents from id `first` on.
inline std::shared_ptr<const TableSnapshot> TableOf(const TableDefinition& definition, uint64_t first,
                                                    uint64_t count) {
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < count; ++i) {
    ids.push_back(first + i);
  }
  HeadBuilder builder(EmptyTable(definition));
  REQUIRE(builder.Insert({.rows = RowsOf(definition, ids)}).ok());
  return builder.Finish().value();
}

inline std::shared_ptr<const TableSnapshot> Without(std::shared_ptr<const TableSnapshot> table,
                                                    const std::vector<uint64_t>& ids) {
  HeadBuilder builder(std::move(table));
  REQUIRE(builder.Delete(Delete(ids)).ok());
  return builder.Finish().value();
}

inline ChunkWriteInput InputOf(const TableSnapshot& table, uint64_t chunk) {
  ChunkWriteInput input;
  input.parts = table.parts;
  input.definition = table.definition;
  input.id = ChunkId(chunk);
  input.created = 1'700'000'000;
  return input;
}

}  // namespace stoa::storage::testing
