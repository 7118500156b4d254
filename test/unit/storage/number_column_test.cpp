#include "storage/column/number_column.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "storage/base/memory_env.h"
#include "storage/column/number_encoder.h"
#include "storage/column/number_format.h"
#include "storage/column_fixture.h"
#include "storage/column_inputs.h"

namespace stoa::storage {
namespace {

using testing::MakeFloats;
using testing::MakeInts;
using testing::ValuesInput;

constexpr ColumnId kColumn{7};

// A file with one column of numbers, in memory.
class NumberFile {
 public:
  explicit NumberFile(const ColumnValues& values) {
    ValuesInput input(values, 4096);
    ColumnDefinition definition;
    definition.id = kColumn;
    definition.type = values.type;
    auto file = env_.Create("/column");
    REQUIRE(file.ok());
    SectionFileWriter writer(**file, kTestFileKind, 1);
    const Status written = WriteFileColumn(definition, input, writer);
    INFO(written.text());
    REQUIRE(written.ok());
    REQUIRE(writer.Finish().ok());
  }
  std::shared_ptr<const FileColumn> Open(AccessMode mode) {
    auto file = OpenSectionFile::Open(env_, "/column", kTestFileKind, mode);
    REQUIRE(file.ok());
    auto column = OpenFileColumn(*file, kColumn);
    INFO(column.status().text());
    REQUIRE(column.ok());
    return *column;
  }
  std::string Section(SpcSection section) {
    auto file = OpenSectionFile::Open(env_, "/column", kTestFileKind, AccessMode::kFile);
    REQUIRE(file.ok());
    auto bytes = (*file)->Section(static_cast<uint32_t>(section), kColumn.value);
    REQUIRE(bytes.ok());
    ReadBuffer buffer;
    auto view = bytes->Read(0, bytes->length(), buffer);
    REQUIRE(view.ok());
    return std::string(*view);
  }
  std::unique_ptr<ColumnReader> Reader(AccessMode mode) {
    const auto column = Open(mode);
    return column->NewReader(column, column->type());
  }

 private:
  MemoryEnv env_;
};

// Hides what a reader can do better than reading values.
class PlainReader : public ColumnReader {
 public:
  explicit PlainReader(std::unique_ptr<ColumnReader> reader) : reader_(std::move(reader)) {}
  ColumnType type() const override { return reader_->type(); }
  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override {
    return reader_->ReadInts(rows, values);
  }
  Status ReadFloats(std::span<const RowId> rows, std::span<float> values) override {
    return reader_->ReadFloats(rows, values);
  }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override {
    return reader_->ReadBytes(rows, values, buffer);
  }

 private:
  std::unique_ptr<ColumnReader> reader_;
};

std::vector<std::vector<RowId>> Batches(uint32_t rows) {
  std::vector<std::vector<RowId>> batches{RowsFromTo(0, rows),          RowsFromTo(0, rows, 3),
                                          RowsFromTo(0, rows, 50),      RowsFromTo(1, rows, 2500),
                                          RowsFromTo(rows / 2, rows),   RowsFromTo(0, rows, 1024),
                                          RowsFromTo(1023, rows, 1024), {}};
  std::mt19937 random(3);
  std::vector<RowId> repeated;
  for (uint32_t row = 0; row < rows; row += static_cast<uint32_t>(random() % 90)) {
    repeated.emplace_back(row);
  }
  batches.push_back(repeated);
  for (uint32_t row = rows / 3; row < std::min(rows, rows / 3 + 40); ++row) {
    batches.push_back({RowId(row)});  // one after the other
  }
  return batches;
}

void CheckInts(ColumnType type, const std::vector<int64_t>& ints) {
  NumberFile file(MakeInts(type, ints));
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const auto column = file.Open(mode);
    REQUIRE(column->type() == type);
    REQUIRE(column->row_count() == ints.size());
    const Status checked = column->Check();
    INFO(checked.text());
    REQUIRE(checked.ok());
    const auto reader = file.Reader(mode);
    for (const std::vector<RowId>& rows : Batches(column->row_count())) {
      std::vector<int64_t> values(rows.size());
      const Status read = reader->ReadInts(rows, values);
      INFO(read.text());
      REQUIRE(read.ok());
      size_t wrong = 0;
      for (size_t i = 0; i < rows.size(); ++i) {
        wrong += values[i] == ints[rows[i].value] ? 0 : 1;
      }
      REQUIRE(wrong == 0);
    }
  }
}

void CheckFloats(const std::vector<float>& floats) {
  NumberFile file(MakeFloats(floats));
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    REQUIRE(file.Open(mode)->Check().ok());
    const auto reader = file.Reader(mode);
    for (const std::vector<RowId>& rows : Batches(static_cast<uint32_t>(floats.size()))) {
      std::vector<float> values(rows.size());
      REQUIRE(reader->ReadFloats(rows, values).ok());
      size_t wrong = 0;
      for (size_t i = 0; i < rows.size(); ++i) {
        wrong += std::memcmp(&values[i], &floats[rows[i].value], sizeof(float)) == 0 ? 0 : 1;
      }
      REQUIRE(wrong == 0);
    }
  }
}

