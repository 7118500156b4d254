#include "storage/schema.h"

#include <catch2/catch.hpp>

#include "table_fixture.h"

namespace stoa::storage {
namespace {

TEST_CASE("types print as DESC and SHOW CREATE TABLE name them", "[storage]") {
  ColumnDefinition column = testing::MakeColumn("c", ColumnType::kInt);
  CHECK(DescribeType(column) == "uint");
  CHECK(CreateType(column) == "integer");
  column.bits = 4;
  CHECK(DescribeType(column) == "uint:4");
  CHECK(CreateType(column) == "bit(4)");
  column.type = ColumnType::kMulti64;
  CHECK(DescribeType(column) == "mva64");
  CHECK(CreateType(column) == "multi64");
  column.type = ColumnType::kFloatVector;
  CHECK(DescribeType(column) == "float_vector");
  CHECK(CreateType(column) == "float_vector");
}

TEST_CASE("the engine of a column wins over the engine of its table", "[storage]") {
  TableDefinition definition = testing::MakeDefinition("t");
  ColumnDefinition column = testing::MakeColumn("c", ColumnType::kInt);
  CHECK_FALSE(definition.IsColumnar(column));
  definition.settings["engine"] = "columnar";
  CHECK(definition.IsColumnar(column));
  column.engine = Engine::kRowwise;
  CHECK_FALSE(definition.IsColumnar(column));
  column.engine = Engine::kColumnar;
  column.type = ColumnType::kJson;
  CHECK_FALSE(definition.IsColumnar(column));
}

}  // namespace
}  // namespace stoa::storage
