#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "catalog_fixture.h"
#include "fake_vector_index.h"
#include "storage/base/fault_point.h"
#include "storage/base/faulty_env.h"
#include "storage/base/memory_env.h"
#include "storage/chunk/chunk_header.h"
#include "storage/table/catalog.h"
#include "storage/table/table_check.h"
#include "storage/table/table_files.h"
#include "table_fixture.h"

// Vector indexes of chunks through the whole life of a table, with a format that knows which vectors it was
// built of.
namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;
using testing::FakeVectorIndex;
using testing::FakeVectorIndexFormat;
using testing::MakeColumn;

constexpr uint32_t kDims = 3;

ColumnDefinition VectorColumn(const std::string& name, Engine engine) {
  ColumnDefinition column = MakeColumn(name, ColumnType::kFloatVector);
  column.knn = KnnOptions{.dims = kDims};
  column.engine = engine;
  return column;
}

// Of some ids some have no vector.
std::string VectorOf(uint64_t id, int version) {
  if (id % 7 == 0) {
    return "";
  }
  const float floats[kDims] = {static_cast<float>(id), static_cast<float>(version), 0.5f};
  return std::string(reinterpret_cast<const char*>(floats), sizeof(floats));
}

// A server with the table t: id, n int, r (row-wise vector), c (columnar vector).
struct Server : testing::CatalogInMemory {
  std::shared_ptr<FakeVectorIndexFormat> format = std::make_shared<FakeVectorIndexFormat>();

  explicit Server(bool with_table = true) {
    options.auto_optimize = 0;
    options.vector_index_format = format;
    Start();
    if (with_table) {
      TableDefinition definition;
      definition.name = "t";
      definition.columns = {MakeColumn("id", ColumnType::kId), MakeColumn("n", ColumnType::kInt),
                            VectorColumn("r", Engine::kRowwise), VectorColumn("c", Engine::kColumnar)};
      REQUIRE(catalog->Create(definition).status().ToString() == "ok");
    }
  }
  std::shared_ptr<Table> table() const { return catalog->Find("t"); }
  std::shared_ptr<const TableSnapshot> snapshot() const { return table()->Snapshot(); }

  Status Write(Change change) {
    const auto to = table();
    return catalog
        ->Commit({to},
                 [&](const auto&) {
                   return Result<WriteSet>(WriteSet{{to, std::move(change)}});
                 })
        .status();
  }
  // Every column but the id and `n`.
  std::vector<ColumnValues> Vectors(const std::vector<uint64_t>& ids, int version) const {
    std::vector<ColumnValues> columns;
    for (const ColumnDefinition& column : table()->definition()->columns) {
      if (column.type == ColumnType::kFloatVector) {
        ColumnValues& values = columns.emplace_back();
        values.column = column.id;
        values.type = column.type;
        for (const uint64_t id : ids) {
          values.AppendBytes(VectorOf(id, version));
        }
      }
    }
    return columns;
  }
  Status Replace(uint64_t first, uint64_t count, int version) {
    InsertRows change{.rows = {}, .replace = true};
    std::vector<uint64_t> ids;
    for (uint64_t id = first; id < first + count; ++id) {
      ids.push_back(id);
      change.rows.ids.emplace_back(id);
    }
    change.rows.columns = Vectors(ids, version);
    return Write(std::move(change));
  }
  Status Update(const std::vector<uint64_t>& ids, int version) {
    UpdateRows change;
    for (const uint64_t id : ids) {
      change.ids.emplace_back(id);
    }
    change.columns = Vectors(ids, version);
    return Write(std::move(change));
  }
  Status Delete(const std::vector<uint64_t>& ids) { return Write(testing::Delete(ids)); }

  void Chunk(uint64_t first, uint64_t count, int version = 0) {
    REQUIRE(Replace(first, count, version).ToString() == "ok");
    REQUIRE(catalog->FlushRamChunk("t").ToString() == "ok");
  }
  Status Merge() { return catalog->Optimize("t", {.cutoff = 1, .wait = true}); }
  std::string PathOf(uint64_t chunk, const std::string& suffix) const {
    return fmt::format("/data/t.t1/chunk.{}.{}", chunk, suffix);
  }
  Status CheckFiles() { return CheckTable(memory, "/data", "t", format).status(); }
};

