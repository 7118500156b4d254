#include "storage/chunk/document_index.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "storage/base/memory_env.h"
#include "storage/chunk/block_filter.h"
#include "storage/chunk/document_index_format.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;

class IdInput : public ColumnInput {
 public:
  explicit IdInput(const std::vector<uint64_t>& ids) : ids_(ids) {}
  uint32_t row_count() const override { return static_cast<uint32_t>(ids_.size()); }
  Status Rewind() override {
    done_ = 0;
    return Status::Ok();
  }
  Result<const ColumnValues*> Next() override {
    piece_.ints.clear();
    for (; done_ < ids_.size() && piece_.ints.size() < 2'048; ++done_) {
      piece_.ints.push_back(static_cast<int64_t>(ids_[done_]));
    }
    return piece_.ints.empty() ? nullptr : &piece_;
  }

 private:
  std::vector<uint64_t> ids_;
  size_t done_ = 0;
  ColumnValues piece_{.type = ColumnType::kId};
};

class IndexFile {
 public:
  IndexFile() { REQUIRE(env.MakeFolder("/t").ok()); }

  Status Write(const std::vector<uint64_t>& ids) {
    IdInput input(ids);
    auto file = env.Create(kPath);
    return DocumentIndex::Write(input, **file, ChunkId(7));
  }
  std::shared_ptr<const DocumentIndex> WriteAndOpen(const std::vector<uint64_t>& ids) {
    REQUIRE(Write(ids).ToString() == "ok");
    auto index = DocumentIndex::Open(env, kPath, ChunkId(7));
    REQUIRE(index.status().ToString() == "ok");
    return *index;
  }

  const std::string kPath = "/t/chunk.7.spt";
  MemoryEnv env;
};

void CheckFindsAll(const std::vector<uint64_t>& ids) {
  IndexFile files;
  const auto index = files.WriteAndOpen(ids);
  REQUIRE(index->row_count() == ids.size());
  for (uint32_t row = 0; row < ids.size(); ++row) {
    REQUIRE(index->Find(DocId(ids[row])).value() == RowId(row));
  }
  const std::set<uint64_t> known(ids.begin(), ids.end());
  REQUIRE(index->min_id().value == *known.begin());
  REQUIRE(index->max_id().value == *known.rbegin());
  for (const uint64_t id : ids) {
    for (const uint64_t near : {id - 1, id + 1, id ^ 0x8000}) {
      REQUIRE(index->Find(DocId(near)).value().has_value() == known.contains(near));
    }
  }
  IdInput input(ids);
  CHECK(index->Check(input).ToString() == "ok");
}

std::vector<uint64_t> Shuffled(std::vector<uint64_t> ids) {
  std::shuffle(ids.begin(), ids.end(), std::mt19937(4));
  return ids;
}

std::vector<uint64_t> Every(uint64_t step, uint64_t first, size_t count) {
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < count; ++i) {
    ids.push_back(first + i * step);
  }
  return ids;
}

