#include <catch2/catch.hpp>

#include "storage/base/memory_env.h"
#include "storage/table/head_builder.h"
#include "storage/table/manifest.h"
#include "storage/table/ram_file.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;

const std::string kFixtures = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/";

TableDefinition FixtureDefinition() {
  TableDefinition definition = testing::MakeDefinition("goods", 3);
  definition.settings = {{"engine", "columnar"}, {"rt_mem_limit", "134217728"}};
  definition.setting_order = {"rt_mem_limit", "engine"};
  ColumnDefinition vector = testing::MakeColumn("v", ColumnType::kFloatVector, 5);
  vector.knn = KnnOptions{.dims = 4, .similarity = "cosine", .hnsw_m = 24, .quantization = "1bit"};
  vector.engine = Engine::kColumnar;
  definition.columns.push_back(vector);
  definition.next_column_id = 6;
  return definition;
}

Manifest FixtureManifest() {
  Manifest manifest;
  manifest.next_table_id = 5;
  manifest.next_document_id = 2'399'138'612'019'200;
  manifest.log_start = Lsn(40);
  TableDefinition distributed;
  distributed.id = TableId(4);
  distributed.name = "all";
  distributed.kind = TableKind::kDistributed;
  distributed.columns = {testing::MakeColumn("id", ColumnType::kId)};
  distributed.local_tables = {"goods", "more"};
  manifest.tables.resize(2);
  manifest.tables[0].definition = distributed;
  manifest.tables[0].folder = "all.t4";
  manifest.tables[1].definition = FixtureDefinition();
  manifest.tables[1].folder = "goods.t3";
  manifest.tables[1].flushed = Lsn(42);
  manifest.tables[1].ram_generation = 7;
  return manifest;
}

// As version 1, with disk chunks.
Manifest FixtureManifestWithChunks() {
  Manifest manifest = FixtureManifest();
  manifest.tables[1].chunks = {{ChunkId(2), 0, 0}, {ChunkId(5), 3, 300}};
  manifest.tables[1].next_chunk_id = 6;
  return manifest;
}

TEST_CASE("a manifest of format version 1 is read", "[storage]") {
  CHECK(ReadManifest(Env::Posix(), kFixtures + "manifest/v1").value() == FixtureManifest());
}

TEST_CASE("a manifest of format version 2 is read", "[storage]") {
  CHECK(ReadManifest(Env::Posix(), kFixtures + "manifest/v2").value() == FixtureManifestWithChunks());
}

TEST_CASE("a RAM part file of format version 1 is read", "[storage]") {
  const auto table =
      LoadRamFile(Env::Posix(), kFixtures + "ram/v1", {TableId(3), 7, Lsn(42)},
                  std::make_shared<const TableDefinition>(testing::MakeDefinition("goods", 3)));
  REQUIRE(table.status().ToString() == "ok");
  CHECK(
      testing::Dump(**table) ==
      std::vector<std::string>{"8: 4294967295 -4294967295 2147483600 text 4294967295", "7: 1 -1 0.5 text 1"});
}

TEST_CASE("today's writers write what the fixtures hold", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/out").ok());
  REQUIRE(WriteManifest(env, "/out", FixtureManifestWithChunks()).ok());
  CHECK(env.ReadFile("/out/catalog.manifest").value() ==
        Env::Posix().ReadFile(kFixtures + "manifest/v2/catalog.manifest").value());
  HeadBuilder builder(testing::EmptyTable(testing::MakeDefinition("goods", 3)));
  REQUIRE(builder.Insert(testing::Insert({8}, 4294967295)).ok());
  REQUIRE(builder.Insert(testing::Insert({6, 7}, 1)).ok());
  REQUIRE(builder.Delete(testing::Delete({6})).ok());
  REQUIRE(WriteRamFile(env, "/out", *builder.Finish().value(), {TableId(3), 7, Lsn(42)}).ok());
  CHECK(env.ReadFile("/out/ram.7").value() == Env::Posix().ReadFile(kFixtures + "ram/v1/ram.7").value());
}

TEST_CASE("a file cut short, flipped or of another version is told apart", "[storage]") {
  const std::string bytes = Env::Posix().ReadFile(kFixtures + "ram/v1/ram.7").value();
  const auto load = [](const std::string& content) {
    MemoryEnv env;
    REQUIRE(env.MakeFolder("/t").ok());
    REQUIRE(WriteFileAtomically(env, "/t/ram.7", content).ok());
    return LoadRamFile(env, "/t", {TableId(3), 7, Lsn(42)},
                       std::make_shared<const TableDefinition>(testing::MakeDefinition("goods", 3)))
        .status();
  };
  CHECK(load(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE(load(bytes.substr(0, size)).code() == StatusCode::kCorrupt);
  }
  std::string flipped = bytes;
  flipped[130] = static_cast<char>(flipped[130] ^ 4);
  CHECK_THAT(load(flipped).text(), Contains("/t/ram.7") && Contains("checksum"));
  CHECK(LoadRamFile(Env::Posix(), kFixtures + "ram/v1", {TableId(4), 7, Lsn(42)},
                    std::make_shared<const TableDefinition>(testing::MakeDefinition("goods", 4)))
            .status()
            .code() == StatusCode::kCorrupt);
}

}  // namespace
}  // namespace stoa::storage