// Every chunk has an index of every vector column, built of the vectors that its rows have, but for those
// that were patched since. Returns the number of indexes.
int CheckIndexes(const TableSnapshot& snapshot) {
  int count = 0;
  for (const auto& part : snapshot.parts) {
    for (const ColumnDefinition& column : snapshot.definition->columns) {
      if (!part->is_disk_chunk() || !column.knn.has_value()) {
        CHECK(part->vector_index(column) == nullptr);
        continue;
      }
      const auto* index = static_cast<const FakeVectorIndex*>(part->vector_index(column));
      REQUIRE(index != nullptr);
      REQUIRE(index->sums.size() == part->row_count());
      std::set<RowId> patched;
      for (const RowId row : part->PatchedRows(column.id)) {
        patched.insert(row);
      }
      const auto reader = part->Column(column).value();
      int stale = 0;
      for (uint32_t row = 0; row < part->row_count(); ++row) {
        ReadBuffer buffer;
        const RowId rows[] = {RowId(row)};
        std::string_view values[1];
        REQUIRE(reader->ReadBytes(rows, values, buffer).ok());
        const bool same = index->sums[row] == testing::SumOf(values[0]);
        stale += !same && !patched.contains(RowId(row)) ? 1 : 0;
      }
      CHECK(stale == 0);
      ++count;
    }
  }
  return count;
}

TEST_CASE("chunks have indexes of the vectors of their rows, after flush, merge and restart", "[storage]") {
  Server server;
  server.options.knn_parallel_build = 3;
  server.Restart();
  server.Chunk(1, 100);
  CHECK(server.format->threads == 3);
  REQUIRE(server.Delete({3, 4, 50}).ok());
  REQUIRE(server.Update({10, 11, 14, 100}, 5).ok());
  server.Chunk(101, 60);
  REQUIRE(server.Update({120}, 6).ok());
  CHECK(CheckIndexes(*server.snapshot()) == 4);
  CHECK(server.snapshot()->parts[0]->PatchedRows(ColumnId(2)) ==
        std::vector<RowId>{RowId(9), RowId(10), RowId(13), RowId(99)});
  CHECK(server.snapshot()->parts[0]->PatchedRows(ColumnId(1)).empty());
  server.Restart();
  CHECK(CheckIndexes(*server.snapshot()) == 4);
  CHECK(server.format->reused == 0);

  REQUIRE(server.Merge().ToString() == "ok");
  REQUIRE(server.snapshot()->parts.size() == 1);
  CHECK(CheckIndexes(*server.snapshot()) == 2);
  CHECK(server.snapshot()->parts[0]->row_count() == 157);
  CHECK(server.format->wrong == 0);
  CHECK(server.format->reused == 2 * (157 - 5));  // all but the updated rows
  CHECK(server.CheckFiles().ToString() == "ok");
  server.Crash();
  CHECK(CheckIndexes(*server.snapshot()) == 2);
}

TEST_CASE("what happens to vectors while their indexes are built is carried over", "[storage]") {
  Server server;
  server.Chunk(1, 80);
  server.Chunk(101, 80);
  REQUIRE(server.Delete({1, 2, 150}).ok());
  const bool merge = GENERATE(true, false);
  REQUIRE((merge || server.Replace(201, 40, 0).ok()));
  bool first = true;
  server.format->during_build = [&](const VectorIndexBuild&) {
    if (std::exchange(first, false)) {
      CHECK(server.Delete({5, 6, 160, 210}).ok());
      CHECK(server.Update({8, 9, 120, 121, 220}, 9).ok());
      CHECK(server.Replace(10, 2, 9).ok());
    }
  };
  const Status status = merge ? server.Merge() : server.catalog->FlushRamChunk("t");
  REQUIRE(status.ToString() == "ok");
  server.format->during_build = nullptr;
  CHECK(CheckIndexes(*server.snapshot()) == (merge ? 2 : 6));
  CHECK(server.format->wrong == 0);
  const auto row = server.snapshot()->FindDocument(DocId(merge ? 120 : 220)).value().value();
  const auto patched = server.snapshot()->parts[row.part]->PatchedRows(ColumnId(3));
  CHECK(std::count(patched.begin(), patched.end(), row.row) == 1);
  server.Crash();
  CHECK(CheckIndexes(*server.snapshot()) == (merge ? 2 : 6));
  REQUIRE(server.catalog->FlushRamChunk("t").ok());
  REQUIRE(server.Merge().ok());
  CHECK(CheckIndexes(*server.snapshot()) == 2);
  CHECK(server.format->wrong == 0);
}

