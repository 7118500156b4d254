#include "storage/chunk/rowwise_file.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "base/temporary_folder.h"
#include "column_inputs.h"
#include "storage/base/byte_writer.h"
#include "storage/base/memory_env.h"
#include "storage/chunk/rowwise_layout.h"
#include "storage/json/json_value.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): fixtures

// Columns with their values, and the two files made of them.
struct Columns {
  std::vector<std::unique_ptr<ColumnDefinition>> definitions;
  std::vector<std::unique_ptr<ValuesInput>> inputs;
  std::vector<ColumnToWrite> to_write;

  void Add(ColumnValues values, uint32_t piece_rows = 1024) {
    definitions.push_back(std::make_unique<ColumnDefinition>(
        MakeColumn("c" + std::to_string(values.column.value), values.type, values.column.value)));
    inputs.push_back(std::make_unique<ValuesInput>(std::move(values), piece_rows));
    to_write.push_back({definitions.back().get(), inputs.back().get()});
  }

  Status Write(Env& env, const std::string& folder) const {
    auto rows = env.Create(folder + "/a.spa");
    auto blobs = env.Create(folder + "/a.spb");
    REQUIRE(rows.ok());
    REQUIRE(blobs.ok());
    const Status status = RowwiseFile::Write(to_write, **rows, **blobs, ChunkId(7));
    REQUIRE((*rows)->Close().ok());
    REQUIRE((*blobs)->Close().ok());
    return status;
  }
};

Result<std::shared_ptr<const RowwiseFile>> Open(Env& env, const std::string& folder) {
  return RowwiseFile::Open(env, folder + "/a.spa", folder + "/a.spb", ChunkId(7));
}

std::unique_ptr<ColumnReader> Reader(const std::shared_ptr<const RowwiseFile>& file, uint32_t id,
                                     ColumnType type) {
  auto reader = file->NewReader(file, ColumnId(id), type);
  REQUIRE(reader.ok());
  return std::move(*reader);
}

std::vector<int64_t> Ints(const std::shared_ptr<const RowwiseFile>& file, uint32_t id, ColumnType type,
                          const std::vector<RowId>& rows) {
  std::vector<int64_t> values(rows.size());
  REQUIRE(Reader(file, id, type)->ReadInts(rows, values).ok());
  return values;
}

std::vector<std::string> Texts(const std::shared_ptr<const RowwiseFile>& file, uint32_t id, ColumnType type,
                               const std::vector<RowId>& rows) {
  std::vector<std::string_view> values(rows.size());
  ReadBuffer buffer;
  REQUIRE(Reader(file, id, type)->ReadBytes(rows, values, buffer).ok());
  return {values.begin(), values.end()};
}

// Every type, values at their limits, and rows without a value. Columns come in pieces of different lengths.
Columns AllTypes() {
  constexpr int64_t kMax32 = std::numeric_limits<uint32_t>::max();
  constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
  Columns columns;
  columns.Add(MakeInts(ColumnType::kId, {-1, 2, 3}, 0), 1);
  columns.Add(MakeInts(ColumnType::kInt, {0, kMax32, 5}, 1), 2);
  columns.Add(MakeInts(ColumnType::kBool, {1, 0, 1}, 2), 3);
  columns.Add(MakeInts(ColumnType::kTimestamp, {kMax32, 1, 0}, 3));
  columns.Add(MakeInts(ColumnType::kBigint, {kMax64, -kMax64 - 1, 0}, 4), 2);
  columns.Add(MakeFloats({1.5f, -0.0f, std::numeric_limits<float>::infinity()}, 5), 1);
  columns.Add(MakeBytes(ColumnType::kString, {"one", "", std::string("thr\0e", 5)}, 6), 2);
  columns.Add(MakeBytes(ColumnType::kJson, {*EncodeJson("{\"a\":1}"), "", *EncodeJson("[]")}, 7));
  columns.Add(MakeBytes(ColumnType::kMulti, {"", ItemBytes<uint32_t>({1, 2, 4294967295}), ""}, 8));
  columns.Add(MakeBytes(ColumnType::kMulti64, {ItemBytes<int64_t>({-5, 7}), "", ""}, 9));
  columns.Add(MakeBytes(ColumnType::kFloatVector, {"", "", ItemBytes<float>({1, 2, 3})}, 10));
  columns.Add(MakeBytes(ColumnType::kFloatVectorArray,
                        {std::string("\1\0\0\0", 4) + ItemBytes<float>({8, 9}), "", ""}, 11));
  return columns;
}

