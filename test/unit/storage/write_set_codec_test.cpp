#include "storage/table/write_set_codec.h"

#include <catch2/catch.hpp>

#include "storage/table/commit_pipeline.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

std::string EncodeAll() {
  WriteSetWriter writer;
  writer.Add(TableId(1), testing::Insert({1, 2}, 4294967295));
  writer.Add(TableId(2), testing::Insert({9}, 1, true));
  writer.Add(TableId(1), testing::Delete({1}));
  writer.Add(TableId(1), testing::UpdateText({2}, 4, "new"));
  return std::move(writer).Finish();
}

TEST_CASE("changes come back from a log record as they were", "[storage]") {
  auto changes = DecodeWriteSet(EncodeAll()).value();
  REQUIRE(changes.size() == 4);
  CHECK(std::get<InsertRows>(changes[1].change).replace);
  const auto base = testing::EmptyTable(testing::MakeDefinition("t", 1));
  const auto once = CommitPipeline::Replay(base, changes).value();
  CHECK(testing::Dump(*once) == std::vector<std::string>{"2: 4294967295 -4294967295 2147483600 new"});
  // Replay may meet rows that are there already.
  CHECK(testing::Dump(*CommitPipeline::Replay(once, changes).value()) == testing::Dump(*once));
}

TEST_CASE("a log record applies to a later definition", "[storage]") {
  TableDefinition definition = testing::MakeDefinition("t", 1);
  definition.columns[1].type = ColumnType::kBigint;
  definition.columns.erase(definition.columns.begin() + 3);
  definition.columns.push_back(testing::MakeColumn("later", ColumnType::kString, 7));
  auto changes = DecodeWriteSet(EncodeAll()).value();
  const auto table = CommitPipeline::Replay(testing::EmptyTable(definition), changes).value();
  CHECK(testing::Dump(*table) == std::vector<std::string>{"2: 4294967295 -4294967295 new "});
}

TEST_CASE("a log record cut short anywhere is corrupt", "[storage]") {
  const std::string payload = EncodeAll();
  for (size_t size = 0; size < payload.size(); ++size) {
    CHECK(DecodeWriteSet(payload.substr(0, size)).status().code() == StatusCode::kCorrupt);
  }
  CHECK(DecodeWriteSet(payload + "x").status().code() == StatusCode::kCorrupt);
}

}  // namespace
}  // namespace stoa::storage