TEST_CASE("random changes, flushes, merges and crashes leave every index as its rows are", "[storage]") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](uint32_t count) { return std::uniform_int_distribution(0u, count - 1)(random); };
  Server server;
  for (int step = 0; step < 250; ++step) {
    const uint32_t what = pick(20);
    std::vector<uint64_t> ids;
    for (uint32_t i = pick(20); i > 0; --i) {
      ids.push_back(1 + pick(300));
    }
    if (what < 7) {
      REQUIRE(server.Replace(1 + pick(280), 1 + pick(20), step).ok());
    } else if (what < 11) {
      REQUIRE(server.Update(ids, step).ok());
    } else if (what < 13) {
      REQUIRE(server.Delete(ids).ok());
    } else if (what < 16) {
      REQUIRE(server.catalog->FlushRamChunk("t").ok());
    } else if (what < 17) {
      REQUIRE(server.catalog->Optimize("t", {.cutoff = 1 + pick(3), .wait = true}).ok());
    } else if (what < 18) {
      server.Crash();
    } else {
      CheckIndexes(*server.snapshot());
    }
  }
  CHECK(server.format->wrong == 0);
}

TEST_CASE("all chunks of a table share the quantiser of the first that was trained", "[storage]") {
  Server server;
  server.Chunk(1, 5);  // too few
  CHECK(server.snapshot()->quantizer(ColumnId(2)) == nullptr);
  server.Chunk(11, 20);
  const auto quantizer = server.snapshot()->quantizer(ColumnId(2));
  REQUIRE(quantizer != nullptr);
  server.Chunk(101, 20);
  REQUIRE(server.Replace(201, 3, 0).ok());
  CHECK(server.snapshot()->quantizer(ColumnId(2)) == quantizer);
  CHECK(server.snapshot()->quantizer(ColumnId(3)) != quantizer);
  CHECK(server.snapshot()->quantizer(ColumnId(1)) == nullptr);
  const auto coded = std::static_pointer_cast<const testing::FakeQuantizer>(quantizer);
  CHECK(coded->encoded == 17 + 2);  // of 101 … 120 and 201 … 203 four have no vector
  const ColumnDefinition& column = server.table()->definition()->columns[2];
  CHECK(server.snapshot()->parts.back()->Codes(column, 0, quantizer).present[0] == 0b011);
  CHECK(server.format->trained == 2);
  REQUIRE(server.Merge().ok());
  CHECK(server.snapshot()->quantizer(ColumnId(2)) == quantizer);
  server.Crash();
  CHECK(server.snapshot()->quantizer(ColumnId(2))->id() == quantizer->id());
  CHECK(server.format->trained == 2);
  REQUIRE(server.catalog->Truncate("t").ok());
  CHECK(server.snapshot()->quantizer(ColumnId(2)) == nullptr);
}

TEST_CASE("a table loads without a vector index that is missing, damaged or older; a merge makes it again",
          "[storage]") {
  Server server;
  server.Chunk(1, 30);
  const std::string path = server.PathOf(1, "spknn");
  std::string bytes = server.memory.ReadFile(path).value();
  const std::string what = GENERATE("missing", "short", "damaged", "older");
  REQUIRE(server.catalog->Close().ok());
  server.catalog.reset();
  if (what == "missing") {
    REQUIRE(server.memory.Remove(path).ok());
  } else if (what == "short") {
    REQUIRE(WriteFileAtomically(server.memory, path, bytes.substr(0, bytes.size() - 64)).ok());
  } else if (what == "damaged") {
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    bytes[70] = static_cast<char>(bytes[70] ^ 1);
    REQUIRE(WriteFileAtomically(server.memory, path, bytes).ok());
  } else {
    server.format->version = server.format->oldest_version = 2;
  }
  INFO(what);
  const Status checked = server.CheckFiles();
  CHECK(checked.ok() == (what == "older"));
  CHECK((checked.ok() || checked.text().find("chunk.1.spknn") != std::string::npos));
  server.Start();
  CHECK(server.snapshot()->live_count() == 30);
  const ColumnDefinition& column = server.table()->definition()->columns[2];
  CHECK(server.snapshot()->parts[0]->vector_index(column) == nullptr);
  server.Chunk(101, 30);
  REQUIRE(server.Merge().ToString() == "ok");
  CHECK(CheckIndexes(*server.snapshot()) == 2);
  CHECK(server.CheckFiles().ToString() == "ok");
}

