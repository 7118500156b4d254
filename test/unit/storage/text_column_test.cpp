#include "storage/column/text_column.h"

#include <catch2/catch.hpp>

#include <random>

#include "storage/column_fixture.h"

namespace stoa::storage {
namespace {

ColumnFile TextFile(bool hash = true) {
  ColumnDefinition definition;
  definition.id = ColumnId(3);
  definition.type = ColumnType::kString;
  definition.hash = hash;
  return {definition, &WriteTextColumn, &OpenTextColumn};
}

std::vector<std::string> DistinctTexts(size_t count) {
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(fmt::format("text {} {}", i * 7919 % count, std::string(i % 50, 'x')));
  }
  return values;
}

std::vector<std::string> FewTexts(size_t rows, size_t texts) {
  std::mt19937 random(7);
  std::vector<std::string> values;
  for (size_t i = 0; i < rows; ++i) {
    values.push_back(fmt::format("word{}", random() % texts));
  }
  return values;
}

bool HasDictionary(const ColumnFile& file) {
  return NewDictionaryReader(file.OpenColumn(AccessMode::kMmap)) != nullptr;
}

// Rows that Select keeps, of those whose bit is set before.
std::vector<uint32_t> Selected(const ColumnFile& file, AccessMode mode, const ColumnPredicate& predicate,
                               uint64_t mask) {
  const auto column = file.OpenColumn(mode);
  const auto reader = column->NewReader(column, ColumnType::kString);
  std::vector<uint32_t> rows;
  for (uint32_t first = 0; first < column->row_count(); first += kBlockRows) {
    BlockBits bits{};
    for (uint32_t row = first; row < std::min(first + kBlockRows, column->row_count()); ++row) {
      bits[row % kBlockRows / 64] |= mask & (uint64_t{1} << (row % 64));
    }
    const Status status = reader->Select(first / kBlockRows, predicate, bits);
    INFO(status.text());
    REQUIRE(status.ok());
    for (uint32_t row = 0; row < kBlockRows; ++row) {
      if ((bits[row / 64] >> (row % 64) & 1) != 0) {
        rows.push_back(first + row);
      }
    }
  }
  return rows;
}

void CheckSelect(const ColumnFile& file, const std::vector<std::string>& values,
                 std::vector<std::string> wanted) {
  std::sort(wanted.begin(), wanted.end());
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    for (const bool negated : {false, true}) {
      for (const uint64_t mask : {~uint64_t{0}, uint64_t{0x123456789abcdef}, uint64_t{0}}) {
        std::vector<uint32_t> expected;
        for (uint32_t row = 0; row < values.size(); ++row) {
          const bool found = std::binary_search(wanted.begin(), wanted.end(), values[row]);
          if ((mask >> (row % 64) & 1) != 0 && found != negated) {
            expected.push_back(row);
          }
        }
        REQUIRE(Selected(file, mode, {.test = BytesSet{wanted}, .negated = negated}, mask) == expected);
      }
    }
  }
}

TEST_CASE("texts come back in both access modes whatever their number and length", "[storage]") {
  ColumnFile file = TextFile();
  CheckRoundTrip(file, {});
  CheckRoundTrip(file, {"one"});
  CheckRoundTrip(file, {""});
  CheckRoundTrip(file, std::vector<std::string>(1025, "all equal"));
  CheckRoundTrip(file, std::vector<std::string>(3000, ""));
  CheckRoundTrip(file, DistinctTexts(1024));
  CheckRoundTrip(file, DistinctTexts(5000));
  CheckRoundTrip(file, FewTexts(9000, 10));
  CheckRoundTrip(file, FewTexts(9000, 3000));
  CheckRoundTrip(file, {std::string("a\0b", 3), std::string("a\0", 2), "a", std::string(1, '\0')});
}

TEST_CASE("texts of 16 megabytes come back", "[storage]") {
  ColumnFile file = TextFile();
  std::vector<std::string> values = DistinctTexts(1500);
  values[700] = std::string(16u << 20, 'a');
  values[1499] = std::string((16u << 20) + 1, 'b');
  CheckRoundTrip(file, values);
  CheckRoundTrip(file, {std::string(16u << 20, 'c'), std::string(16u << 20, 'c')});
}

