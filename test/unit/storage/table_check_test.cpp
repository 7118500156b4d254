#include "storage/table/table_check.h"

#include <catch2/catch.hpp>

#include "chunk_fixture.h"
#include "storage/chunk/chunk_view.h"
#include "storage/table/manifest.h"
#include "storage/table/ram_file.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;
using testing::EveryType;
using testing::InputOf;
using testing::TableOf;

// A data folder with one table: chunk 1 (documents 1 … 100, of which 5 is deleted) and a RAM part file with
// one document.
class CheckedFolder {
 public:
  explicit CheckedFolder(uint64_t ram_document) {
    const TableDefinition definition = EveryType("columnar");
    const auto table = TableOf(definition, 1, 100);
    REQUIRE(env.MakeFolder("/d/every.t1").ok());
    REQUIRE(WriteChunk(env, kFolder, InputOf(*table, 1)).ToString() == "ok");
    DeleteMapEdit edit(std::make_shared<const DeleteMap>());
    edit.Add(RowId(4));
    REQUIRE(WriteDeleteMap(env, kFolder, ChunkId(1), 2, *edit.Finish()).ToString() == "ok");
    REQUIRE(WriteRamFile(env, kFolder, *TableOf(definition, ram_document, 1), {TableId(1), 3, Lsn(0)}).ok());
    ManifestTable entry{.definition = definition, .folder = "every.t1", .ram_generation = 3};
    entry.chunks = {{.id = ChunkId(1), .delete_generation = 2}};
    entry.next_chunk_id = 2;
    manifest.tables = {entry};
    REQUIRE(WriteManifest(env, "/d", manifest).ok());
  }

  Result<TableCheckReport> Check() { return CheckTable(env, "/d", "every"); }

  static inline const std::string kFolder = "/d/every.t1";
  MemoryEnv env;
  Manifest manifest;
};

TEST_CASE("a table without fault is reported with its chunks and live rows", "[storage]") {
  CheckedFolder folder(5);
  auto report = folder.Check();
  REQUIRE(report.status().ToString() == "ok");
  CHECK(report->chunks == 1);
  CHECK(report->rows == 100);
  CHECK(report->note.empty());
  const auto lock = folder.env.Lock("/d").value();
  report = folder.Check();
  REQUIRE(report.ok());
  CHECK_FALSE(report->note.empty());
}

TEST_CASE("a document that is in two parts of a table is a fault", "[storage]") {
  CheckedFolder folder(6);
  const Status status = folder.Check().status();
  CHECK(status.code() == StatusCode::kCorrupt);
  CHECK_THAT(status.text(), Contains("document 6") && Contains("chunk.1") && Contains("RAM"));
}

TEST_CASE("every file of a table is looked at", "[storage]") {
  CheckedFolder folder(5);
  CHECK(CheckTable(folder.env, "/d", "other").status().code() == StatusCode::kNotFound);
  CHECK(CheckTable(folder.env, "/nowhere", "every").status().code() == StatusCode::kNotFound);
  const std::vector<std::string> names = folder.env.List(CheckedFolder::kFolder).value();
  for (const std::string& name : names) {
    const std::string path = CheckedFolder::kFolder + "/" + name;
    const std::string bytes = folder.env.ReadFile(path).value();
    std::string flipped = bytes;
    flipped[64] = static_cast<char>(flipped[64] ^ 1);  // the first section
    REQUIRE(WriteFileAtomically(folder.env, path, flipped).ok());
    CHECK_THAT(folder.Check().status().text(), Contains(path));
    REQUIRE(folder.env.Remove(path).ok());
    CHECK_THAT(folder.Check().status().text(), Contains(path));
    REQUIRE(WriteFileAtomically(folder.env, path, bytes).ok());
  }
  CHECK(folder.Check().ok());
}

}  // namespace
}  // namespace stoa::storage
