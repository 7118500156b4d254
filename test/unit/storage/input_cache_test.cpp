#include "storage/chunk/input_cache.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/temporary_folder.h"
#include "chunk_fixture.h"
#include "storage/chunk/chunk_view.h"

namespace stoa::storage {
namespace {

using testing::MakeColumn;
using testing::TableOf;

constexpr uint64_t kRows = 60'000;

TableDefinition Numbers() {
  TableDefinition definition;
  definition.id = TableId(1);
  definition.name = "numbers";
  definition.settings = {{"engine", "columnar"}};
  definition.setting_order = {"engine"};
  definition.columns.push_back(MakeColumn("id", ColumnType::kId, 0));
  for (uint32_t i = 1; i <= 6; ++i) {
    definition.columns.push_back(MakeColumn("b" + std::to_string(i), ColumnType::kBigint, i));
  }
  definition.next_column_id = 7;
  return definition;
}

std::shared_ptr<const DiskChunk> Open(const std::string& folder, uint64_t id, AccessMode mode) {
  return DiskChunk::Open(Env::Posix(), folder, ChunkId(id), {.columnar_access = mode}).value();
}

std::shared_ptr<const TablePart> ViewOf(std::shared_ptr<const DiskChunk> chunk) {
  return std::make_shared<ChunkView>(ChunkView::State{std::move(chunk), std::make_shared<const DeleteMap>(),
                                                      std::make_shared<const PatchOverlay>()});
}

std::map<std::string, std::vector<bool>> CachedOf(const DiskChunk& chunk) {
  std::map<std::string, std::vector<bool>> cached;
  chunk.VisitFiles(
      [&](const std::string& suffix, const OpenSectionFile& file) { cached[suffix] = file.Cached().pages; });
  return cached;
}

void GiveUpAll(const DiskChunk& chunk) {
  chunk.VisitFiles([](const std::string&, const OpenSectionFile& file) {
    const ByteRange all{0, file.size()};
    file.GiveUp({&all, 1});
  });
}

size_t CountOf(const std::vector<bool>& pages) {
  return static_cast<size_t>(std::count(pages.begin(), pages.end(), true));
}

// Chunks 1 and 2 become 3; how much of .spc was in the cache is asked before and after.
struct Merge {
  explicit Merge(AccessMode access) : mode(access) {
    for (const uint64_t id : {1, 2}) {
      const auto table = TableOf(Numbers(), 1 + (id - 1) * kRows, kRows);
      REQUIRE(WriteChunk(Env::Posix(), folder.path(), testing::InputOf(*table, id)).ToString() == "ok");
      inputs.push_back(Open(folder.path(), id, mode));
      GiveUpAll(*inputs.back());
    }
  }

  std::shared_ptr<const DiskChunk> Run() {
    ChunkWriteInput input;
    input.parts = {ViewOf(inputs[0]), ViewOf(inputs[1])};
    input.definition = std::make_shared<const TableDefinition>(Numbers());
    input.id = ChunkId(3);
    input.merged_from = 2;
    REQUIRE(WriteChunk(Env::Posix(), folder.path(), input).ToString() == "ok");
    return Open(folder.path(), 3, mode);
  }

  // A file system in memory, or somebody else's, keeps every page.
  bool CanGiveUp() const { return CountOf(CachedOf(*inputs[0]).at("spc")) == 0; }

  TemporaryFolder folder;
  AccessMode mode;
  std::vector<std::shared_ptr<const DiskChunk>> inputs;
};

TEST_CASE("a merge of chunks that nobody used leaves neither them nor its result in the page cache",
          "[storage]") {
  Merge merge(GENERATE(AccessMode::kMmap, AccessMode::kFile));
  if (!merge.CanGiveUp()) {
    WARN("the file system keeps pages: not tested");
    return;
  }
  const auto result = merge.Run();
  for (const auto& chunk : {merge.inputs[0], merge.inputs[1], result}) {
    INFO("chunk " << chunk->header().id.value << ", file mode " << (merge.mode == AccessMode::kFile));
    const auto pages = CachedOf(*chunk).at("spc");
    REQUIRE(pages.size() > 300);
    CHECK(CountOf(pages) < 8);  // what opening reads
  }
  CHECK(result->Check().ToString() == "ok");
}

TEST_CASE("a merge keeps in the page cache what was there before", "[storage]") {
  Merge merge(GENERATE(AccessMode::kMmap, AccessMode::kFile));
  if (!merge.CanGiveUp()) {
    WARN("the file system keeps pages: not tested");
    return;
  }
  const size_t one_column = CachedOf(*merge.inputs[0]).at("spc").size() / 7;
  const auto reader = merge.inputs[0]->NewReader(merge.inputs[0], Numbers().columns[3]).value();
  std::vector<RowId> rows;
  for (uint32_t row = 0; row < kRows; ++row) {
    rows.emplace_back(row);
  }
  std::vector<int64_t> values(rows.size());
  REQUIRE(reader->ReadInts(rows, values).ok());
  const auto before = CachedOf(*merge.inputs[0]).at("spc");
  REQUIRE(CountOf(before) > one_column / 2);
  merge.Run();
  const auto after = CachedOf(*merge.inputs[0]).at("spc");
  size_t lost = 0;
  size_t added = 0;
  for (size_t page = 0; page < before.size(); ++page) {
    lost += before[page] && !after[page] ? 1 : 0;
    added += !before[page] && after[page] ? 1 : 0;
  }
  CHECK(lost == 0);
  CHECK(added < 8);
}

TEST_CASE("the result of a merge stays in the page cache when its chunks were there", "[storage]") {
  Merge merge(AccessMode::kMmap);
  for (const auto& chunk : merge.inputs) {
    REQUIRE(chunk->Check().ok());
  }
  const auto pages = CachedOf(*merge.Run()).at("spc");
  CHECK(CountOf(pages) == pages.size());
}

TEST_CASE("a page that comes back after it was given up twice stays", "[storage]") {
  Merge merge(AccessMode::kMmap);
  if (!merge.CanGiveUp()) {
    WARN("the file system keeps pages: not tested");
    return;
  }
  const std::shared_ptr<const TablePart> part = ViewOf(merge.inputs[0]);
  InputCache cache{std::span(&part, 1)};
  for (int time = 1; time <= 3; ++time) {
    REQUIRE(merge.inputs[0]->Check().ok());
    cache.NoteRead(uint64_t{1} << 40);
    CHECK(CountOf(CachedOf(*merge.inputs[0]).at("spc")) > 0);
    cache.NoteRead(uint64_t{1} << 40);
    const auto pages = CachedOf(*merge.inputs[0]).at("spc");
    CHECK(CountOf(pages) == (time < 3 ? 0 : pages.size()));
  }
}

}  // namespace
}  // namespace stoa::storage
