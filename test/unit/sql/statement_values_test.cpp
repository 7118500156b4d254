#include <catch2/catch.hpp>

#include "sql/statements/date_text.h"
#include "sql/statements/display_order.h"
#include "sql/statements/literal.h"
#include "sql/statements/pending.h"
#include "sql/statements/table_settings.h"

using namespace stoa;       // NOLINT(google-build-using-namespace): test
using namespace stoa::sql;  // NOLINT(google-build-using-namespace): test

namespace {

int64_t Seconds(std::string_view text, std::string_view zone_name = "UTC") {
  const auto zone = TimeZone::Find(zone_name);
  REQUIRE(zone.ok());
  const auto seconds = ParseDateText(text, *zone);
  INFO(text << " " << seconds.status().ToString());
  REQUIRE(seconds.ok());
  return *seconds;
}

std::string Setting(std::string_view name, std::string_view value) {
  storage::TableDefinition table;
  std::vector<std::string> warnings;
  const Status status = ApplyTableSetting(name, value, table, warnings);
  return status.ok() ? table.settings[std::string(name)] : "error";
}

storage::ColumnDefinition Column(std::string name, storage::ColumnType type, bool indexed = false) {
  storage::ColumnDefinition column;
  column.name = std::move(name);
  column.type = type;
  column.indexed = indexed;
  return column;
}

storage::TableChange InsertOf(const std::shared_ptr<storage::Table>& table, uint64_t id, int64_t value) {
  storage::InsertRows insert;
  insert.rows.ids = {DocId(id)};
  storage::ColumnValues& values = insert.rows.columns.emplace_back();
  values.column = ColumnId(1);
  values.AppendInt(value);
  return {table, std::move(insert)};
}

}  // namespace

TEST_CASE("date texts of every length are seconds since 1970", "[sql]") {
  CHECK(Seconds("1970") == 0);
  CHECK(Seconds("2024-03") == 1709251200);
  CHECK(Seconds("2024-02-29") == 1709164800);
  CHECK(Seconds("2024-02-29T12") == 1709208000);
  CHECK(Seconds("2024-02-29 12:34:56.25") == 1709210096);
  CHECK(Seconds("1700000000") == 1700000000);
}

TEST_CASE("the zone of a date text counts, else the session's", "[sql]") {
  CHECK(Seconds("2024-02-29T12:34:56+02:00") == 1709202896);
  CHECK(Seconds("2024-02-29T12:34:56-0130") == 1709215496);
  CHECK(Seconds("2024-02-29T12:34:56+02", "America/New_York") == 1709202896);
  CHECK(Seconds("2024-02-29T12:34:56Z", "America/New_York") == 1709210096);
  CHECK(Seconds("2024-02-29T12:34:56", "America/New_York") == 1709210096 + 5 * 3600);
  CHECK(Seconds("2024-07-01", "America/New_York") == 1719792000 + 4 * 3600);
  // Skipped and repeated hours of the clock change.
  CHECK(Seconds("2024-03-10T02:30", "America/New_York") == Seconds("2024-03-10T03:00", "America/New_York"));
  CHECK(Seconds("2024-11-03T01:30", "America/New_York") == Seconds("2024-11-03T05:30Z"));
  CHECK_FALSE(TimeZone::Find("Nowhere/City").ok());
}

TEST_CASE("what is no date is refused", "[sql]") {
  for (const char* text :
       {"", "17", "20240229", "2024-", "2024-13", "2023-02-29", "2024-02-29T", "2024-02-29T24:00",
        "2024-02-29T12:60", "2024-02-29T12:34:56+", "2024-02-29T12:34:56.", "2024-02-29x",
        "2024-02-29T12:34:56+2", "12345678901234567890"}) {
    INFO(text);
    CHECK_FALSE(ParseDateText(text, TimeZone()).ok());
  }
}

TEST_CASE("texts are numbers only as a whole", "[sql]") {
  Number number;
  CHECK((ParseNumber(" 35 ", number) && number.integer && number.magnitude == 35));
  CHECK((ParseNumber("-9223372036854775808", number) && number.negative &&
         number.magnitude == uint64_t{1} << 63));
  CHECK((ParseNumber("18446744073709551615", number) && number.integer));
  CHECK((ParseNumber("+1.5e3", number) && !number.integer && number.real == 1500));
  for (const char* text : {"", " ", "seven", "1x", "1 2", "nan", "inf", "--1", "+-1", "1e999"}) {
    INFO(text);
    CHECK_FALSE(ParseNumber(text, number));
  }
}

TEST_CASE("table settings are stored in normal form", "[sql]") {
  CHECK(Setting("rt_mem_limit", "16M") == "16777216");
  CHECK(Setting("docstore_block_size", "32k") == "32768");
  CHECK(Setting("rt_mem_limit", "9999999999999T") == "error");
  CHECK(Setting("rt_mem_limit", "1MB") == "error");
  CHECK(Setting("rt_mem_limit", "-1") == "error");
  CHECK(Setting("access_dict", "MMAP") == "mmap");
  CHECK(Setting("morphology", "stem_en,libstemmer_de") == "stem_en, libstemmer_de");
  CHECK(Setting("diskchunk_flush_write_timeout", "-1") == "-1");
}

TEST_CASE("fields come before attributes, each in the order of declaration", "[sql]") {
  storage::TableDefinition table;
  InsertInDisplayOrder(Column("id", storage::ColumnType::kId), table.columns);
  InsertInDisplayOrder(Column("n", storage::ColumnType::kInt), table.columns);
  InsertInDisplayOrder(Column("s", storage::ColumnType::kString, true), table.columns);
  InsertInDisplayOrder(Column("b", storage::ColumnType::kText), table.columns);
  InsertInDisplayOrder(Column("a", storage::ColumnType::kText), table.columns);
  std::string names;
  for (const storage::ColumnDefinition* column : DisplayOrder(table)) {
    names += column->name + " ";
  }
  CHECK(names == "id b a s n ");
}

TEST_CASE("inserts of one transaction join, the last word on a document counts", "[sql]") {
  const auto snapshot = std::make_shared<storage::TableSnapshot>();
  snapshot->definition = std::make_shared<storage::TableDefinition>();
  const auto table = std::make_shared<storage::Table>(snapshot);
  Session::State session;
  AddPending(InsertOf(table, 7, 1), session);
  AddPending(InsertOf(table, 8, 2), session);
  REQUIRE(session.pending.size() == 1);
  CHECK(session.in_transaction);
  CHECK(std::get<storage::InsertRows>(session.pending[0].change).rows.columns[0].ints ==
        std::vector<int64_t>{1, 2});
  const std::vector<DocId> seven = {DocId(7)};
  CHECK(CheckDuplicates(session.pending, *table, *snapshot, seven).text() == "duplicate id '7'");
  AddPending({table, storage::DeleteRows{seven}}, session);
  CHECK(CheckDuplicates(session.pending, *table, *snapshot, seven).ok());
}
