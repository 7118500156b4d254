#include <catch2/catch.hpp>

#include "chunk_fixture.h"
#include "storage/chunk/chunk_header.h"
#include "storage/chunk/chunk_view.h"
#include "storage/chunk/row_copy.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;
using testing::EveryType;
using testing::InputOf;
using testing::MakeColumn;
using testing::TableOf;
using testing::Without;

std::shared_ptr<const TablePart> ViewOf(std::shared_ptr<const DiskChunk> chunk) {
  return std::make_shared<ChunkView>(ChunkView::State{std::move(chunk), std::make_shared<const DeleteMap>(),
                                                      std::make_shared<const PatchOverlay>()});
}

std::shared_ptr<const DiskChunk> WriteAndOpen(Env& env, const TableSnapshot& table, uint64_t id,
                                              AccessMode mode = AccessMode::kMmap) {
  REQUIRE(env.MakeFolder("/t").ok());
  REQUIRE(WriteChunk(env, "/t", InputOf(table, id)).ToString() == "ok");
  auto chunk = DiskChunk::Open(env, "/t", ChunkId(id), {.columnar_access = mode});
  REQUIRE(chunk.status().ToString() == "ok");
  return *chunk;
}

// Texts that are only indexed are not kept.
void ClearHidden(RowBatch& rows) {
  ColumnValues& hidden = rows.columns[11];
  REQUIRE(hidden.column == ColumnId(12));
  hidden.bytes.clear();
  hidden.offsets.assign(rows.size() + 1, 0);
}