void CheckSame(const std::shared_ptr<const RowwiseFile>& file, const Columns& columns) {
  for (const auto& input : columns.inputs) {
    const ColumnValues& values = input->values();
    const std::vector<RowId> rows = RowsFrom(0, input->row_count());
    const auto reader = Reader(file, values.column.value, values.type);
    CHECK(reader->type() == values.type);
    if (LaneOf(values.type) == Lane::kInt) {
      CHECK(Ints(file, values.column.value, values.type, rows) == values.ints);
    } else if (LaneOf(values.type) == Lane::kFloat) {
      std::vector<float> floats(rows.size());
      REQUIRE(reader->ReadFloats(rows, floats).ok());
      CHECK(std::memcmp(floats.data(), values.floats.data(), floats.size() * sizeof(float)) == 0);
    } else {
      const auto texts = Texts(file, values.column.value, values.type, rows);
      for (size_t row = 0; row < rows.size(); ++row) {
        CHECK((texts[row] == values.BytesAt(row)));
      }
    }
  }
}

TEST_CASE("row-wise values of every type read back, from memory and from disk", "[storage]") {
  const Columns columns = AllTypes();
  MemoryEnv memory;
  const TemporaryFolder folder;
  for (const bool disk : {false, true}) {
    Env& env = disk ? Env::Posix() : static_cast<Env&>(memory);
    const std::string path = disk ? folder.path() : "/d";
    REQUIRE(env.MakeFolder(path).ok());
    REQUIRE(columns.Write(env, path).ok());
    const auto file = Open(env, path);
    REQUIRE(file.ok());
    CHECK((*file)->row_count() == 3);
    CHECK((*file)->Has(ColumnId(11)));
    CHECK_FALSE((*file)->Has(ColumnId(12)));
    CheckSame(*file, columns);
    CHECK((*file)->Check().ok());
  }
}

TEST_CASE("sets and vectors of a row-wise file are aligned to their items", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  Columns columns;
  columns.Add(MakeBytes(ColumnType::kString, {"x", "yyy", "zz"}, 1));
  columns.Add(MakeBytes(ColumnType::kMulti64, {ItemBytes<int64_t>({1}), ItemBytes<int64_t>({2}), ""}, 2));
  REQUIRE(columns.Write(env, "/d").ok());
  const auto file = Open(env, "/d");
  REQUIRE(file.ok());
  std::vector<std::string_view> values(2);
  ReadBuffer buffer;
  REQUIRE(Reader(*file, 2, ColumnType::kMulti64)->ReadBytes(RowsFrom(0, 2), values, buffer).ok());
  CHECK(reinterpret_cast<uintptr_t>(values[0].data()) % 8 == 0);
  CHECK(reinterpret_cast<uintptr_t>(values[1].data()) % 8 == 0);
}

TEST_CASE("many rows read in any selection", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  constexpr uint32_t kRows = 70000;
  std::vector<int64_t> ints;
  std::vector<std::string> texts;
  for (uint32_t row = 0; row < kRows; ++row) {
    ints.push_back(row * 7);
    texts.push_back(row % 3 == 0 ? "" : "text of row " + std::to_string(row));
  }
  Columns columns;
  columns.Add(MakeInts(ColumnType::kInt, ints, 1), 65536);
  columns.Add(MakeBytes(ColumnType::kString, texts, 2), 3072);
  REQUIRE(columns.Write(env, "/d").ok());
  const auto file = Open(env, "/d");
  REQUIRE(file.ok());
  const std::vector<RowId> twice = {RowId(5), RowId(5), RowId(kRows - 1)};
  for (const auto& rows : {RowsFrom(0, kRows), RowsFrom(1, 900, 77), RowsFrom(kRows - 1, 1), twice}) {
    const auto got_ints = Ints(*file, 1, ColumnType::kInt, rows);
    const auto got_texts = Texts(*file, 2, ColumnType::kString, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(got_ints[i] == ints[rows[i].value]);
      REQUIRE(got_texts[i] == texts[rows[i].value]);
    }
  }
  CHECK((*file)->Check().ok());
}

TEST_CASE("a row-wise value of 16 MB reads back, with small ones around it", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  const std::vector<std::string> texts = {"a", std::string(16 << 20, 'x'), "b"};
  Columns columns;
  columns.Add(MakeBytes(ColumnType::kString, texts, 1));
  REQUIRE(columns.Write(env, "/d").ok());
  const auto file = Open(env, "/d");
  REQUIRE(file.ok());
  CHECK((Texts(*file, 1, ColumnType::kString, RowsFrom(0, 3)) == texts));
}

TEST_CASE("a row-wise int reads as bigint after it was widened, and as nothing else", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  REQUIRE(AllTypes().Write(env, "/d").ok());
  const auto file = Open(env, "/d");
  REQUIRE(file.ok());
  CHECK(Ints(*file, 1, ColumnType::kBigint, RowsFrom(0, 3)) == std::vector<int64_t>{0, 4294967295, 5});
  CHECK((*file)->NewReader(*file, ColumnId(4), ColumnType::kInt).status().code() == StatusCode::kCorrupt);
  CHECK((*file)->NewReader(*file, ColumnId(1), ColumnType::kString).status().code() == StatusCode::kCorrupt);
  CHECK((*file)->NewReader(*file, ColumnId(99), ColumnType::kInt).status().code() == StatusCode::kNotFound);
}