TEST_CASE("a dictionary is made when it pays", "[storage]") {
  ColumnFile file = TextFile();
  file.WriteValues(FewTexts(4000, 100));
  CHECK(HasDictionary(file));
  file.WriteValues(DistinctTexts(4000));
  CHECK_FALSE(HasDictionary(file));
  CHECK(file.OpenSections(AccessMode::kFile)->Has(static_cast<uint32_t>(SpcSection::kHashes), 3));
  ColumnFile without = TextFile(false);
  without.WriteValues(DistinctTexts(4000));
  CHECK_FALSE(without.OpenSections(AccessMode::kFile)->Has(static_cast<uint32_t>(SpcSection::kHashes), 3));
}

TEST_CASE("a dictionary too large for memory is read text by text", "[storage]") {
  std::vector<std::string> values;
  for (size_t i = 0; i < 4000; ++i) {
    values.push_back(fmt::format("{:04}{}", i * 37 % 2000, std::string(5000, 'y')));
  }
  ColumnFile file = TextFile();
  CheckRoundTrip(file, values);
  REQUIRE(HasDictionary(file));
  CheckSelect(file, values, {values[5], values[1999], "0000", "9999"});
}

TEST_CASE("codes are in the order of the texts and give them back", "[storage]") {
  const std::vector<std::string> values = FewTexts(5000, 60);
  ColumnFile file = TextFile();
  file.WriteValues(values);
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const auto reader = NewDictionaryReader(file.OpenColumn(mode));
    REQUIRE(reader != nullptr);
    const std::vector<RowId> rows = RowsFromTo(0, values.size(), 3);
    std::vector<uint32_t> codes(rows.size());
    REQUIRE(reader->ReadCodes(rows, codes).ok());
    std::vector<std::string_view> texts(rows.size());
    ReadBuffer buffer;
    REQUIRE(reader->dictionary().Read(codes, texts, buffer).ok());
    size_t wrong = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      wrong += texts[i] == values[rows[i].value] ? 0 : 1;
      wrong += i > 0 && (codes[i] < codes[i - 1]) != (texts[i] < texts[i - 1]) ? 1 : 0;
    }
    CHECK(wrong == 0);
    CHECK(reader->dictionary().size() == 60);
  }
}

TEST_CASE("texts are selected by equality with a dictionary, with hashes and without", "[storage]") {
  const std::vector<std::vector<std::string>> columns{
      FewTexts(4100, 20), DistinctTexts(4100), std::vector<std::string>(1500, "same"), {"", "x", "", "y"}};
  for (const bool hash : {true, false}) {
    ColumnFile file = TextFile(hash);
    for (const std::vector<std::string>& values : columns) {
      file.WriteValues(values);
      CheckSelect(file, values, {});
      CheckSelect(file, values, {"not there"});
      CheckSelect(file, values, {values[0]});
      CheckSelect(file, values, {values[1], values[2], values[values.size() - 1], "", "zzz"});
      CheckSelect(file, values, values);
    }
  }
}

TEST_CASE("a reader follows when the predicate changes", "[storage]") {
  ColumnFile file = TextFile();
  for (const std::vector<std::string>& values : {FewTexts(1000, 4), DistinctTexts(1000)}) {
    file.WriteValues(values);
    const auto column = file.OpenColumn(AccessMode::kFile);
    const auto reader = column->NewReader(column, ColumnType::kString);
    ColumnPredicate predicate;
    for (const size_t row : {0, 1, 2, 500}) {
      predicate.test = BytesSet{{values[row]}};
      BlockBits bits{};
      bits[row / 64] = uint64_t{1} << (row % 64);
      const BlockBits before = bits;
      REQUIRE(reader->Select(0, predicate, bits).ok());
      CHECK(bits == before);
    }
  }
}

}  // namespace
}  // namespace stoa::storage