TEST_CASE("a chunk has the values of the rows it was written from", "[storage]") {
  const std::string engine = GENERATE("rowwise", "columnar");
  const AccessMode mode = GENERATE(AccessMode::kMmap, AccessMode::kFile);
  MemoryEnv env;
  const auto table = Without(TableOf(EveryType(engine), 1, 3000), {1, 2, 3, 1500, 2999});
  const auto chunk = WriteAndOpen(env, *table, 7, mode);
  REQUIRE(chunk->row_count() == 2995);
  CHECK(chunk->Check().ToString() == "ok");
  CHECK(chunk->header().definition == *table->definition);
  CHECK(chunk->header().created == 1'700'000'000);
  const auto part = ViewOf(chunk);
  const RowBatch found = CopyRows(*part, LiveRows(*part), *table->definition).value();
  RowBatch expected = CopyRows(*table->parts[0], LiveRows(*table->parts[0]), *table->definition).value();
  ClearHidden(expected);
  CHECK(found.ids == expected.ids);
  for (size_t i = 0; i < expected.columns.size(); ++i) {
    INFO("column " << expected.columns[i].column.value);
    CHECK(found.columns[i].ints == expected.columns[i].ints);
    CHECK(found.columns[i].floats == expected.columns[i].floats);
    CHECK(found.columns[i].offsets == expected.columns[i].offsets);
    CHECK(found.columns[i].bytes == expected.columns[i].bytes);
  }
  CHECK(chunk->documents().Find(DocId(4)).value() == RowId(0));
  CHECK_FALSE(chunk->documents().Find(DocId(1500)).value().has_value());
}

TEST_CASE("a chunk tells its files, and a chunk merged of chunks is the same as one of the rows",
          "[storage]") {
  MemoryEnv env;
  const auto first = WriteAndOpen(env, *TableOf(EveryType("columnar"), 1, 1500), 1);
  const auto second = WriteAndOpen(env, *TableOf(EveryType("columnar"), 1501, 1500), 2);
  ChunkWriteInput input;
  input.parts = {ViewOf(first), ViewOf(second)};
  input.definition = std::make_shared<const TableDefinition>(EveryType("columnar"));
  input.id = ChunkId(3);
  input.merged_from = 2;
  REQUIRE(WriteChunk(env, "/t", input).ToString() == "ok");
  const auto merged = DiskChunk::Open(env, "/t", ChunkId(3), {}).value();
  CHECK(merged->Check().ToString() == "ok");
  CHECK(merged->header().merged_from == 2);
  WriteAndOpen(env, *TableOf(EveryType("columnar"), 1, 3000), 4);
  CHECK(env.FileSize("/t/chunk.3.spc").value() == env.FileSize("/t/chunk.4.spc").value());
  uint64_t sum = 0;
  for (const ChunkFileInfo& file : merged->Files()) {
    CHECK(file.bytes == env.FileSize("/t/" + file.name).value());
    sum += file.bytes;
  }
  CHECK(merged->disk_bytes() == sum);
  CHECK(merged->Files().size() == 6);  // .sph .spc .spa .spb .spds .spt: JSON is row-wise
}

TEST_CASE("a column that is newer than a chunk reads as its default, a widened one as wide", "[storage]") {
  MemoryEnv env;
  const std::string engine = GENERATE("rowwise", "columnar");
  const auto chunk = WriteAndOpen(env, *TableOf(EveryType(engine), 1, 40), 1);
  const std::vector<RowId> rows = {RowId(0), RowId(2)};
  std::vector<int64_t> ints(2, 7);
  const auto added = chunk->NewReader(chunk, MakeColumn("later", ColumnType::kInt, 77)).value();
  REQUIRE(added->ReadInts(rows, ints).ok());
  CHECK(ints == std::vector<int64_t>{0, 0});
  BlockBits bits{7};
  REQUIRE(added->Select(0, {.test = IntRange{0, 5}}, bits).ok());
  CHECK(bits[0] == 7);
  REQUIRE(added->Select(0, {.test = IntRange{1, 5}}, bits).ok());
  CHECK(bits[0] == 0);
  std::vector<float> floats(2);
  CHECK(added->ReadFloats(rows, floats).code() == StatusCode::kInternal);

  const auto wide = chunk->NewReader(chunk, MakeColumn("n", ColumnType::kBigint, 1)).value();
  CHECK(wide->type() == ColumnType::kBigint);
  REQUIRE(wide->ReadInts(rows, ints).ok());
  CHECK(ints == std::vector<int64_t>{1, 3});
  const auto wrong = chunk->NewReader(chunk, MakeColumn("n", ColumnType::kString, 1));
  CHECK(wrong.status().code() == StatusCode::kInternal);
}

TEST_CASE("a missing, shorter or exchanged file of a chunk is named when it is opened", "[storage]") {
  MemoryEnv env;
  WriteAndOpen(env, *TableOf(EveryType("columnar"), 1, 40), 1);
  WriteAndOpen(env, *TableOf(EveryType("columnar"), 1, 40), 2);
  for (const std::string suffix : {"sph", "spc", "spa", "spb", "spds", "spt"}) {
    const std::string path = "/t/chunk.1." + suffix;
    const std::string bytes = env.ReadFile(path).value();
    const auto open = [&] { return DiskChunk::Open(env, "/t", ChunkId(1), {}).status(); };
    REQUIRE(env.Remove(path).ok());
    CHECK(open().code() == StatusCode::kCorrupt);
    CHECK_THAT(open().text(), Contains(path) && Contains("missing"));
    for (const std::string& other : {bytes.substr(0, bytes.size() - 1), bytes + '\0', std::string(),
                                     env.ReadFile("/t/chunk.2." + suffix).value()}) {
      REQUIRE(WriteFileAtomically(env, path, other).ok());
      CHECK(open().code() == StatusCode::kCorrupt);
      CHECK_THAT(open().text(), Contains(path));
    }
    REQUIRE(WriteFileAtomically(env, path, bytes).ok());
    REQUIRE(open().ToString() == "ok");
  }
}

TEST_CASE("a flipped bit in any file of a chunk is found", "[storage]") {
  MemoryEnv env;
  const std::string engine = GENERATE("rowwise", "columnar");
  const auto chunk = WriteAndOpen(env, *TableOf(EveryType(engine), 1, 300), 1);
  for (const ChunkFileInfo& file : chunk->Files()) {
    const std::string path = "/t/" + file.name;
    const std::string bytes = env.ReadFile(path).value();
    const size_t step = std::max<size_t>(1, bytes.size() / 97);
    size_t quiet = 0;
    for (size_t at = 0; at < bytes.size(); at += step) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
      REQUIRE(WriteFileAtomically(env, path, flipped).ok());
      const auto opened = DiskChunk::Open(env, "/t", ChunkId(1), {});
      const Status status = opened.ok() ? (*opened)->Check() : opened.status();
      // Zeros between sections are in no checksum.
      quiet += status.ok() && bytes[at] == 0 ? 1 : 0;
      CHECK((!status.ok() || bytes[at] == 0));
      CHECK((status.ok() || status.text().find(file.name) != std::string::npos));
    }
    INFO(path);
    CHECK(quiet * 2 < bytes.size() / step);
    REQUIRE(WriteFileAtomically(env, path, bytes).ok());
  }
}

