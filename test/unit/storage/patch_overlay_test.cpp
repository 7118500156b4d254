#include "storage/chunk/patch_overlay.h"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "storage/base/fault_point.h"
#include "storage/base/memory_env.h"
#include "storage/chunk/chunk_view.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;
using testing::MakeColumn;

const ColumnDefinition kNumber = MakeColumn("n", ColumnType::kInt, 1);
const ColumnDefinition kWide = MakeColumn("n", ColumnType::kBigint, 1);
const ColumnDefinition kFloatColumn = MakeColumn("f", ColumnType::kFloat, 3);
const ColumnDefinition kText = MakeColumn("s", ColumnType::kString, 4);

class Random {
 public:
  explicit Random(uint32_t seed) : bits_(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(bits_()); }

 private:
  std::mt19937 bits_;
};

std::vector<RowId> RowIds(const std::vector<uint32_t>& rows) {
  std::vector<RowId> ids;
  for (const uint32_t row : rows) {
    ids.emplace_back(row);
  }
  return ids;
}

std::vector<uint32_t> AllOf(size_t count) {
  std::vector<uint32_t> picks(count);
  std::iota(picks.begin(), picks.end(), 0);
  return picks;
}

void SetInts(PatchOverlayEdit& edit, const ColumnDefinition& column,
             const std::map<uint32_t, int64_t>& change) {
  std::vector<uint32_t> rows;
  ColumnValues values{.column = column.id, .type = column.type};
  for (const auto& [row, value] : change) {
    rows.push_back(row);
    values.AppendInt(value);
  }
  edit.Set(RowIds(rows), AllOf(rows.size()), values, column);
}

void SetText(PatchOverlayEdit& edit, uint32_t row, std::string_view text) {
  ColumnValues values{.column = kText.id, .type = kText.type};
  values.AppendBytes(text);
  const RowId rows[] = {RowId(row)};
  const uint32_t picks[] = {0};
  edit.Set(rows, picks, values, kText);
}

std::shared_ptr<const PatchOverlay> Empty() { return std::make_shared<const PatchOverlay>(); }

std::map<uint32_t, int64_t> IntsOf(const PatchOverlay& overlay, ColumnId id) {
  std::map<uint32_t, int64_t> found;
  const PatchOverlay::Column* column = overlay.Find(id);
  for (const auto& entry : column != nullptr ? column->blocks : std::vector<PatchOverlay::Column::Entry>()) {
    for (size_t i = 0; i < entry.patch->rows.size(); ++i) {
      found[entry.block * kBlockRows + entry.patch->rows[i]] = entry.patch->values.ints[i];
    }
  }
  return found;
}

uint64_t SumOfBytes(const PatchOverlay& overlay) {
  uint64_t bytes = 0;
  for (const auto& column : overlay.columns()) {
    bytes += sizeof(*column) + column->blocks.size() * sizeof(column->blocks[0]);
    for (const auto& entry : column->blocks) {
      bytes += entry.patch->ram_bytes();
    }
  }
  return bytes;
}

// Rows 0 … with the value of the row number in the lane of the type.
class CountingReader : public ColumnReader {
 public:
  explicit CountingReader(ColumnType type) : type_(type) {}
  ColumnType type() const override { return type_; }
  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      values[i] = rows[i].value;
    }
    return Status::Ok();
  }
  Status ReadFloats(std::span<const RowId> rows, std::span<float> values) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      values[i] = static_cast<float>(rows[i].value);
    }
    return Status::Ok();
  }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string text = std::to_string(rows[i].value);
      char* copy = buffer.Allocate(text.size());
      text.copy(copy, text.size());
      values[i] = std::string_view(copy, text.size());
    }
    return Status::Ok();
  }
  // Rows of value 0 … 9 satisfy whatever is asked, as the base of the tests below.
  Status Select(uint32_t block, const ColumnPredicate&, BlockBits& bits) override {
    bits[0] &= block == 0 ? (1u << 10) - 1 : 0;
    std::fill(bits.begin() + 1, bits.end(), 0);
    return Status::Ok();
  }

 private:
  ColumnType type_;
};

std::unique_ptr<ColumnReader> Patched(const PatchOverlay& overlay, const ColumnDefinition& column) {
  return MakePatchedReader(std::make_unique<CountingReader>(column.type), overlay.Share(column.id));
}