// Columns of every shape that the encoder knows, each of several blocks.
std::vector<std::vector<int64_t>> IntShapes(size_t rows) {
  std::mt19937_64 random(21);
  std::vector<std::vector<int64_t>> shapes(8, std::vector<int64_t>(rows));
  for (size_t i = 0; i < rows; ++i) {
    shapes[0][i] = static_cast<int64_t>(random() % 4000);
    shapes[1][i] = static_cast<int64_t>(random());
    shapes[2][i] = static_cast<int64_t>(random() % 7) * 1'000'000'007;
    shapes[3][i] = i / 100 % 9 == 0 ? -5 : static_cast<int64_t>(i / 100);
    shapes[4][i] = random() % 60 == 0 ? static_cast<int64_t>(random() % 100'000) : 3;
    shapes[5][i] = static_cast<int64_t>(i * 17) + static_cast<int64_t>(random() % 4);
    shapes[7][i] = static_cast<int64_t>(i + 1);
    shapes[6][i] = i / 1024 % 2 == 0 ? std::numeric_limits<int64_t>::min() + static_cast<int64_t>(i % 3)
                                     : std::numeric_limits<int64_t>::max();
  }
  return shapes;
}

BlockBits BitsOf(uint32_t rows, uint64_t mask) {
  BlockBits bits{};
  for (uint32_t row = 0; row < rows; ++row) {
    bits[row / 64] |= mask & (uint64_t{1} << (row % 64));
  }
  return bits;
}

// The column's Select against the one that reads values and compares.
void CheckSelect(const ColumnValues& values, const std::vector<ColumnPredicate>& predicates) {
  NumberFile file(values);
  const auto rows = static_cast<uint32_t>(values.size());
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const auto reader = file.Reader(mode);
    PlainReader plain(file.Reader(mode));
    for (ColumnPredicate predicate : predicates) {
      for (const bool negated : {false, true}) {
        predicate.negated = negated;
        for (uint32_t block = 0; block < BlocksOf(rows); ++block) {
          BlockBits bits =
              BitsOf(RowsOfBlock(block, rows), block % 2 == 0 ? ~uint64_t{0} : 0x5a5a'1234'ffff'0001);
          BlockBits expected = bits;
          REQUIRE(reader->Select(block, predicate, bits).ok());
          REQUIRE(plain.Select(block, predicate, expected).ok());
          REQUIRE(bits == expected);
        }
      }
    }
  }
}

std::vector<ColumnPredicate> IntPredicates(const std::vector<int64_t>& ints, bool as_unsigned) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::vector<ColumnPredicate> predicates{
      {IntRange{kMin, kMax}}, {IntRange{5, 4}}, {IntRange{-3, 3}}, {IntRange{kMin, kMin}}, {IntRange{0, -1}}};
  std::mt19937_64 random(22);
  const auto less = [&](int64_t a, int64_t b) {
    return as_unsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  };
  for (const size_t members : {0, 1, 2, 6, 100, 5000}) {
    IntSet set;
    for (size_t i = 0; i < members; ++i) {
      set.values.push_back(ints[random() % ints.size()] ^ static_cast<int64_t>(random() % 2));
    }
    std::sort(set.values.begin(), set.values.end(), less);
    set.values.erase(std::unique(set.values.begin(), set.values.end()), set.values.end());
    if (set.values.size() > 1) {
      const size_t low = random() % set.values.size();
      predicates.push_back({IntRange{set.values[low / 2], set.values[low]}});
    }
    predicates.push_back({std::move(set)});
  }
  return predicates;
}

}  // namespace

