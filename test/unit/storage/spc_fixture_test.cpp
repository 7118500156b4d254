#include <catch2/catch.hpp>

#include "chunk_fixture.h"
#include "storage/chunk/chunk_header.h"
#include "storage/column/file_column.h"

namespace stoa::storage {
namespace {

using testing::EveryType;
using testing::TableOf;

constexpr uint32_t kRows = 1100;  // two blocks

const std::string kPath = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/spc/v1/chunk.7.spc";

std::vector<RowId> AllRows() {
  std::vector<RowId> rows;
  for (uint32_t row = 0; row < kRows; ++row) {
    rows.emplace_back(row);
  }
  return rows;
}

void CheckColumn(ColumnReader& reader, const ColumnValues& expected) {
  const std::vector<RowId> rows = AllRows();
  switch (LaneOf(expected.type)) {
    case Lane::kInt: {
      std::vector<int64_t> values(kRows);
      REQUIRE(reader.ReadInts(rows, values).ToString() == "ok");
      CHECK(values == expected.ints);
      return;
    }
    case Lane::kFloat: {
      std::vector<float> values(kRows);
      REQUIRE(reader.ReadFloats(rows, values).ToString() == "ok");
      CHECK(values == expected.floats);
      return;
    }
    case Lane::kBytes:
      break;
  }
  std::vector<std::string_view> values(kRows);
  ReadBuffer buffer;
  REQUIRE(reader.ReadBytes(rows, values, buffer).ToString() == "ok");
  for (uint32_t row = 0; row < kRows; ++row) {
    REQUIRE(values[row] == expected.BytesAt(row));
  }
}

TEST_CASE("a columnar file of format version 1 is read, and today's writer writes the same", "[storage]") {
  const AccessMode mode = GENERATE(AccessMode::kMmap, AccessMode::kFile);
  const TableDefinition definition = EveryType("columnar");
  std::vector<uint64_t> ids;
  for (uint64_t id = 1; id <= kRows; ++id) {
    ids.push_back(id);
  }
  const RowBatch expected = testing::RowsOf(definition, ids);
  const auto file = OpenSectionFile::Open(Env::Posix(), kPath, kColumnarFileKind, mode);
  REQUIRE(file.status().ToString() == "ok");
  CHECK((*file)->version() == 1);
  CHECK((*file)->CheckAll(false).ToString() == "ok");
  int columns = 0;
  for (const ColumnValues& values : expected.columns) {
    const ColumnDefinition& column =
        definition.columns[static_cast<size_t>(definition.IndexOf(values.column))];
    if (PlaceOf(definition, column) != ColumnPlace::kColumnar) {
      continue;
    }
    INFO("column '" << column.name << "'");
    const auto opened = OpenFileColumn(*file, column.id);
    REQUIRE(opened.status().ToString() == "ok");
    CHECK((*opened)->Check().ToString() == "ok");
    const auto reader = (*opened)->NewReader(*opened, column.type);
    CheckColumn(*reader, values);
    ++columns;
  }
  CHECK(columns == 11);
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/t").ok());
  REQUIRE(WriteChunk(env, "/t", testing::InputOf(*TableOf(definition, 1, kRows), 7)).ToString() == "ok");
  CHECK(env.ReadFile("/t/chunk.7.spc").value() == Env::Posix().ReadFile(kPath).value());
}

}  // namespace
}  // namespace stoa::storage
