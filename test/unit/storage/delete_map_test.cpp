#include "storage/chunk/delete_map.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "storage/base/fault_point.h"
#include "storage/base/memory_env.h"
#include "storage/chunk/chunk_view.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;

std::shared_ptr<const DeleteMap> MapOf(const std::set<uint32_t>& rows) {
  DeleteMapEdit edit(std::make_shared<const DeleteMap>());
  for (const uint32_t row : rows) {
    edit.Add(RowId(row));
  }
  return edit.Finish();
}

std::set<uint32_t> RowsOf(const DeleteMap& map, uint32_t row_count) {
  std::set<uint32_t> rows;
  for (uint32_t row = 0; row < row_count; ++row) {
    if (map.Contains(RowId(row))) {
      rows.insert(row);
    }
  }
  return rows;
}

TEST_CASE("a delete leaves older maps as they are and copies only its page", "[storage]") {
  const auto before = MapOf({1, 40'000, 100'000});
  DeleteMapEdit edit(before);
  CHECK(edit.Add(RowId(40'001)));
  CHECK_FALSE(edit.Add(RowId(1)));
  const auto after = edit.Finish();
  CHECK(RowsOf(*before, 120'000) == std::set<uint32_t>{1, 40'000, 100'000});
  CHECK(RowsOf(*after, 120'000) == std::set<uint32_t>{1, 40'000, 40'001, 100'000});
  CHECK(after->count() == 4);
  CHECK(before->PageWords(0) == after->PageWords(0));
  CHECK(before->PageWords(1) != after->PageWords(1));
  CHECK(before->PageWords(2) == nullptr);
  CHECK(before->PageWords(3) == after->PageWords(3));
}

TEST_CASE("an edit that adds nothing gives the map it began with", "[storage]") {
  const auto before = MapOf({7});
  DeleteMapEdit edit(before);
  edit.Add(RowId(7));
  edit.AddWord(0, 1u << 7);
  edit.AddRange(9, 9);
  CHECK(edit.Finish() == before);
}

TEST_CASE("a range of rows is deleted word by word", "[storage]") {
  DeleteMapEdit edit(MapOf({100, 65'535}));
  edit.AddRange(63, 65'537);
  const auto map = edit.Finish();
  CHECK(map->count() == 65'537 - 63);
  CHECK_FALSE(map->Contains(RowId(62)));
  CHECK(map->Contains(RowId(63)));
  CHECK(map->Contains(RowId(65'536)));
  CHECK_FALSE(map->Contains(RowId(65'537)));
  CHECK(map->Word(0) == uint64_t{1} << 63);
}

TEST_CASE("the last rows of the largest chunk can be deleted", "[storage]") {
  const auto map = MapOf({UINT32_MAX - 1, UINT32_MAX});
  CHECK(map->count() == 2);
  CHECK(map->Contains(RowId(UINT32_MAX)));
  CHECK_FALSE(map->Contains(RowId(UINT32_MAX - 2)));
}

class DeleteMapFile {
 public:
  DeleteMapFile() { REQUIRE(env.MakeFolder("/t").ok()); }
  Result<std::shared_ptr<const DeleteMap>> WriteAndRead(const DeleteMap& map, uint32_t row_count) {
    RETURN_IF_ERROR(WriteDeleteMap(env, "/t", ChunkId(7), 3, map));
    return ReadDeleteMap(env, "/t", ChunkId(7), 3, row_count);
  }
  MemoryEnv env;
};

TEST_CASE("a delete map is read as it was written, sparse and dense pages alike", "[storage]") {
  DeleteMapFile files;
  std::mt19937 random(5);
  std::set<uint32_t> rows = {0, 32'767, 300'000};
  while (rows.size() < 20'000) {
    rows.insert(65'536 + static_cast<uint32_t>(random() % 65'536));
  }
  for (uint32_t row = 200'000; row < 202'048; ++row) {  // the fewest rows that are written as bits
    rows.insert(row);
  }
  const auto map = files.WriteAndRead(*MapOf(rows), 300'001);
  REQUIRE(map.status().ToString() == "ok");
  CHECK(RowsOf(**map, 300'001) == rows);
  CHECK((*map)->count() == rows.size());
  CHECK((*files.WriteAndRead(DeleteMap(), 0))->count() == 0);
}

TEST_CASE("a delete map of another chunk, generation or size is refused", "[storage]") {
  DeleteMapFile files;
  std::set<uint32_t> dense;
  for (uint32_t row = 40'000; row < 43'000; ++row) {
    dense.insert(row);
  }
  for (const auto& rows : {std::set<uint32_t>{1, 50'000}, dense}) {
    REQUIRE(files.WriteAndRead(*MapOf(rows), 60'000).ok());
    CHECK(ReadDeleteMap(files.env, "/t", ChunkId(7), 3, *rows.rbegin() + 1).ok());
    for (const uint32_t too_few : {0u, 1u, 32'768u, *rows.rbegin()}) {
      CHECK(ReadDeleteMap(files.env, "/t", ChunkId(7), 3, too_few).status().code() == StatusCode::kCorrupt);
    }
  }
  REQUIRE(files.env.Rename("/t/chunk.7.spm.3", "/t/chunk.7.spm.4").ok());
  CHECK_THAT(ReadDeleteMap(files.env, "/t", ChunkId(7), 4, 60'000).status().ToString(),
             Contains("chunk.7.spm.4: is of generation 3, not 4"));
  REQUIRE(files.env.Rename("/t/chunk.7.spm.4", "/t/chunk.8.spm.3").ok());
  CHECK_THAT(ReadDeleteMap(files.env, "/t", ChunkId(8), 3, 60'000).status().ToString(),
             Contains("is of chunk 7, not 8"));
}

// The sections of a delete map with a right frame around wrong contents.
Status ReadFramed(const std::string& pages, uint64_t count) {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/t").ok());
  auto file = env.Create("/t/chunk.7.spm.3");
  SectionFileWriter writer(**file, {{'S', 'P', 'M', ' '}, kDeleteMapFormat}, 7);
  std::string info(16, '\0');
  info[0] = 3;
  std::memcpy(info.data() + 8, &count, sizeof(count));
  REQUIRE(writer.AddSection(1, 0, info).ok());
  REQUIRE(writer.AddSection(2, 0, pages).ok());
  REQUIRE(writer.Finish().ok());
  return ReadDeleteMap(env, "/t", ChunkId(7), 3, 100'000).status();
}

TEST_CASE("a delete map that contradicts itself is corrupt", "[storage]") {
  const auto page = [](uint32_t number, uint32_t count, std::vector<uint16_t> rows) {
    std::string bytes(8 + rows.size() * 2, '\0');
    std::memcpy(bytes.data(), &number, 4);
    std::memcpy(bytes.data() + 4, &count, 4);
    bytes.replace(8, rows.size() * 2, reinterpret_cast<const char*>(rows.data()), rows.size() * 2);
    return bytes;
  };
  CHECK(ReadFramed(page(0, 2, {4, 5}), 2).ToString() == "ok");
  CHECK_THAT(ReadFramed(page(0, 2, {4, 5}), 3).ToString(), Contains("2 rows, not 3"));
  CHECK_THAT(ReadFramed(page(0, 2, {5, 5}), 2).ToString(), Contains("does not ascend"));
  CHECK_THAT(ReadFramed(page(0, 1, {32'768}), 1).ToString(), Contains("row 32768 of page 0"));
  CHECK_THAT(ReadFramed(page(3, 1, {1'696}), 1).ToString(), Contains("none of 100000 rows"));
  CHECK_THAT(ReadFramed(page(4, 1, {0}), 1).ToString(), Contains("page 4"));
  CHECK_THAT(ReadFramed(page(0, 0, {}), 0).ToString(), Contains("a page with 0 rows"));
  CHECK_THAT(ReadFramed(page(1, 1, {3}) + page(1, 1, {4}), 2).ToString(), Contains("page 1 behind page 2"));
  CHECK(ReadFramed(page(0, 2, {4}), 2).code() == StatusCode::kCorrupt);
  CHECK(ReadFramed(page(0, 2, {4, 5}).substr(0, 7), 2).code() == StatusCode::kCorrupt);
  std::string bits = page(0, 2'048, std::vector<uint16_t>(2'048, 0));
  CHECK_THAT(ReadFramed(bits, 2'048).ToString(), Contains("has 0 rows, not 2048"));
}

TEST_CASE("writing a delete map that fails leaves no file behind", "[storage]") {
  DeleteMapFile files;
  for (const char* point : {"spm.write", "spm.rename"}) {
    REQUIRE(FaultPoints::Arm(std::string(point) + "=fail").ok());
    CHECK(WriteDeleteMap(files.env, "/t", ChunkId(7), 3, *MapOf({1})).code() == StatusCode::kIo);
    REQUIRE(FaultPoints::Arm("").ok());
    CHECK(files.env.List("/t")->empty());
  }
}

TEST_CASE("a delete map of format version 1 is read, and written the same", "[storage]") {
  const std::string folder = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/spm/v1";
  const auto map = ReadDeleteMap(Env::Posix(), folder, ChunkId(7), 3, 40'000);
  REQUIRE(map.status().ToString() == "ok");
  std::set<uint32_t> expected = {1, 5, 34'818};
  for (uint32_t row = 32'768; row < 34'816; ++row) {
    expected.insert(row);
  }
  CHECK(RowsOf(**map, 40'000) == expected);
  DeleteMapFile files;
  REQUIRE(files.WriteAndRead(**map, 40'000).ok());
  CHECK(files.env.ReadFile("/t/chunk.7.spm.3").value() ==
        Env::Posix().ReadFile(folder + "/chunk.7.spm.3").value());
}

}  // namespace
}  // namespace stoa::storage
