#include "storage/column/vector_column.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <random>

#include "storage/column_fixture.h"

namespace stoa::storage {
namespace {

ColumnFile VectorFile(ColumnType type = ColumnType::kFloatVector) {
  ColumnDefinition definition;
  definition.id = ColumnId(5);
  definition.type = type;
  return {definition, &WriteVectorColumn, &OpenVectorColumn};
}

std::string VectorOf(size_t dims, float first, float step) {
  std::string vector;
  for (size_t i = 0; i < dims; ++i) {
    const float value = first + static_cast<float>(i) * step;
    vector.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return vector;
}

std::string ArrayOf(uint32_t dims, size_t vectors) {
  std::string array(reinterpret_cast<const char*>(&dims), sizeof(dims));
  for (size_t i = 0; i < vectors; ++i) {
    array += VectorOf(dims, static_cast<float>(i), 0.5F);
  }
  return array;
}

// Every `gap`-th row has no vector; 0: all have one.
std::vector<std::string> Vectors(size_t rows, size_t dims, size_t gap) {
  std::mt19937 random(static_cast<uint32_t>(dims));
  std::vector<std::string> values;
  for (size_t row = 0; row < rows; ++row) {
    const bool none = gap > 0 && row % gap == 0;
    values.push_back(none ? std::string() : VectorOf(dims, static_cast<float>(random() % 1000) - 500, 0.25F));
  }
  return values;
}

std::shared_ptr<const VectorColumn> OpenVectors(const ColumnFile& file, AccessMode mode) {
  auto column = VectorColumn::Open(file.OpenSections(mode), file.definition().id);
  REQUIRE(column.ok());
  return *column;
}

void CheckReadVectors(const ColumnFile& file, const std::vector<std::string>& values) {
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const auto column = OpenVectors(file, mode);
    const std::vector<RowId> rows = RowsFromTo(0, values.size(), 2);
    std::vector<const float*> vectors(rows.size());
    ReadBuffer buffer;
    REQUIRE(column->ReadVectors(rows, vectors, buffer).ok());
    size_t wrong = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string& value = values[rows[i].value];
      wrong += (vectors[i] == nullptr) == value.empty() ? 0 : 1;
      if (vectors[i] != nullptr && !value.empty()) {
        wrong += std::memcmp(vectors[i], value.data(), value.size()) == 0 ? 0 : 1;
        wrong += reinterpret_cast<uintptr_t>(vectors[i]) % 64 == 0 ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    CHECK((column->base() != nullptr) == (mode == AccessMode::kMmap && column->dims() > 0));
    if (column->base() != nullptr) {
      for (size_t i = 0; i < rows.size(); ++i) {
        if (vectors[i] != nullptr) {
          wrong +=
              vectors[i] == column->base() + uint64_t{column->presence().Rank(rows[i])} * column->stride()
                  ? 0
                  : 1;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("vectors of 1 to 200 dims come back, with and without gaps", "[storage]") {
  ColumnFile file = VectorFile();
  for (size_t dims = 1; dims <= 200; dims += dims < 35 ? 1 : 33) {
    for (const size_t gap : {0, 1, 3}) {
      const std::vector<std::string> values = Vectors(700, dims, gap);
      CheckRoundTrip(file, values, 64);
      CheckReadVectors(file, values);
      CHECK(OpenVectors(file, AccessMode::kMmap)->dims() == (gap == 1 ? 0 : dims));
    }
  }
}

TEST_CASE("a column of no rows, of one row and of rows without vectors", "[storage]") {
  ColumnFile file = VectorFile();
  for (const std::vector<std::string>& values :
       {std::vector<std::string>{}, {VectorOf(3, 1, 1)}, {""}, std::vector<std::string>(3000)}) {
    CheckRoundTrip(file, values, 64);
    CheckReadVectors(file, values);
  }
}

TEST_CASE("ascending vectors and any bits of a float come back exactly", "[storage]") {
  ColumnFile file = VectorFile();
  std::vector<std::string> values;
  for (size_t row = 0; row < 2000; ++row) {
    values.push_back(VectorOf(128, static_cast<float>(row), 1));
  }
  values[17] = std::string(512, '\xff');  // NaN with a payload
  values[18] = std::string(512, '\x80');
  CheckRoundTrip(file, values, 64);
  CheckReadVectors(file, values);
}

TEST_CASE("a vector of 16 megabytes comes back", "[storage]") {
  ColumnFile file = VectorFile();
  const std::vector<std::string> values{VectorOf(4u << 20, 0, 1), "", VectorOf(4u << 20, 5, 1)};
  CheckRoundTrip(file, values, 64);
  CheckReadVectors(file, values);
}

TEST_CASE("vectors of different dims come back, without common dims", "[storage]") {
  ColumnFile file = VectorFile();
  std::vector<std::string> values = Vectors(3000, 8, 5);
  values[2222] = VectorOf(9, 1, 1);
  CheckRoundTrip(file, values, sizeof(float));
  const auto column = OpenVectors(file, AccessMode::kMmap);
  CHECK(column->dims() == 0);
  CHECK(column->base() == nullptr);
  const RowId row(1);
  const float* vector = nullptr;
  ReadBuffer buffer;
  CHECK(column->ReadVectors({&row, 1}, {&vector, 1}, buffer).code() == StatusCode::kUnsupported);
}

TEST_CASE("arrays of vectors come back", "[storage]") {
  ColumnFile file = VectorFile(ColumnType::kFloatVectorArray);
  std::vector<std::string> values;
  for (size_t row = 0; row < 2500; ++row) {
    values.push_back(row % 4 == 0 ? std::string() : ArrayOf(static_cast<uint32_t>(row % 40 + 1), row % 50));
  }
  CheckRoundTrip(file, values, sizeof(float));
  CheckRoundTrip(file, std::vector<std::string>(1500, ArrayOf(16, 1)), sizeof(float));
}

TEST_CASE("an array that does not hold whole vectors is corrupt", "[storage]") {
  ColumnFile file = VectorFile(ColumnType::kFloatVectorArray);
  for (const std::string& value : {std::string("ab"), std::string(4, '\0'), ArrayOf(3, 2) + "1234"}) {
    file.WriteValues({ArrayOf(2, 2), value});
    const auto column = file.OpenColumn(AccessMode::kMmap);
    CHECK(column->Check().code() == StatusCode::kCorrupt);
    const RowId row(1);
    std::string_view read;
    ReadBuffer buffer;
    CHECK(column->NewReader(column, column->type())->ReadBytes({&row, 1}, {&read, 1}, buffer).code() ==
          StatusCode::kCorrupt);
  }
}

TEST_CASE("the rank of a row counts the rows with a value before it", "[storage]") {
  PresenceWriter writer;
  std::vector<uint32_t> ranks;
  std::mt19937 random(3);
  for (size_t row = 0; row < 5000; ++row) {
    ranks.push_back(writer.present());
    writer.Append(random() % 3 != 0);
  }
  const auto map = PresenceMap::Decode(writer.Encode(), writer.row_count());
  REQUIRE(map.ok());
  size_t wrong = 0;
  for (uint32_t row = 0; row < 5000; ++row) {
    wrong += map->Rank(RowId(row)) == ranks[row] ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(map->present() == writer.present());
  CHECK_FALSE(PresenceMap::Decode(writer.Encode(), 4999 - 8).ok());  // bits behind the last row
  CHECK_FALSE(PresenceMap::Decode("1234567", 5).ok());
}

}  // namespace
}  // namespace stoa::storage