TableDefinition FixtureDefinition() {
  TableDefinition definition;
  definition.id = TableId(3);
  definition.name = "goods";
  definition.columns = {MakeColumn("id", ColumnType::kId), MakeColumn("n", ColumnType::kInt, 1),
                        MakeColumn("s", ColumnType::kString, 2), MakeColumn("title", ColumnType::kText, 3)};
  definition.columns[1].engine = Engine::kColumnar;
  definition.columns[3].indexed = definition.columns[3].stored = true;
  definition.next_column_id = 4;
  return definition;
}

const std::string kHeaderFixtures = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/sph/";
const std::vector<ChunkHeaderFile::File> kFixtureFiles = {
    {"spc", 576}, {"spa", 640}, {"spb", 704}, {"spds", 768}, {"spt", 832}};

TEST_CASE("a header of format version 1 is read", "[storage]") {
  const auto file = ReadChunkHeader(Env::Posix(), kHeaderFixtures + "v1", ChunkId(7));
  REQUIRE(file.status().ToString() == "ok");
  CHECK(file->header.row_count == 2);
  CHECK(file->header.created == 1'700'000'000);
  CHECK(file->header.definition == FixtureDefinition());
  CHECK(file->files == kFixtureFiles);
}

// As version 1, with a vector index.
TEST_CASE("a header of format version 2 is read, and today's writer writes the same", "[storage]") {
  ChunkHeaderFile expected;
  expected.header.id = ChunkId(7);
  expected.header.row_count = 2;
  expected.header.created = 1'700'000'000;
  expected.header.definition = FixtureDefinition();
  ColumnDefinition vector = MakeColumn("v", ColumnType::kFloatVector, 4);
  vector.engine = Engine::kColumnar;
  vector.knn = KnnOptions{.dims = 4};
  expected.header.definition.columns.push_back(vector);
  expected.header.definition.next_column_id = 5;
  expected.files = kFixtureFiles;
  expected.files.push_back({"spknn", 896});
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/t").ok());
  REQUIRE(WriteChunkHeader(expected, *env.Create("/t/chunk.7.sph").value()).ok());
  const std::string bytes = env.ReadFile("/t/chunk.7.sph").value();
  const auto file = ReadChunkHeader(Env::Posix(), kHeaderFixtures + "v2", ChunkId(7));
  REQUIRE(file.status().ToString() == "ok");
  CHECK(file->header.row_count == 2);
  CHECK(file->header.definition == expected.header.definition);
  CHECK(file->files == expected.files);
  CHECK(bytes == Env::Posix().ReadFile(kHeaderFixtures + "v2/chunk.7.sph").value());
}

TEST_CASE("a header that does not fit its definition is refused", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/t").ok());
  ChunkHeaderFile file;
  file.header = {.id = ChunkId(1), .row_count = 5, .definition = EveryType("columnar")};
  const auto read = [&] {
    const auto out = env.Create("/t/chunk.1.sph").value();
    REQUIRE(WriteChunkHeader(file, *out).ok());
    return ReadChunkHeader(env, "/t", ChunkId(1)).status();
  };
  for (const std::string& suffix : ChunkSuffixes(file.header.definition)) {
    file.files.push_back({suffix, 100});
  }
  CHECK(read().ToString() == "ok");
  CHECK(ReadChunkHeader(env, "/t", ChunkId(1))->files == file.files);
  file.files.pop_back();
  CHECK_THAT(read().text(), Contains("/t/chunk.1.sph") && Contains("files"));
  file.files.push_back({"spt", 100});
  file.header.row_count = 0;
  CHECK(read().code() == StatusCode::kCorrupt);
  file.header.row_count = UINT32_MAX;
  CHECK(read().code() == StatusCode::kCorrupt);
  file.header.row_count = 5;
  file.header.id = ChunkId(2);
  CHECK_THAT(read().text(), Contains("belongs to chunk 2"));
}

}  // namespace
}  // namespace stoa::storage
