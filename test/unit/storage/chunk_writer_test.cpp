#include <catch2/catch.hpp>

#include "chunk_fixture.h"
#include "storage/base/fault_point.h"
#include "storage/base/faulty_env.h"
#include "storage/chunk/part_column_input.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;
using testing::EveryType;
using testing::InputOf;
using testing::TableOf;
using testing::Without;

// Rows without values, as many as asked for.
class CountedPart : public TablePart {
 public:
  explicit CountedPart(uint32_t rows) : rows_(rows) {}
  uint32_t row_count() const override { return rows_; }
  const DeleteMap& deleted() const override { return deleted_; }
  Result<std::optional<RowId>> FindDocument(DocId) const override { return std::optional<RowId>(); }
  Result<std::unique_ptr<ColumnReader>> Column(const ColumnDefinition&) const override {
    return InternalError("no columns");
  }
  bool is_disk_chunk() const override { return false; }
  uint64_t ram_bytes() const override { return 0; }

 private:
  uint32_t rows_;
  DeleteMap deleted_;
};

std::vector<std::string> FilesOf(Env& env) { return env.List("/t").value(); }

TEST_CASE("file names of a chunk tell their chunk, other names none", "[storage]") {
  CHECK(ChunkFileName(ChunkId(7), "spc") == "chunk.7.spc");
  for (const char* name : {"chunk.7.spc", "chunk.7.spm.3", "chunk.7.spc.tmp", "chunk.7.spm.12.tmp"}) {
    CHECK(ChunkOfFileName(name) == ChunkId(7));
  }
  CHECK(ChunkOfFileName("chunk.18446744073709551615.sph") == ChunkId(UINT64_MAX));
  for (const char* name : {"chunk.7", "chunk.7.", "chunk..spc", "chunk.07.spc", "chunk.-7.spc", "chunk.7.txt",
                           "chunk.7.spm.", "chunk.7.spm.x", "chunk.7.spm.03", "chunk.7.spc.bak", "ram.7", "",
                           "chunk.18446744073709551616.sph", "chunk.7spc", "xchunk.7.spc"}) {
    INFO(name);
    CHECK_FALSE(ChunkOfFileName(name).has_value());
  }
}

TEST_CASE("an input gives the live rows of its parts in whole blocks, as often as asked", "[storage]") {
  const TableDefinition definition = testing::MakeDefinition("t");
  std::vector<std::shared_ptr<const TablePart>> parts;
  std::vector<int64_t> expected;
  for (const auto& [first, count] : {std::pair<uint64_t, uint64_t>{1, 1500}, {5001, 33}, {6001, 40000}}) {
    std::vector<uint64_t> ids;
    std::vector<uint64_t> dead;
    for (uint64_t id = first; id < first + count; ++id) {
      ids.push_back(id);
      if (first != 5001 && (id % 3 == 0 || (id > 7000 && id < 9000))) {
        dead.push_back(id);
      } else {
        expected.push_back(static_cast<int64_t>(id));
      }
    }
    HeadBuilder builder(testing::EmptyTable(definition));
    for (size_t from = 0; from < ids.size(); from += 1000) {
      const size_t to = std::min(ids.size(), from + 1000);
      const std::vector<uint64_t> some(ids.begin() + int64_t(from), ids.begin() + int64_t(to));
      REQUIRE(builder.Insert(testing::Insert(some, 1)).ok());
    }
    const auto table = Without(builder.Finish().value(), dead);
    parts.insert(parts.end(), table->parts.begin(), table->parts.end());
  }
  const PartRows rows(parts);
  REQUIRE(rows.count() == expected.size());
  uint64_t reported = 0;
  InputProgress progress(nullptr, [&](uint64_t done, uint64_t) { reported = done; });
  PartColumnInput ids(rows, definition.columns[0], &progress);
  PartColumnInput texts(rows, definition.columns[4], nullptr);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<int64_t> found;
    REQUIRE(ids.Rewind().ok());
    while (const ColumnValues* piece = ids.Next().value()) {
      found.insert(found.end(), piece->ints.begin(), piece->ints.end());
      CHECK((piece->size() % kBlockRows == 0 || found.size() == expected.size()));
      CHECK(piece->size() <= 65536);
    }
    CHECK(found == expected);
    CHECK(reported == expected.size());
  }
  size_t count = 0;
  while (const ColumnValues* piece = texts.Next().value()) {
    count += piece->size();
    CHECK((piece->size() % kBlockRows == 0 || count == expected.size()));
    CHECK(piece->BytesAt(piece->size() - 1) == "text 1");
  }
  CHECK(count == expected.size());
}