TEST_CASE("a row-wise file without rows opens", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  Columns columns;
  columns.Add(MakeInts(ColumnType::kInt, {}, 1));
  columns.Add(MakeBytes(ColumnType::kString, {}, 2));
  REQUIRE(columns.Write(env, "/d").ok());
  const auto file = Open(env, "/d");
  REQUIRE(file.ok());
  CHECK((*file)->row_count() == 0);
  CHECK(Texts(*file, 2, ColumnType::kString, {}).empty());
  CHECK((*file)->Check().ok());
}

TEST_CASE("without columns of variable length there is no second file", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  Columns columns;
  columns.Add(MakeInts(ColumnType::kInt, {4, 5}, 1));
  REQUIRE(columns.Write(env, "/d").ok());
  CHECK(*env.FileSize("/d/a.spb") == 0);
  const auto file = RowwiseFile::Open(env, "/d/a.spa", "", ChunkId(7));
  REQUIRE(file.ok());
  CHECK((*file)->blobs_file() == nullptr);
  CHECK(Ints(*file, 1, ColumnType::kInt, RowsFrom(0, 2)) == std::vector<int64_t>{4, 5});

  REQUIRE(AllTypes().Write(env, "/d").ok());
  CHECK(RowwiseFile::Open(env, "/d/a.spa", "", ChunkId(7)).status().code() == StatusCode::kCorrupt);
  CHECK(RowwiseFile::Open(env, "/d/a.spa", "/d/a.spb", ChunkId(8)).status().code() == StatusCode::kCorrupt);
}

TEST_CASE("columns of different lengths are not written", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  Columns columns;
  columns.Add(MakeInts(ColumnType::kInt, {4, 5}, 1));
  columns.Add(MakeInts(ColumnType::kInt, {4}, 2));
  CHECK(columns.Write(env, "/d").code() == StatusCode::kInternal);
}

// Reads everything; true when there was an error.
bool Fails(Env& env) {
  const auto file = Open(env, "/d");
  if (!file.ok()) {
    return true;
  }
  bool failed = !(*file)->Check().ok();
  const std::vector<RowId> rows = RowsFrom(0, (*file)->row_count());
  for (uint32_t id = 0; id < 12; ++id) {
    const ColumnType type = AllTypes().definitions[id]->type;
    const auto reader = (*file)->NewReader(*file, ColumnId(id), type);
    if (!reader.ok()) {
      failed = true;
    } else if (LaneOf(type) == Lane::kBytes) {
      std::vector<std::string_view> values(rows.size());
      ReadBuffer buffer;
      failed = !(*reader)->ReadBytes(rows, values, buffer).ok() || failed;
    }
  }
  return failed;
}

TEST_CASE("a flipped byte in a row-wise file is an error", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  REQUIRE(AllTypes().Write(env, "/d").ok());
  CHECK_FALSE(Fails(env));
  for (const std::string path : {"/d/a.spa", "/d/a.spb"}) {
    const std::string good = *env.ReadFile(path);
    int unnoticed = 0;
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x10);
      REQUIRE(PutFile(env, path, bad).ok());
      unnoticed += Fails(env) ? 0 : 1;
    }
    CHECK(unnoticed == 0);
    REQUIRE(PutFile(env, path, good.substr(0, good.size() / 2)).ok());
    CHECK(Fails(env));
    REQUIRE(PutFile(env, path, good).ok());
  }
}

// A file of one row and one column whose cell is `reference`, beside the .spb that is there.
void WriteCell(Env& env, ColumnType type, BlobReference reference) {
  const ColumnDefinition column = MakeColumn("c", type, 1);
  const ColumnDefinition* columns[] = {&column};
  auto file = env.Create("/d/a.spa");
  SectionFileWriter writer(**file, kRowwiseKind, 7);
  std::string row(12, '\0');
  reference.Store(row.data());
  REQUIRE(writer.AddSection(kRowwiseLayoutSection, 0, RowwiseLayout::Plan(columns, 1).Encode()).ok());
  REQUIRE(writer.AddSection(kRowwiseRowsSection, 0, row, {.page_size = kDefaultPage}).ok());
  REQUIRE(writer.Finish().ok());
}

Status ReadCell(Env& env, ColumnType type) {
  const auto file = Open(env, "/d");
  REQUIRE(file.ok());
  std::vector<std::string_view> values(1);
  ReadBuffer buffer;
  return Reader(*file, 1, type)->ReadBytes(RowsFrom(0, 1), values, buffer);
}