TEST_CASE("columns of integers read back in both access modes", "[storage]") {
  for (const std::vector<int64_t>& ints : IntShapes(5000)) {
    CheckInts(ColumnType::kBigint, ints);
  }
  CheckInts(ColumnType::kBigint, IntShapes(70'000)[0]);
}

TEST_CASE("ids are unsigned and unsigned ints keep 32 bits", "[storage]") {
  std::vector<int64_t> ids;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < 3000; ++i) {
    ids.push_back(i % 2 == 0 ? i + 1 : -i);  // beside 2^64
    ints.push_back(i % 3 == 0 ? 0xffffffff : i);
  }
  CheckInts(ColumnType::kId, ids);
  CheckInts(ColumnType::kInt, ints);
  CheckInts(ColumnType::kTimestamp, ints);
  CheckSelect(MakeInts(ColumnType::kId, ids), IntPredicates(ids, true));
  CheckSelect(MakeInts(ColumnType::kInt, ints), IntPredicates(ints, false));
}

TEST_CASE("columns of one row and of none", "[storage]") {
  CheckInts(ColumnType::kInt, {});
  CheckInts(ColumnType::kBool, {1});
  CheckInts(ColumnType::kBigint, {std::numeric_limits<int64_t>::min()});
  CheckFloats({});
  CheckFloats({-0.0f});
}

TEST_CASE("columns of floats keep every bit", "[storage]") {
  std::mt19937 random(23);
  std::vector<float> prices;
  std::vector<float> bits;
  for (int i = 0; i < 4500; ++i) {
    prices.push_back(static_cast<float>(random() % 10'000) / 100);
    const uint32_t any = static_cast<uint32_t>(random());
    float value;
    std::memcpy(&value, &any, sizeof(value));
    bits.push_back(value);
  }
  bits[7] = std::numeric_limits<float>::quiet_NaN();
  CheckFloats(prices);
  CheckFloats(bits);
}

TEST_CASE("conditions on packed integers agree with comparing values", "[storage]") {
  for (const std::vector<int64_t>& ints : IntShapes(2500)) {
    CheckSelect(MakeInts(ColumnType::kBigint, ints), IntPredicates(ints, false));
  }
}

TEST_CASE("conditions on packed floats agree with comparing values", "[storage]") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::mt19937 random(24);
  std::vector<float> values;
  for (int i = 0; i < 3500; ++i) {
    const float price = static_cast<float>(static_cast<int>(random() % 5000) - 100) / 100;
    const float odd[] = {0.0f, -0.0f, nan, inf, -inf, 1e-40f};
    values.push_back(i < 1024 ? price : i < 2048 ? odd[random() % 6] : price / 3);
  }
  std::vector<ColumnPredicate> predicates{{FloatRange{-inf, inf}},   {FloatRange{0.0f, -0.0f}},
                                          {FloatRange{-0.0f, 0.0f}}, {FloatRange{nan, 1.0f}},
                                          {FloatRange{1.0f, nan}},   {FloatRange{2.0f, 1.0f}},
                                          {FloatRange{inf, inf}},    {FloatRange{-inf, -0.0f}}};
  for (int i = 0; i < 40; ++i) {
    float low = values[random() % values.size()];
    float high = values[random() % values.size()];
    if (i % 2 == 0) {
      low = std::nextafter(low, inf);
      high = std::nextafter(high, -inf);
    }
    predicates.push_back({FloatRange{std::min(low, high), std::max(low, high)}});
    predicates.push_back({FloatRange{low, low}});
  }
  CheckSelect(MakeFloats(values), predicates);
}

TEST_CASE("a number column refuses what is of another lane", "[storage]") {
  NumberFile file(MakeInts(ColumnType::kInt, {1, 2, 3}));
  const auto reader = file.Reader(AccessMode::kMmap);
  const std::vector<RowId> rows{RowId(0)};
  std::vector<float> floats(1);
  std::vector<std::string_view> texts(1);
  ReadBuffer buffer;
  BlockBits bits{1};
  REQUIRE(reader->ReadFloats(rows, floats).code() == StatusCode::kInternal);
  REQUIRE(reader->ReadBytes(rows, texts, buffer).code() == StatusCode::kInternal);
  REQUIRE(reader->Select(0, {FloatRange{0, 1}}, bits).code() == StatusCode::kInternal);
  REQUIRE(reader->Select(0, {BytesSet{{"a"}}}, bits).code() == StatusCode::kInternal);
  REQUIRE(reader->Select(1, {IntRange{0, 1}}, bits).code() == StatusCode::kInternal);
  REQUIRE(PlainReader(file.Reader(AccessMode::kMmap)).Select(0, {FloatRange{0, 1}}, bits).code() ==
          StatusCode::kInternal);
  std::vector<int64_t> ints(1);
  REQUIRE(reader->ReadInts(std::vector<RowId>{RowId(3)}, ints).code() == StatusCode::kInternal);
}

TEST_CASE("texts are compared one by one when a column cannot do better", "[storage]") {
  class Texts : public PlainReader {
   public:
    Texts() : PlainReader(nullptr) {}
    ColumnType type() const override { return ColumnType::kString; }
    Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values, ReadBuffer&) override {
      constexpr std::string_view kTexts[] = {"", "a", "ab", "b"};
      for (size_t i = 0; i < rows.size(); ++i) {
        values[i] = kTexts[rows[i].value % 4];
      }
      return Status::Ok();
    }
  } texts;
  BlockBits bits{0xff};
  REQUIRE(texts.Select(1, {BytesSet{{"", "ab"}}}, bits).ok());
  REQUIRE(bits == BlockBits{0x55});
  REQUIRE(texts.Select(1, {BytesSet{{"ab"}}, true}, bits).ok());
  REQUIRE(bits == BlockBits{0x11});
  REQUIRE(texts.Select(1, {BytesSet{}}, bits).ok());
  REQUIRE(bits == BlockBits{});
}

TEST_CASE("a stored int column reads as bigint", "[storage]") {
  NumberFile file(MakeInts(ColumnType::kInt, {1, 0xffffffff}));
  const auto column = file.Open(AccessMode::kMmap);
  const auto reader = column->NewReader(column, ColumnType::kBigint);
  std::vector<int64_t> values(2);
  REQUIRE(reader->type() == ColumnType::kBigint);
  REQUIRE(reader->ReadInts(RowsFromTo(0, 2), values).ok());
  REQUIRE(values == std::vector<int64_t>{1, 0xffffffff});
}

TEST_CASE("the example of the format document", "[storage]") {
  NumberFile file(MakeInts(ColumnType::kInt, {7, 9, 7, 12}));
  using namespace std::string_literals;  // NOLINT(google-build-using-namespace): bytes with zeros
  REQUIRE(file.Section(SpcSection::kColumn) == "\3\0\0\0\4\0\0\0"s);
  REQUIRE(file.Section(SpcSection::kDirectory) == "\1\x0e\5"s);
  REQUIRE(file.Section(SpcSection::kZones) == "\7\0\0\0\0\0\0\x80\x0c\0\0\0\0\0\0\x80"s);
  REQUIRE(file.Section(SpcSection::kBlocks) == "\x10\x0a\0\0\0\0\0\0"s + std::string(kPackedSlack, '\0'));
}

TEST_CASE("a damaged directory is refused when the column is opened", "[storage]") {
  NumberDirectoryWriter writer(ColumnType::kBigint);
  std::string payload;
  std::vector<NumberBlock> blocks;
  uint64_t offset = 0;
  for (const std::vector<int64_t>& ints : IntShapes(1024)) {
    std::vector<uint64_t> keys;
    for (const int64_t value : ints) {
      keys.push_back(static_cast<uint64_t>(value) ^ KeyFlip(ColumnType::kBigint));
    }
    blocks.push_back(EncodeKeys(keys, payload));
    blocks.back().offset = offset;
    offset = payload.size();
    writer.Add(blocks.back());
  }
  const NumberInfo info{.type = ColumnType::kBigint, .rows = static_cast<uint32_t>(1024 * blocks.size())};
  const auto read = ReadNumberDirectory(writer.bytes(), info, payload.size() + kPackedSlack);
  REQUIRE(read.ok());
  REQUIRE(read->size() == blocks.size());
  REQUIRE(read->back().offset == blocks.back().offset);
  REQUIRE(!ReadNumberDirectory(writer.bytes(), info, payload.size()).ok());
  std::mt19937 random(25);
  for (size_t length = 0; length < writer.bytes().size(); ++length) {
    REQUIRE(!ReadNumberDirectory(writer.bytes().substr(0, length), info, payload.size() + kPackedSlack).ok());
  }
  for (int i = 0; i < 20'000; ++i) {  // refused, or valid whatever it says
    std::string damaged = writer.bytes();
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto odd = ReadNumberDirectory(damaged, info, payload.size() + kPackedSlack);
    for (const NumberBlock& block : odd.ok() ? *odd : std::vector<NumberBlock>()) {
      REQUIRE(block.offset + PartsOf(block, 1024).size <= payload.size());
    }
  }
}

}  // namespace stoa::storage