TEST_CASE("a chunk of no row, or of too many, is refused", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/t").ok());
  auto table = TableOf(EveryType("columnar"), 1, 3);
  CHECK(WriteChunk(env, "/t", InputOf(*Without(table, {1, 2, 3}), 1)).code() == StatusCode::kInvalid);
  ChunkWriteInput input = InputOf(*table, 1);
  input.parts.assign(2, std::make_shared<CountedPart>(1u << 31));
  const Status status = WriteChunk(env, "/t", input);
  CHECK(status.code() == StatusCode::kLimit);
  CHECK_THAT(status.text(), Contains("4294967294") && Contains("4294967296"));
  CHECK(FilesOf(env).empty());
}

TEST_CASE("a chunk that cannot be written leaves no file", "[storage]") {
  MemoryEnv memory;
  REQUIRE(memory.MakeFolder("/t").ok());
  FaultyEnv env(memory);
  const std::string engine = GENERATE("rowwise", "columnar");
  const auto table = TableOf(EveryType(engine), 1, 2000);
  for (const char* point : {"chunk.write", "chunk.rename", "chunk.after", "env.append", "env.append.torn",
                            "env.sync", "env.create", "env.rename"}) {
    uint64_t pass = 1;
    for (;; ++pass) {
      REQUIRE(FaultPoints::Arm(fmt::format("{}=full@{}", point, pass)).ok());
      const Status status = WriteChunk(env, "/t", InputOf(*table, 9));
      REQUIRE(FaultPoints::Arm("").ok());
      if (status.ok()) {
        break;
      }
      CHECK(status.code() == StatusCode::kIo);
      CHECK(FilesOf(memory).empty());
    }
    INFO(point);
    CHECK(pass > 1);
    REQUIRE(RemoveChunkFiles(env, "/t", ChunkId(9)).ok());
    CHECK(FilesOf(memory).empty());
  }
}

TEST_CASE("a cancelled chunk leaves no file, and progress ends at the total", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/t").ok());
  const auto table = TableOf(EveryType("columnar"), 1, 5000);
  ChunkWriteInput input = InputOf(*table, 4);
  CancelToken cancel;
  input.cancel = &cancel;
  uint64_t last = 0;
  uint64_t total = 0;
  input.progress = [&](uint64_t done, uint64_t of) {
    last = done;
    total = of;
    if (done > of / 2) {
      cancel.Cancel();
    }
  };
  CHECK(WriteChunk(env, "/t", input).code() == StatusCode::kCancelled);
  CHECK(FilesOf(env).empty());
  CHECK(last < total);
  input.cancel = nullptr;
  REQUIRE(WriteChunk(env, "/t", input).ToString() == "ok");
  CHECK(last == total);
}

TEST_CASE("a chunk survives the loss of what was not synced", "[storage]") {
  MemoryEnv memory;
  FaultyEnv env(memory);
  REQUIRE(env.MakeFolder("/t").ok());
  const auto table = TableOf(EveryType("rowwise"), 1, 100);
  REQUIRE(WriteChunk(env, "/t", InputOf(*table, 4)).ToString() == "ok");
  REQUIRE(env.DropUnsynced().ok());
  const auto chunk = DiskChunk::Open(memory, "/t", ChunkId(4), {});
  REQUIRE(chunk.status().ToString() == "ok");
  CHECK((*chunk)->Check().ToString() == "ok");
}

}  // namespace
}  // namespace stoa::storage