TEST_CASE("an update of patches shares what it does not touch with the overlay before it", "[storage]") {
  PatchOverlayEdit first(Empty());
  SetInts(first, kNumber, {{1, 10}, {5'000, 50}});
  SetText(first, 3, "three");
  const auto before = first.Finish();
  PatchOverlayEdit second(before);
  SetInts(second, kNumber, {{5'000, 51}, {5'001, 52}});
  const auto after = second.Finish();
  CHECK(IntsOf(*before, kNumber.id) == std::map<uint32_t, int64_t>{{1, 10}, {5'000, 50}});
  CHECK(IntsOf(*after, kNumber.id) == std::map<uint32_t, int64_t>{{1, 10}, {5'000, 51}, {5'001, 52}});
  CHECK(before->Find(kNumber.id)->Find(0) == after->Find(kNumber.id)->Find(0));
  CHECK(before->Share(kText.id) == after->Share(kText.id));
  CHECK(before->patched_values() == 3);
  CHECK(after->patched_values() == 4);
  CHECK(PatchOverlayEdit(after).Finish() == after);
}

TEST_CASE("random updates leave the newest value of each row and the size of all", "[storage]") {
  Random random(11);
  auto overlay = Empty();
  std::map<uint32_t, int64_t> expected;
  for (int round = 0; round < 60; ++round) {
    PatchOverlayEdit edit(overlay);
    for (int set = 0; set < 2; ++set) {
      std::map<uint32_t, int64_t> change;
      const size_t count = random() % 5 == 0 ? 700 : 1 + random() % 3;
      while (change.size() < count) {
        change[random() % 4'000] = random();
      }
      SetInts(edit, kNumber, change);
      for (const auto& [row, value] : change) {
        expected[row] = value;
      }
    }
    SetText(edit, random() % 3'000, std::string(random() % 50, 'x'));
    overlay = edit.Finish();
    REQUIRE(overlay->ram_bytes() == SumOfBytes(*overlay));
  }
  CHECK(IntsOf(*overlay, kNumber.id) == expected);
}

TEST_CASE("of one row given twice the last value counts", "[storage]") {
  PatchOverlayEdit edit(Empty());
  ColumnValues values{.column = kNumber.id, .type = kNumber.type};
  values.ints = {1, 2, 3};
  const auto rows = RowIds({4, 4, 4});
  const uint32_t picks[] = {0, 2, 1};
  edit.Set(rows, picks, values, kNumber);
  CHECK(IntsOf(*edit.Finish(), kNumber.id) == std::map<uint32_t, int64_t>{{4, 2}});
}

TEST_CASE("patches of an int are read and kept when the column becomes a bigint", "[storage]") {
  PatchOverlayEdit narrow(Empty());
  SetInts(narrow, kNumber, {{1, 4'294'967'295}, {2'000, 7}});
  const auto before = narrow.Finish();
  PatchOverlayEdit wide(before);
  SetInts(wide, kWide, {{2, -5}});
  const auto after = wide.Finish();
  CHECK(after->Find(kWide.id)->type == ColumnType::kBigint);
  CHECK(before->Find(kWide.id)->type == ColumnType::kInt);
  const std::map<uint32_t, int64_t> expected = {{1, 4'294'967'295}, {2, -5}, {2'000, 7}};
  CHECK(IntsOf(*after, kWide.id) == expected);
  int64_t value = 0;
  const RowId row[] = {RowId(1)};
  REQUIRE(Patched(*before, kWide)->ReadInts(row, {&value, 1}).ok());
  CHECK(value == 4'294'967'295);
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/t").ok());
  REQUIRE(WritePatchOverlay(env, "/t", ChunkId(1), 1, *after).ok());
  CHECK(IntsOf(**ReadPatchOverlay(env, "/t", ChunkId(1), 1, 2'001), kWide.id) == expected);
}

TEST_CASE("a patched reader gives the patch where there is one, else the base", "[storage]") {
  Random random(3);
  PatchOverlayEdit edit(Empty());
  std::map<uint32_t, int64_t> patches;
  while (patches.size() < 900) {
    patches[random() % 1'500] = -1;
  }
  patches[8'191] = -1;
  SetInts(edit, kWide, patches);
  const auto overlay = edit.Finish();
  const auto reader = Patched(*overlay, kWide);
  for (const size_t count : {size_t{1}, size_t{3}, size_t{40}, size_t{5'000}}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<uint32_t> rows;
      for (size_t i = 0; i < count; ++i) {
        rows.push_back(random() % 2 == 0 ? random() % 2'048 : random() % 10'000);
      }
      std::sort(rows.begin(), rows.end());
      std::vector<int64_t> values(count);
      REQUIRE(reader->ReadInts(RowIds(rows), values).ok());
      for (size_t i = 0; i < count; ++i) {
        REQUIRE(values[i] == (patches.contains(rows[i]) ? -1 : int64_t{rows[i]}));
      }
    }
  }
}

TEST_CASE("texts of patches live as long as the reader", "[storage]") {
  PatchOverlayEdit edit(Empty());
  SetText(edit, 1, "one");
  SetText(edit, 2, "");
  auto overlay = edit.Finish();
  const auto reader = Patched(*overlay, kText);
  overlay.reset();
  std::string_view texts[4];
  ReadBuffer buffer;
  REQUIRE(reader->ReadBytes(RowIds({0, 1, 2, 3}), texts, buffer).ok());
  CHECK(std::vector<std::string_view>(texts, texts + 4) ==
        std::vector<std::string_view>{"0", "one", "", "3"});
}

std::vector<uint32_t> Select(ColumnReader& reader, uint32_t block, const ColumnPredicate& predicate,
                             const std::vector<uint32_t>& asked) {
  BlockBits bits{};
  for (const uint32_t row : asked) {
    bits[row / 64] |= uint64_t{1} << (row % 64);
  }
  REQUIRE(reader.Select(block, predicate, bits).ok());
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < kBlockRows; ++row) {
    if ((bits[row / 64] >> (row % 64) & 1) != 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

TEST_CASE("a condition is tested against the patch, whatever the base said of the row", "[storage]") {
  PatchOverlayEdit edit(Empty());
  // The base says yes to rows 0 … 9.
  SetInts(edit, kWide, {{3, 100}, {4, 5}, {50, 5}, {51, 100}, {700, 9}, {701, 9}});
  const auto overlay = edit.Finish();
  const auto reader = Patched(*overlay, kWide);
  const ColumnPredicate below_ten{IntRange{0, 9}};
  CHECK(Select(*reader, 0, below_ten, {2, 3, 4, 50, 51, 52, 700}) == std::vector<uint32_t>{2, 4, 50, 700});
  CHECK(Select(*reader, 0, {IntSet{{5, 100}}}, {3, 4, 700}) == std::vector<uint32_t>{3, 4});
  CHECK(Select(*reader, 0, {IntRange{0, 9}, true}, {3, 4, 51}) == std::vector<uint32_t>{3, 51});
  CHECK(Select(*reader, 1, below_ten, {3, 4}).empty());
}

TEST_CASE("conditions on floats and texts see patches, NaN is in no range", "[storage]") {
  PatchOverlayEdit edit(Empty());
  ColumnValues floats{.column = kFloatColumn.id, .type = kFloatColumn.type};
  floats.floats = {1.5f, std::numeric_limits<float>::quiet_NaN()};
  edit.Set(RowIds({20, 21}), AllOf(2), floats, kFloatColumn);
  SetText(edit, 20, "b");
  SetText(edit, 21, "c");
  const auto overlay = edit.Finish();
  const auto reader = Patched(*overlay, kFloatColumn);
  CHECK(Select(*reader, 0, {FloatRange{1, 2}}, {20, 21}) == std::vector<uint32_t>{20});
  CHECK(Select(*reader, 0, {FloatRange{1, 2}, true}, {20, 21}) == std::vector<uint32_t>{21});
  CHECK(Select(*Patched(*overlay, kText), 0, {BytesSet{{"a", "b"}}}, {20, 21}) == std::vector<uint32_t>{20});
  BlockBits bits{};
  CHECK(reader->Select(0, {IntRange{0, 1}}, bits).code() == StatusCode::kInternal);
}

class OverlayFile {
 public:
  OverlayFile() { REQUIRE(env.MakeFolder("/t").ok()); }
  Status WriteAndRead(const PatchOverlay& overlay, uint32_t row_count) {
    RETURN_IF_ERROR(WritePatchOverlay(env, "/t", ChunkId(7), 3, overlay));
    return ReadPatchOverlay(env, "/t", ChunkId(7), 3, row_count).status();
  }
  // A section of column 1 of an int column with these bytes.
  Status ReadSection(std::string_view bytes, uint64_t count) {
    auto file = env.Create("/t/chunk.7.spu.3");
    SectionFileWriter writer(**file, {{'S', 'P', 'U', ' '}, kPatchOverlayFormat}, 7);
    std::string info(16, '\0');
    info[0] = 3;
    std::memcpy(info.data() + 8, &count, sizeof(count));
    REQUIRE(writer.AddSection(1, 0, info).ok());
    REQUIRE(writer.AddSection(2, 1, bytes).ok());
    REQUIRE(writer.Finish().ok());
    return ReadPatchOverlay(env, "/t", ChunkId(7), 3, 3'000).status();
  }
  MemoryEnv env;
};

TEST_CASE("patches of every lane are read as they were written", "[storage]") {
  OverlayFile files;
  PatchOverlayEdit edit(Empty());
  SetInts(edit, kNumber, {{0, 1}, {1'023, 2}, {1'024, 4'294'967'295}, {2'999, 4}});
  ColumnValues floats{.column = kFloatColumn.id, .type = kFloatColumn.type};
  floats.floats = {-0.5f};
  edit.Set(RowIds({2'048}), AllOf(1), floats, kFloatColumn);
  SetText(edit, 5, "five");
  SetText(edit, 6, "");
  const auto overlay = edit.Finish();
  REQUIRE(files.WriteAndRead(*overlay, 3'000).ToString() == "ok");
  const auto read = ReadPatchOverlay(files.env, "/t", ChunkId(7), 3, 3'000).value();
  CHECK(IntsOf(*read, kNumber.id) == IntsOf(*overlay, kNumber.id));
  CHECK(read->Find(kFloatColumn.id)->Find(2)->values.floats == std::vector<float>{-0.5f});
  CHECK(read->Find(kText.id)->Find(0)->values.BytesAt(0) == "five");
  CHECK(read->patched_values() == 7);
  CHECK(files.WriteAndRead(*overlay, 2'999).code() == StatusCode::kCorrupt);
  CHECK(files.WriteAndRead(PatchOverlay(), 0).ToString() == "ok");
}

TEST_CASE("a patch overlay that contradicts itself is corrupt", "[storage]") {
  OverlayFile files;
  const std::string type(1, static_cast<char>(ColumnType::kInt));
  const auto block = [](uint32_t number, const std::vector<uint16_t>& rows) {
    std::string bytes(6 + rows.size() * 6, '\0');
    const auto count = static_cast<uint16_t>(rows.size());
    std::memcpy(bytes.data(), &number, 4);
    std::memcpy(bytes.data() + 4, &count, 2);
    bytes.replace(6, rows.size() * 2, reinterpret_cast<const char*>(rows.data()), rows.size() * 2);
    return bytes;
  };
  CHECK(files.ReadSection(type + block(0, {1, 2}) + block(2, {951}), 3).ToString() == "ok");
  CHECK_THAT(files.ReadSection(type + block(0, {1, 2}), 3).ToString(), Contains("2 values, not 3"));
  CHECK_THAT(files.ReadSection(type + block(0, {2, 2}), 2).ToString(), Contains("does not ascend"));
  CHECK_THAT(files.ReadSection(type + block(0, {1'024}), 1).ToString(), Contains("row 1024 of block 0"));
  CHECK_THAT(files.ReadSection(type + block(2, {952}), 1).ToString(), Contains("none of 3000 rows"));
  CHECK_THAT(files.ReadSection(type + block(3, {0}), 1).ToString(), Contains("block 3"));
  CHECK_THAT(files.ReadSection(type + block(1, {0}) + block(1, {1}), 2).ToString(),
             Contains("behind block 2"));
  CHECK_THAT(files.ReadSection(type + block(0, {}), 0).ToString(), Contains("0 patches"));
  CHECK_THAT(files.ReadSection(type, 0).ToString(), Contains("without patches"));
  CHECK_THAT(files.ReadSection("\x63", 0).ToString(), Contains("99 is no column type"));
  const std::string odd_vector =
      std::string(1, static_cast<char>(ColumnType::kFloatVector)) + std::string("\0\0\0\0\1\0\0\0\3abc", 12);
  CHECK_THAT(files.ReadSection(odd_vector, 1).ToString(), Contains("a value has 3 bytes"));
}

TEST_CASE("writing a patch overlay that fails leaves no file behind", "[storage]") {
  OverlayFile files;
  PatchOverlayEdit edit(Empty());
  SetInts(edit, kNumber, {{1, 1}});
  const auto overlay = edit.Finish();
  for (const char* point : {"spu.write", "spu.rename"}) {
    REQUIRE(FaultPoints::Arm(std::string(point) + "=fail").ok());
    CHECK(WritePatchOverlay(files.env, "/t", ChunkId(7), 3, *overlay).code() == StatusCode::kIo);
    REQUIRE(FaultPoints::Arm("").ok());
    CHECK(files.env.List("/t")->empty());
  }
}

TEST_CASE("a patch overlay of format version 1 is read, and written the same", "[storage]") {
  const std::string folder = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/spu/v1";
  const auto overlay = ReadPatchOverlay(Env::Posix(), folder, ChunkId(7), 3, 2'000);
  REQUIRE(overlay.status().ToString() == "ok");
  CHECK(IntsOf(**overlay, kNumber.id) == std::map<uint32_t, int64_t>{{2, 9}, {1'026, 4'294'967'295}});
  const PatchBlock* texts = (*overlay)->Find(kText.id)->Find(0);
  CHECK(texts->rows == std::vector<uint16_t>{2, 3});
  CHECK(texts->values.BytesAt(0) == "new");
  OverlayFile files;
  REQUIRE(files.WriteAndRead(**overlay, 2'000).ok());
  CHECK(files.env.ReadFile("/t/chunk.7.spu.3").value() ==
        Env::Posix().ReadFile(folder + "/chunk.7.spu.3").value());
}

}  // namespace
}  // namespace stoa::storage