TEST_CASE("an index that cannot be built leaves the chunk without one, a full disk leaves the rows in memory",
          "[storage]") {
  Server server;
  server.format->failure = LimitError("no memory");
  server.Chunk(1, 30);
  const ColumnDefinition& column = server.table()->definition()->columns[2];
  REQUIRE(server.snapshot()->parts[0]->is_disk_chunk());
  CHECK(server.snapshot()->parts[0]->vector_index(column) == nullptr);
  CHECK_FALSE(server.memory.Exists(server.PathOf(1, "spknn")));
  CHECK(server.CheckFiles().ToString() == "ok");
  server.format->failure = IoError("disk full");
  REQUIRE(server.Replace(101, 30, 0).ok());
  CHECK(server.catalog->FlushRamChunk("t").code() == StatusCode::kIo);
  CHECK_FALSE(server.snapshot()->parts[1]->is_disk_chunk());
  server.format->failure = Status::Ok();
  server.Restart();
  CHECK(server.snapshot()->live_count() == 60);
  REQUIRE(server.catalog->RebuildVectorIndexes("t", nullptr).ToString() == "ok");
  REQUIRE(server.catalog->FlushRamChunk("t").ToString() == "ok");
  CHECK(CheckIndexes(*server.snapshot()) == 4);
}

TEST_CASE("faults while a vector index is written leave the rows and no file", "[storage]") {
  Server server;
  server.Chunk(1, 30);
  const auto files = [&] { return server.memory.List("/data/t.t1").value(); };
  for (const char* point : {"spknn.write", "chunk.rename", "env.append", "env.sync", "env.create"}) {
    bool done = false;
    for (int pass = 1; !done; ++pass) {
      REQUIRE(server.Replace(101, 20, pass).ok());
      REQUIRE(server.catalog->FlushTable("t").ok());
      const auto before = files();
      REQUIRE(FaultPoints::Arm(fmt::format("{}=fail@{}", point, pass)).ok());
      const Status status = server.Merge().ok() ? server.catalog->FlushRamChunk("t") : IoError("merge");
      REQUIRE(FaultPoints::Arm("").ok());
      done = status.ok();
      INFO(point << " " << pass);
      CHECK(server.snapshot()->live_count() == 50);
      for (const std::string& name : files()) {
        CHECK_FALSE(name.ends_with(".tmp"));
      }
      server.Crash();
      CHECK(server.snapshot()->live_count() == 50);
      CheckIndexes(*server.snapshot());
    }
  }
}

TEST_CASE("a cancelled rebuild leaves the old indexes", "[storage]") {
  Server server;
  server.Chunk(1, 30);
  CancelToken cancel;
  server.format->during_build = [&](const VectorIndexBuild& build) {
    cancel.Cancel();
    build.progress(1, 30);
    server.format->failure = build.cancel->Check();
  };
  CHECK(server.catalog->RebuildVectorIndexes("t", &cancel).code() == StatusCode::kCancelled);
  CHECK_FALSE(server.memory.Exists(server.PathOf(2, "spknn")));
  CHECK(CheckIndexes(*server.snapshot()) == 2);
  CHECK(server.snapshot()->quantizer(ColumnId(2))->id() == 1);
}

TEST_CASE("a rebuild makes every index anew, with one new quantiser for all", "[storage]") {
  Server server;
  server.Chunk(1, 30);
  server.Chunk(101, 60);
  server.Chunk(201, 20);
  REQUIRE(server.Update({5, 110}, 3).ok());
  const int reused = server.format->reused;
  const uint64_t before = server.snapshot()->quantizer(ColumnId(2))->id();
  bool first = true;
  server.format->during_build = [&](const VectorIndexBuild& build) {
    CHECK(build.sources.empty());
    CHECK((build.quantizer == nullptr) == (build.row_count == 60));
    if (std::exchange(first, false)) {
      CHECK(server.Update({120}, 4).ok());
    }
  };
  REQUIRE(server.catalog->RebuildVectorIndexes("t", nullptr).ToString() == "ok");
  server.format->during_build = nullptr;
  CHECK(server.format->reused == reused);
  CHECK(server.snapshot()->parts.size() == 3);
  CHECK(CheckIndexes(*server.snapshot()) == 6);
  const uint64_t after = server.snapshot()->quantizer(ColumnId(2))->id();
  CHECK(after != before);
  const ColumnDefinition& column = server.table()->definition()->columns[2];
  for (const auto& part : server.snapshot()->parts) {
    CHECK(part->vector_index(column)->quantizer()->id() == after);
  }
  server.Crash();
  CHECK(CheckIndexes(*server.snapshot()) == 6);
  CHECK(server.snapshot()->quantizer(ColumnId(2))->id() == after);
  CHECK(server.catalog->RebuildVectorIndexes("x", nullptr).code() == StatusCode::kNotFound);
}