TEST_CASE("every document of a chunk is found and no other", "[storage]") {
  for (const size_t count : {size_t{1}, size_t{2}, size_t{255}, size_t{256}, size_t{257}, size_t{3'000}}) {
    CAPTURE(count);
    CheckFindsAll(Every(1, 1, count));
    CheckFindsAll(Every(3, 1'000, count));
    CheckFindsAll(Shuffled(Every(1, 5, count)));
    CheckFindsAll(Shuffled(Every(7, 5, count)));
    CheckFindsAll(Every(1, UINT64_MAX - count, count));
  }
}

TEST_CASE("ids of any width are found", "[storage]") {
  std::mt19937_64 random(9);
  for (uint32_t bits = 12; bits <= 64; bits += 1) {
    CAPTURE(bits);
    std::set<uint64_t> ids = {1};
    while (ids.size() < 600) {
      ids.insert(random() >> (64 - bits) | 1);
    }
    CheckFindsAll(Shuffled({ids.begin(), ids.end()}));
  }
  CheckFindsAll({UINT64_MAX, 1});
}

TEST_CASE("an index of no rows finds nothing", "[storage]") {
  IndexFile files;
  const auto index = files.WriteAndOpen({});
  CHECK(index->row_count() == 0);
  CHECK_FALSE(index->Find(DocId(1))->has_value());
  CHECK_FALSE(index->Find(DocId(UINT64_MAX))->has_value());
}

TEST_CASE("ids and rows without gaps take no more than the directory", "[storage]") {
  IndexFile files;
  const auto index = files.WriteAndOpen(Every(1, 1'000'000, 100'000));
  CHECK(index->file().size() < 100'000 / kIdBlockRows * 25 + 1'000);
  CHECK(index->ram_bytes() < 100'000 / kIdBlockRows * 25 + 1'000);
}

TEST_CASE("a document id twice is not written", "[storage]") {
  IndexFile files;
  CHECK(files.Write({3, 1, 3}).ToString() == "internal: document id 3 twice in a chunk");
  CHECK(files.Write({3, 3}).code() == StatusCode::kInternal);
}

TEST_CASE("of absent ids about one in 200 passes the filter, present ones all do", "[storage]") {
  constexpr uint64_t kIds = 20'000;
  std::string filter(FilterLines(kIds) * kFilterLine, '\0');
  const auto line = [&](uint64_t id) {
    return filter.data() + FilterOffset(FilterHash(DocId(id)), FilterLines(kIds));
  };
  for (uint64_t id = 0; id < kIds; ++id) {
    AddToFilter(FilterHash(DocId(id * 10)), line(id * 10));
  }
  uint64_t passed = 0;
  for (uint64_t id = 0; id < kIds; ++id) {
    REQUIRE(MayContain(FilterHash(DocId(id * 10)), line(id * 10)));
    passed += MayContain(FilterHash(DocId(id * 10 + 1)), line(id * 10 + 1)) ? 1 : 0;
  }
  CHECK(passed < kIds / 120);
}

TEST_CASE("an index of other ids than the chunk's does not pass its check", "[storage]") {
  IndexFile files;
  const auto index = files.WriteAndOpen({5, 9, 7});
  IdInput swapped({9, 5, 7});
  CHECK_THAT(index->Check(swapped).ToString(), Contains("document 9 of row 0 is in row 1"));
  IdInput other({5, 9, 8});
  CHECK_THAT(index->Check(other).ToString(), Contains("document 8 of row 2 is missing"));
  IdInput fewer({5, 9});
  CHECK_THAT(index->Check(fewer).ToString(), Contains("3 rows, the chunk has 2"));
}

TEST_CASE("a document index of another chunk is refused", "[storage]") {
  IndexFile files;
  REQUIRE(files.Write({1, 2}).ok());
  CHECK_THAT(DocumentIndex::Open(files.env, files.kPath, ChunkId(8)).status().ToString(),
             Contains("is of chunk 7, not 8"));
}

TEST_CASE("a flipped bit is found when a lookup comes by, or at the start", "[storage]") {
  IndexFile files;
  const std::vector<uint64_t> ids = Shuffled(Every(7, 5, 3'000));
  REQUIRE(files.Write(ids).ok());
  const std::string good = files.env.ReadFile(files.kPath).value();
  for (size_t at = 0; at < good.size(); at += 13) {
    std::string bad = good;
    bad[at] ^= 4;
    REQUIRE(WriteFileAtomically(files.env, files.kPath, bad).ok());
    const auto index = DocumentIndex::Open(files.env, files.kPath, ChunkId(7));
    if (!index.ok()) {
      continue;
    }
    IdInput input(ids);
    REQUIRE_FALSE((*index)->Check(input).ok());
    for (uint32_t row = 0; row < 20; ++row) {
      const auto found = (*index)->Find(DocId(ids[row]));
      REQUIRE((!found.ok() || *found == RowId(row)));
    }
  }
}

// Frames sections that a writer would not write; ids 5 and 6 in rows 0 and 1 when nothing is changed.
struct Sections {
  std::vector<uint64_t> info = {2, 5, 6};
  IdBlock block{.first = 5};
  uint16_t reserved = 0;
  std::string ids;

  Result<std::optional<RowId>> Find(uint64_t id) const {
    MemoryEnv env;
    REQUIRE(env.MakeFolder("/t").ok());
    auto file = env.Create("/t/x");
    SectionFileWriter writer(**file, kDocumentIndexKind, 7);
    std::string bytes(24, '\0');
    std::memcpy(bytes.data(), info.data(), 24);
    REQUIRE(writer.AddSection(1, 0, bytes).ok());
    REQUIRE(writer.AddSection(3, 0, ids).ok());
    std::memcpy(bytes.data(), &block.first, 8);
    std::memcpy(bytes.data() + 8, &block.offset, 8);
    std::memcpy(bytes.data() + 16, &block.row, 4);
    bytes[20] = static_cast<char>(block.id_width);
    bytes[21] = static_cast<char>(block.row_width);
    std::memcpy(bytes.data() + 22, &reserved, 2);
    REQUIRE(writer.AddSection(2, 0, bytes).ok());
    REQUIRE(writer.Finish().ok());
    ASSIGN_OR_RETURN(const auto index, DocumentIndex::Open(env, "/t/x", ChunkId(7)));
    return index->Find(DocId(id));
  }
};

TEST_CASE("a document index that contradicts itself is corrupt", "[storage]") {
  CHECK(Sections().Find(6).value() == RowId(1));
  CHECK_THAT((Sections{.info = {2, 6, 5}}.Find(5).status().ToString()), Contains("2 rows with ids 6 to 5"));
  CHECK(Sections{.info = {3, 5, 6}}.Find(5).status().code() == StatusCode::kCorrupt);
  CHECK(Sections{.info = {1'000, 5, 1'004}}.Find(5).status().code() == StatusCode::kCorrupt);
  CHECK_THAT((Sections{.info = {2, 5, 9}}.Find(5).status().ToString()), Contains("section 4.0 is missing"));
  CHECK(Sections{.block = {.first = 4}}.Find(5).status().code() == StatusCode::kCorrupt);
  CHECK(Sections{.block = {.first = 5, .id_width = 57}}.Find(5).status().code() == StatusCode::kCorrupt);
  CHECK(Sections{.block = {.first = 5, .row_width = 33}}.Find(5).status().code() == StatusCode::kCorrupt);
  CHECK(Sections{.reserved = 1}.Find(5).status().code() == StatusCode::kCorrupt);
  CHECK_THAT((Sections{.block = {.first = 5, .offset = 1}}.Find(5).status().ToString()),
             Contains("crosses the end of the ids"));
  CHECK_THAT((Sections{.block = {.first = 5, .offset = UINT64_MAX}}.Find(5).status().ToString()),
             Contains("crosses the end of the ids"));
  CHECK_THAT((Sections{.block = {.first = 5, .row = 1}}.Find(6).status().ToString()),
             Contains("document 6 is in row 2 of 2"));
  CHECK_THAT((Sections{.block = {.first = 5, .row = UINT32_MAX}}.Find(6).status().ToString()),
             Contains("document 6 is in row 4294967296 of 2"));
}

TEST_CASE("a document index of format version 1 is read, and written the same", "[storage]") {
  const std::string path = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/spt/v1/chunk.7.spt";
  const auto index = DocumentIndex::Open(Env::Posix(), path, ChunkId(7));
  REQUIRE(index.status().ToString() == "ok");
  const std::vector<uint64_t> ids = {10, 14, 12, 30};
  IdInput input(ids);
  CHECK((*index)->Check(input).ToString() == "ok");
  IndexFile files;
  REQUIRE(files.Write(ids).ok());
  CHECK(files.env.ReadFile(files.kPath).value() == Env::Posix().ReadFile(path).value());
}

}  // namespace
}  // namespace stoa::storage
