#include "storage/column/set_column.h"

#include <catch2/catch.hpp>

#include <random>

#include "storage/column_fixture.h"

namespace stoa::storage {
namespace {

ColumnFile SetFile(ColumnType type) {
  ColumnDefinition definition;
  definition.id = ColumnId(9);
  definition.type = type;
  return {definition, &WriteSetColumn, &OpenSetColumn};
}

template <typename Item>
std::string SetOf(size_t items, Item first, Item step) {
  std::string set;
  for (size_t i = 0; i < items; ++i) {
    const Item item = static_cast<Item>(first + static_cast<Item>(i) * step);
    set.append(reinterpret_cast<const char*>(&item), sizeof(item));
  }
  return set;
}

template <typename Item>
void CheckSets(ColumnType type) {
  ColumnFile file = SetFile(type);
  CheckRoundTrip(file, {});
  CheckRoundTrip(file, {""}, sizeof(Item));
  CheckRoundTrip(file, {SetOf<Item>(1, 5, 1)}, sizeof(Item));
  CheckRoundTrip(file, std::vector<std::string>(2500, SetOf<Item>(3, 1, 2)), sizeof(Item));
  std::mt19937 random(1);
  std::vector<std::string> values;
  for (size_t row = 0; row < 5000; ++row) {
    values.push_back(SetOf<Item>(random() % 20, static_cast<Item>(random() % 1000), 3));
  }
  CheckRoundTrip(file, values, sizeof(Item));
  values[4500] = SetOf<Item>(100'000, 0, 11);
  values[0] = SetOf<Item>(100'000, 1, 1);
  CheckRoundTrip(file, values, sizeof(Item));
}

TEST_CASE("sets come back aligned to their items in both access modes", "[storage]") {
  CheckSets<uint32_t>(ColumnType::kMulti);
  CheckSets<int64_t>(ColumnType::kMulti64);
}

TEST_CASE("the check finds a set that does not ascend or ends inside of an item", "[storage]") {
  ColumnFile file = SetFile(ColumnType::kMulti);
  std::vector<std::string> values(2000, SetOf<uint32_t>(3, 1, 2));
  values[1500] = SetOf<uint32_t>(3, 7, 0);
  file.WriteValues(values);
  auto column = file.OpenColumn(AccessMode::kFile);
  CHECK(column->Check().code() == StatusCode::kCorrupt);
  CHECK(column->Check().text().find("value 1500") != std::string::npos);

  values[1500] = "12345";
  file.WriteValues(values);
  column = file.OpenColumn(AccessMode::kFile);
  std::vector<std::string_view> sets(1);
  const RowId row(1500);
  ReadBuffer buffer;
  CHECK(column->NewReader(column, column->type())->ReadBytes({&row, 1}, sets, buffer).code() ==
        StatusCode::kCorrupt);
}

}  // namespace
}  // namespace stoa::storage