TEST_CASE("a vector column that is added, dropped or added again: older chunks have no index of it",
          "[storage]") {
  Server server(false);
  TableDefinition definition;
  definition.name = "t";
  definition.columns = {MakeColumn("id", ColumnType::kId), MakeColumn("n", ColumnType::kInt)};
  REQUIRE(server.catalog->Create(definition).status().ok());
  CHECK(server.catalog->RebuildVectorIndexes("t", nullptr).text() == "table 't' has no vector index");
  server.Chunk(1, 20);
  server.Chunk(101, 20);
  const Engine engine = GENERATE(Engine::kRowwise, Engine::kColumnar);
  const auto add = [&](TableDefinition& to) {
    to.columns.push_back(VectorColumn("v", engine));
    return Status::Ok();
  };
  REQUIRE(server.catalog->Alter("t", add).ok());
  const auto column = [&] { return server.table()->definition()->columns.back(); };
  server.Restart();
  CHECK(server.snapshot()->live_count() == 40);
  CHECK(server.snapshot()->parts[0]->vector_index(column()) == nullptr);
  REQUIRE(server.Update({1, 2, 3}, 1).ok());
  CHECK(server.snapshot()->parts[0]->PatchedRows(column().id).size() == 3);
  REQUIRE(server.Merge().ok());
  server.Restart();
  CHECK(CheckIndexes(*server.snapshot()) == 1);
  const ColumnId old = column().id;
  REQUIRE(server.catalog
              ->Alter("t",
                      [](TableDefinition& from) {
                        from.columns.pop_back();
                        return Status::Ok();
                      })
              .ok());
  REQUIRE(server.catalog->Alter("t", add).ok());
  CHECK(column().id != old);
  CHECK(server.snapshot()->parts[0]->vector_index(column()) == nullptr);
  CHECK(server.snapshot()->quantizer(column().id) == nullptr);
  REQUIRE(server.Replace(5, 20, 2).ok());
  server.Crash();
  CHECK(server.snapshot()->parts[0]->vector_index(column()) == nullptr);
  REQUIRE(server.catalog->RebuildVectorIndexes("t", nullptr).ok());
  REQUIRE(server.catalog->FlushRamChunk("t").ok());
  CHECK(CheckIndexes(*server.snapshot()) == 2);
  CHECK(server.format->wrong == 0);
}

TEST_CASE("the file of the vector indexes is told, copied, taken over and removed with its chunk",
          "[storage]") {
  Server server;
  server.Chunk(1, 30);
  const auto has = [&](const std::string& name) {
    const auto files = server.catalog->Statistics(*server.table()).files;
    return std::any_of(files.begin(), files.end(),
                       [&](const ChunkFileInfo& file) { return file.name.ends_with(name); });
  };
  CHECK(has("chunk.1.spknn"));
  const int opens = server.format->opens;
  const std::string backup = server.catalog->Backup({"t"}, "/backup", nullptr).value();
  CHECK(server.memory.Exists(backup + "/t.t1/chunk.1.spknn"));
  REQUIRE(server.catalog
              ->Alter("t",
                      [](TableDefinition& definition) {
                        definition.settings["access_columnar_attrs"] = "file";
                        return Status::Ok();
                      })
              .ok());
  CHECK(CheckIndexes(*server.snapshot()) == 2);
  CHECK(server.format->opens == opens);
  server.Chunk(101, 30);
  REQUIRE(server.Merge().ok());
  CHECK_FALSE(server.memory.Exists(server.PathOf(1, "spknn")));
  CHECK(has("chunk.3.spknn"));
  REQUIRE(server.catalog->Drop("t").ok());
  REQUIRE(server.catalog->Import("t", backup + "/t.t1").ToString() == "ok");
  CHECK(CheckIndexes(*server.snapshot()) == 2);
  // A server that builds none reads the table all the same.
  server.options.vector_index_format = nullptr;
  server.Restart();
  CHECK(server.snapshot()->live_count() == 30);
  CHECK(server.snapshot()->quantizer(ColumnId(2)) == nullptr);
  CHECK(CheckTable(server.memory, "/data", "t").status().ToString() == "ok");
}

}  // namespace
}  // namespace stoa::storage
