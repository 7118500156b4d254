#include "storage/table/head_builder.h"

#include <catch2/catch.hpp>

#include "table_fixture.h"

namespace stoa::storage {
namespace {

using testing::Dump;
using testing::EmptyTable;
using testing::Insert;
using testing::MakeDefinition;
using Lines = std::vector<std::string>;

std::shared_ptr<const TableSnapshot> Apply(const std::shared_ptr<const TableSnapshot>& base,
                                           const std::vector<Change>& changes) {
  HeadBuilder builder(base);
  for (const Change& change : changes) {
    if (const auto* insert = std::get_if<InsertRows>(&change)) {
      REQUIRE(builder.Insert(*insert).ToString() == "ok");
    } else if (const auto* gone = std::get_if<DeleteRows>(&change)) {
      REQUIRE(builder.Delete(*gone).ok());
    } else {
      REQUIRE(builder.Update(std::get<UpdateRows>(change)).ok());
    }
  }
  return builder.Finish().value();
}

std::vector<uint64_t> Range(uint64_t first, uint64_t last) {
  std::vector<uint64_t> ids;
  for (uint64_t id = first; id <= last; ++id) {
    ids.push_back(id);
  }
  return ids;
}

TEST_CASE("a duplicate id fails the insert and changes nothing", "[storage]") {
  const auto base = Apply(EmptyTable(MakeDefinition("t")), {Insert({7, 3}, 1)});
  HeadBuilder builder(base);
  CHECK(builder.Insert(Insert({8, 7}, 2)).ToString() == "exists: duplicate id '7'");
  CHECK(builder.Insert(Insert({9, 8, 9}, 2)).ToString() == "exists: duplicate id '9'");
  CHECK_FALSE(builder.changed());
  CHECK(builder.Finish().value() == base);
}

TEST_CASE("of the same id twice in one REPLACE the last wins", "[storage]") {
  InsertRows change = Insert({3, 1, 3}, 1, true);
  change.rows.columns[0].ints = {10, 11, 12};
  const auto table = Apply(EmptyTable(MakeDefinition("t")), {Insert({3}, 5), change});
  CHECK(Dump(*table) == Lines{"1: 11 -1 0.5 text 1", "3: 12 -1 0.5 text 1"});
}

TEST_CASE("later changes of a write set see the earlier ones", "[storage]") {
  const auto table = Apply(EmptyTable(MakeDefinition("t")),
                           {Insert({1, 2}, 1), testing::UpdateInt({2, 9}, 1, ColumnType::kInt, 7),
                            testing::Delete({1, 1}), Insert({1}, 3), testing::UpdateText({1}, 4, "new")});
  CHECK(Dump(*table) == Lines{"2: 7 -1 0.5 text 1", "1: 3 -3 1.5 new"});
}

TEST_CASE("counts are of the rows that were found", "[storage]") {
  const auto base = Apply(EmptyTable(MakeDefinition("t")), {Insert({1, 2, 3}, 1)});
  HeadBuilder builder(base);
  CHECK(builder.Delete(testing::Delete({3, 3, 4})).value() == 1);
  CHECK(builder.Update(testing::UpdateInt({1, 2, 3}, 1, ColumnType::kInt, 7)).value() == 2);
  CHECK(base->live_count() == 3);
}

TEST_CASE("rows keep the order of insertion over many segments and after deletes", "[storage]") {
  auto table = EmptyTable(MakeDefinition("t"));
  for (uint64_t id = 1; id <= 150'000; id += 1000) {
    table = Apply(table, {Insert(Range(id, id + 999), 1)});
  }
  CHECK(table->parts.size() == 5);
  CHECK(table->live_count() == 150'000);
  const auto held = table;
  for (uint64_t id = 1; id <= 140'000; id += 1000) {
    table = Apply(table, {testing::Delete(Range(id, id + 989))});
  }
  CHECK(held->live_count() == 150'000);
  CHECK(table->live_count() == 11'400);
  const Lines lines = Dump(*table);
  REQUIRE(lines.size() == 11'400);
  CHECK(lines[0] == "991: 1 -1 0.5 text 1");
  CHECK(lines[10] == "1991: 1 -1 0.5 text 1");
  CHECK(lines.back() == "150000: 1 -1 0.5 text 1");
  // Dead rows do not stay for ever.
  uint64_t rows = 0;
  for (const auto& part : table->parts) {
    rows += part->row_count();
  }
  CHECK(rows < 40'000);
}

TEST_CASE("replacing the same documents again and again does not grow the table", "[storage]") {
  auto table = EmptyTable(MakeDefinition("t"));
  for (int64_t round = 0; round < 400; ++round) {
    table = Apply(table, {Insert(Range(1, 500), round, true)});
  }
  CHECK(table->live_count() == 500);
  CHECK(table->parts.size() <= 3);
  const std::string large(1000, 'x');
  for (int round = 0; round < 50; ++round) {
    table = Apply(table, {testing::UpdateText(Range(1, 500), 4, large)});
  }
  uint64_t bytes = 0;
  for (const auto& part : table->parts) {
    bytes += part->ram_bytes();
  }
  CHECK(bytes < 10'000'000);
}

TEST_CASE("columns and rows that are not there any more are passed over", "[storage]") {
  TableDefinition definition = MakeDefinition("t");
  definition.columns.erase(definition.columns.begin() + 2);
  const auto table =
      Apply(EmptyTable(definition), {Insert({1}, 4), testing::UpdateInt({1, 2}, 2, ColumnType::kBigint, 7)});
  CHECK(Dump(*table) == Lines{"1: 4 2 text 4"});
}

TEST_CASE("a batch of uneven length is refused", "[storage]") {
  InsertRows change = Insert({1, 2}, 1);
  change.rows.columns[0].ints.pop_back();
  HeadBuilder builder(EmptyTable(MakeDefinition("t")));
  CHECK(builder.Insert(change).code() == StatusCode::kInternal);
}

TEST_CASE("a table may have thousands of columns", "[storage]") {
  TableDefinition definition = MakeDefinition("wide");
  InsertRows change = Insert({1}, 1);
  for (uint32_t id = 5; id < 4100; ++id) {
    definition.columns.push_back(testing::MakeColumn("c" + std::to_string(id), ColumnType::kInt, id));
    ColumnValues& values = change.rows.columns.emplace_back();
    values.column = ColumnId(id);
    values.AppendInt(id);
  }
  auto table = Apply(EmptyTable(definition), {change});
  change.rows.ids = {DocId(2)};
  table = Apply(table, {change});
  CHECK(Dump(*table)[1].ends_with(" 4098 4099"));
  CHECK(table->parts[0]->ram_bytes() < 1'000'000);
}

}  // namespace
}  // namespace stoa::storage