TEST_CASE("a reference out of the values is an error, whatever the checksums say", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  Columns columns;
  columns.Add(MakeBytes(ColumnType::kMulti, {ItemBytes<uint32_t>({1, 2, 3, 4})}, 1));
  REQUIRE(columns.Write(env, "/d").ok());
  const auto read = [&](uint64_t offset, uint32_t length) {
    WriteCell(env, ColumnType::kMulti, {offset, length});
    return ReadCell(env, ColumnType::kMulti);
  };
  CHECK(read(0, 16).ok());
  CHECK(read(8, 8).ok());
  CHECK(read(16, 0).ok());
  CHECK(read(0, 20).code() == StatusCode::kCorrupt);
  CHECK(read(24, 0).code() == StatusCode::kCorrupt);
  CHECK(read(~uint64_t{7}, 8).code() == StatusCode::kCorrupt);
  CHECK(read(8, 0xffffffff).code() == StatusCode::kCorrupt);
  CHECK(read(4, 4).code() == StatusCode::kCorrupt);
  CHECK(read(0, 3).code() == StatusCode::kCorrupt);
}

TEST_CASE("checking a row-wise file finds values that cannot be", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  const auto check = [&](ColumnType type, const std::string& value) {
    Columns columns;
    columns.Add(MakeBytes(type, {value}, 1));
    REQUIRE(columns.Write(env, "/d").ok());
    const auto file = Open(env, "/d");
    REQUIRE(file.ok());
    return (*file)->Check().code();
  };
  CHECK(check(ColumnType::kMulti, ItemBytes<uint32_t>({1, 2})) == StatusCode::kOk);
  CHECK(check(ColumnType::kMulti, ItemBytes<uint32_t>({2, 1})) == StatusCode::kCorrupt);
  CHECK(check(ColumnType::kMulti64, ItemBytes<int64_t>({1, 1})) == StatusCode::kCorrupt);
  CHECK(check(ColumnType::kMulti64, "1234") == StatusCode::kCorrupt);
  CHECK(check(ColumnType::kFloatVectorArray, ItemBytes<uint32_t>({2, 0})) == StatusCode::kCorrupt);
  CHECK(check(ColumnType::kFloatVectorArray, ItemBytes<uint32_t>({0, 0})) == StatusCode::kCorrupt);
  CHECK(check(ColumnType::kJson, "\x09") == StatusCode::kCorrupt);
}

// A layout section of `words`, for 1 row.
Status DecodeLayout(const std::vector<uint32_t>& words) {
  return RowwiseLayout::Decode(ItemBytes(words)).status();
}

TEST_CASE("a layout whose cells leave the row or overlap is refused", "[storage]") {
  const auto type = static_cast<uint32_t>(ColumnType::kInt);
  CHECK(DecodeLayout({1, 8, 1, type, 0, 2, type, 4}).ok());
  CHECK_FALSE(DecodeLayout({1, 8, 1, type, 8}).ok());
  CHECK_FALSE(DecodeLayout({1, 8, 1, type, 5}).ok());
  CHECK_FALSE(DecodeLayout({1, 8, 1, type, 0xfffffffe}).ok());
  CHECK_FALSE(DecodeLayout({1, 8, 1, type, 0, 2, type, 2}).ok());
  CHECK_FALSE(DecodeLayout({1, 8, 1, type, 0, 1, type, 4}).ok());
  CHECK_FALSE(DecodeLayout({1, 8, 1, 200, 0}).ok());
  CHECK_FALSE(DecodeLayout({1, 8, 1, type}).ok());
  CHECK_FALSE(DecodeLayout({1}).ok());
}

const std::string kFixtures = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/";

// docs/format/spa.md
Columns FixtureColumns() {
  Columns columns;
  columns.Add(MakeInts(ColumnType::kInt, {4294967295, 1}, 1));
  columns.Add(MakeBytes(ColumnType::kString, {"one", ""}, 4));
  return columns;
}

TEST_CASE("row-wise files of format version 1 are read, and written the same today", "[storage]") {
  const std::string rows = kFixtures + "spa/v1/chunk.7.spa";
  const std::string blobs = kFixtures + "spb/v1/chunk.7.spb";
  const auto file = RowwiseFile::Open(Env::Posix(), rows, blobs, ChunkId(7));
  REQUIRE(file.status().ToString() == "ok");
  CheckSame(*file, FixtureColumns());
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  REQUIRE(FixtureColumns().Write(env, "/d").ok());
  CHECK((*env.ReadFile("/d/a.spa") == *Env::Posix().ReadFile(rows)));
  CHECK((*env.ReadFile("/d/a.spb") == *Env::Posix().ReadFile(blobs)));
}

}  // namespace
}  // namespace stoa::storage
