#include "storage/chunk/docstore.h"

#include <catch2/catch.hpp>
#include <thread>

#include "base/temporary_folder.h"
#include "column_inputs.h"
#include "storage/base/byte_writer.h"
#include "storage/base/memory_env.h"
#include "storage/chunk/docstore_codec.h"
#include "storage/chunk/docstore_format.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): fixtures
using Codec = DocstoreOptions::Codec;
using Texts = std::vector<std::string>;

constexpr const char* kPath = "/d/a.spds";

// Writes the columns 1, 2, ... of texts, in pieces of different lengths.
Status Write(Env& env, const std::string& path, const std::vector<Texts>& columns,
             const DocstoreOptions& options = {}) {
  std::vector<ColumnDefinition> definitions;
  std::vector<ValuesInput> inputs;
  for (const Texts& texts : columns) {
    const auto id = static_cast<uint32_t>(definitions.size()) + 1;
    definitions.push_back(MakeColumn("c", ColumnType::kText, id));
    inputs.emplace_back(MakeBytes(ColumnType::kText, texts, id), id * 1024);
  }
  std::vector<ColumnToWrite> to_write;
  for (size_t i = 0; i < columns.size(); ++i) {
    to_write.push_back({&definitions[i], &inputs[i]});
  }
  auto file = env.Create(path);
  REQUIRE(file.ok());
  const Status status = Docstore::Write(to_write, options, **file, ChunkId(7));
  REQUIRE((*file)->Close().ok());
  return status;
}

std::shared_ptr<const Docstore> Open(Env& env, const std::string& path,
                                     std::shared_ptr<DocstoreCache> cache = nullptr) {
  auto store = Docstore::Open(env, path, ChunkId(7), std::move(cache));
  REQUIRE(store.ok());
  return *store;
}

Texts Read(ColumnReader& reader, const std::vector<RowId>& rows) {
  std::vector<std::string_view> values(rows.size());
  ReadBuffer buffer;
  REQUIRE(reader.ReadBytes(rows, values, buffer).ok());
  return {values.begin(), values.end()};
}

Texts Read(const std::shared_ptr<const Docstore>& store, uint32_t id, const std::vector<RowId>& rows) {
  const auto reader = store->NewReader(store, ColumnId(id), ColumnType::kText);
  REQUIRE(reader.ok());
  return Read(**reader, rows);
}

Texts Pick(const Texts& texts, const std::vector<RowId>& rows) {
  Texts picked;
  for (const RowId row : rows) {
    picked.push_back(texts[row.value]);
  }
  return picked;
}

// Texts that compress, of 0 to about 400 bytes.
Texts MakeTexts(uint32_t rows, uint32_t seed) {
  Texts texts;
  uint32_t state = seed;
  for (uint32_t row = 0; row < rows; ++row) {
    state = state * 1664525 + 1013904223;
    std::string text;
    for (uint32_t word = 0; word < (state >> 28); ++word) {
      text += "word" + std::to_string((state >> (word % 16)) % 1000) + " of the document ";
    }
    texts.push_back(text);
  }
  return texts;
}

TEST_CASE("stored texts read back with every codec and level", "[storage]") {
  const std::vector<Texts> columns = {MakeTexts(3000, 1), MakeTexts(3000, 2), Texts(3000)};
  MemoryEnv memory;
  const TemporaryFolder folder;
  const std::pair<Codec, int> codecs[] = {{Codec::kNone, 9},   {Codec::kLz4, 9},  {Codec::kLz4hc, 1},
                                          {Codec::kLz4hc, 12}, {Codec::kZstd, 1}, {Codec::kZstd, 19}};
  uint64_t raw_size = 0;
  for (const auto& [codec, level] : codecs) {
    const bool disk = codec == Codec::kLz4;
    Env& env = disk ? Env::Posix() : static_cast<Env&>(memory);
    const std::string path = disk ? folder / "a.spds" : kPath;
    REQUIRE((disk || env.MakeFolder("/d").ok()));
    REQUIRE(Write(env, path, columns, {.codec = codec, .level = level}).ok());
    const auto store = Open(env, path, std::make_shared<DocstoreCache>(1 << 20));
    CHECK(store->row_count() == 3000);
    CHECK(store->Has(ColumnId(3)));
    CHECK_FALSE(store->Has(ColumnId(4)));
    for (uint32_t id = 1; id <= 3; ++id) {
      CHECK((Read(store, id, RowsFrom(0, 3000)) == columns[id - 1]));
    }
    CHECK(store->Check().ok());
    raw_size = codec == Codec::kNone ? *env.FileSize(path) : raw_size;
    CHECK((codec == Codec::kNone || *env.FileSize(path) < raw_size / 2));
  }
}

TEST_CASE("any selection of stored texts reads the same, with and without a cache", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  const std::vector<Texts> columns = {MakeTexts(20000, 1), MakeTexts(20000, 2)};
  REQUIRE(Write(env, kPath, columns).ok());
  const std::vector<std::vector<RowId>> selections = {
      RowsFrom(0, 20000), RowsFrom(3, 666, 30), RowsFrom(19999, 1), RowsFrom(0, 1), {RowId(7), RowId(7)}, {}};
  for (const uint64_t capacity : {uint64_t{0}, uint64_t{100000}, uint64_t{64} << 20}) {
    const auto store = Open(env, kPath, std::make_shared<DocstoreCache>(capacity));
    const auto reader = store->NewReader(store, ColumnId(2), ColumnType::kText);
    REQUIRE(reader.ok());
    for (const auto& rows : selections) {
      CHECK((Read(store, 1, rows) == Pick(columns[0], rows)));
      CHECK((Read(**reader, rows) == Pick(columns[1], rows)));
    }
  }
}

TEST_CASE("texts stay where they are while later ones are read into the same buffer", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  const Texts texts = MakeTexts(2000, 3);
  REQUIRE(Write(env, kPath, {texts}, {.block_size = 512}).ok());
  const auto store = Open(env, kPath, std::make_shared<DocstoreCache>(4096));
  const auto reader = store->NewReader(store, ColumnId(1), ColumnType::kText);
  REQUIRE(reader.ok());
  ReadBuffer buffer;
  std::vector<std::string_view> values(texts.size());
  for (uint32_t row = 0; row < texts.size(); ++row) {
    const RowId rows[] = {RowId(row)};
    REQUIRE((*reader)->ReadBytes(rows, std::span(values).subspan(row, 1), buffer).ok());
  }
  size_t same = 0;
  for (size_t row = 0; row < texts.size(); ++row) {
    same += values[row] == texts[row] ? 1 : 0;
  }
  CHECK(same == texts.size());
}

TEST_CASE("a row that is longer than a block, up to 16 MB, is a block of its own", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  Texts texts(50, "short");
  texts[20] = std::string(16 << 20, 'x') + "end";
  texts[21] = std::string(1 << 20, 'y');
  texts[49] = std::string(20000, 'z');
  for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
    REQUIRE(Write(env, kPath, {texts}, {.codec = codec, .level = 1}).ok());
    const auto store = Open(env, kPath, std::make_shared<DocstoreCache>(1 << 20));
    CHECK((Read(store, 1, RowsFrom(0, 50)) == texts));
    CHECK((Read(store, 1, RowsFrom(19, 3)) == Pick(texts, RowsFrom(19, 3))));
    CHECK(store->Check().ok());
  }
}

TEST_CASE("texts that do not compress are stored as they are", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  std::string noise;
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 20000; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    noise.push_back(static_cast<char>(state >> 56));
  }
  for (const Codec codec : {Codec::kLz4, Codec::kZstd}) {
    REQUIRE(Write(env, kPath, {{noise, "a", ""}}, {.codec = codec}).ok());
    const auto store = Open(env, kPath);
    CHECK((Read(store, 1, RowsFrom(0, 3)) == Texts{noise, "a", ""}));
    CHECK(store->Check().ok());
  }
}

TEST_CASE("a docstore without rows, or with empty texts only", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  for (const size_t rows : {size_t{0}, size_t{1}, size_t{10000}}) {
    REQUIRE(Write(env, kPath, {Texts(rows), Texts(rows)}).ok());
    const auto store = Open(env, kPath);
    CHECK(store->row_count() == rows);
    CHECK((Read(store, 2, RowsFrom(0, static_cast<uint32_t>(rows))) == Texts(rows)));
    CHECK(store->Check().ok());
  }
}

TEST_CASE("a docstore answers for its columns and its chunk only", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  REQUIRE(Write(env, kPath, {{"a"}}).ok());
  const auto store = Open(env, kPath);
  CHECK(store->NewReader(store, ColumnId(2), ColumnType::kText).status().code() == StatusCode::kNotFound);
  CHECK(store->NewReader(store, ColumnId(1), ColumnType::kInt).status().code() == StatusCode::kCorrupt);
  CHECK(Docstore::Open(env, kPath, ChunkId(8), nullptr).status().code() == StatusCode::kCorrupt);
  CHECK(Write(env, kPath, {{"a"}, {"a", "b"}}).code() == StatusCode::kInternal);
}

// Reads everything; true when there was an error.
bool Fails(Env& env) {
  const auto store = Docstore::Open(env, kPath, ChunkId(7), nullptr);
  if (!store.ok()) {
    return true;
  }
  const bool checked = (*store)->Check().ok();
  for (uint32_t id = 1; id <= 2; ++id) {
    const auto reader = (*store)->NewReader(*store, ColumnId(id), ColumnType::kText);
    if (!reader.ok()) {
      return true;
    }
    std::vector<std::string_view> values((*store)->row_count());
    ReadBuffer buffer;
    if (!(*reader)->ReadBytes(RowsFrom(0, (*store)->row_count()), values, buffer).ok()) {
      return true;
    }
  }
  return !checked;
}

TEST_CASE("a flipped byte in a docstore is an error", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  REQUIRE(Write(env, kPath, {MakeTexts(40, 1), MakeTexts(40, 2)}, {.block_size = 1000}).ok());
  CHECK_FALSE(Fails(env));
  const std::string good = *env.ReadFile(kPath);
  int unnoticed = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    REQUIRE(PutFile(env, kPath, bad).ok());
    unnoticed += Fails(env) ? 0 : 1;
  }
  CHECK(unnoticed == 0);
  for (const size_t size : {size_t{0}, size_t{31}, good.size() / 2, good.size() - 1}) {
    REQUIRE(PutFile(env, kPath, good.substr(0, size)).ok());
    CHECK(Fails(env));
  }
}

struct RawFile {
  uint32_t row_count = 1;
  BlockCodec codec = BlockCodec::kNone;
  std::vector<DocstoreBlock> directory;
  std::string blocks;
};

// The status of reading all of a file with good checksums that says whatever it likes.
Status ReadRaw(const RawFile& raw) {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  auto file = env.Create(kPath);
  SectionFileWriter writer(**file, kDocstoreKind, 7);
  const DocstoreInfo info{raw.row_count, raw.codec, {{ColumnId(1), ColumnType::kText}}};
  REQUIRE(writer.AddSection(kDocstoreInfoSection, 0, info.Encode()).ok());
  REQUIRE(writer.AddSection(kDocstoreBlockSection, 0, raw.blocks, {.page_size = kDocstorePage}).ok());
  REQUIRE(writer.AddSection(kDocstoreDirectorySection, 0, DocstoreDirectory{raw.directory}.Encode()).ok());
  REQUIRE(writer.Finish().ok());
  const auto store = Docstore::Open(env, kPath, ChunkId(7), nullptr);
  RETURN_IF_ERROR(store.status());
  RETURN_IF_ERROR((*store)->Check());
  const auto reader = (*store)->NewReader(*store, ColumnId(1), ColumnType::kText);
  std::vector<std::string_view> values(raw.row_count);
  ReadBuffer buffer;
  return (*reader)->ReadBytes(RowsFrom(0, raw.row_count), values, buffer);
}

TEST_CASE("a docstore whose checksums are right but whose numbers are not is an error", "[storage]") {
  const std::string block("\2\0\0\0ab", 6);  // one text "ab"
  CHECK(ReadRaw({.directory = {{0, 6, 0}, {1, 0, 6}}, .blocks = block}).ok());
  const auto refused = [](const RawFile& raw) { return ReadRaw(raw).code() == StatusCode::kCorrupt; };
  CHECK(refused({.directory = {{0, 6, 0}, {2, 0, 6}}, .blocks = block}));  // rows
  CHECK(refused({.directory = {{1, 6, 0}, {1, 0, 6}}, .blocks = block}));  // starts behind row 0
  CHECK(refused({.directory = {{0, 6, 0}, {1, 0, 7}}, .blocks = block}));  // longer than the section
  CHECK(refused({.directory = {{0, 6, 6}, {1, 0, 6}}, .blocks = block}));  // no bytes
  CHECK(refused({.directory = {{0, 3, 0}, {1, 0, 3}}, .blocks = "abc"}));  // no room for the ends
  CHECK(refused({.directory = {{0, 7, 0}, {1, 0, 6}}, .blocks = block}));  // needs decompression
  CHECK(refused({.directory = {}, .blocks = block}));                      // no entry at all
  CHECK(refused({.directory = {{0, 0, 0}}, .blocks = ""}));                // no block for the row
  CHECK(refused({.directory = {{0, 6, 0}, {1, 0, 6}}, .blocks = {"\3\0\0\0ab", 6}}));  // text leaves it
  CHECK(refused({.directory = {{0, 6, 0}, {1, 0, 6}}, .blocks = {"\1\0\0\0ab", 6}}));  // bytes left over
  CHECK(refused({.directory = {{0, 6, 0}, {1, 0, 6}},
                 .blocks = {"\xff\xff\xff\xff"
                            "ab",
                            6}}));
  CHECK(refused({2, BlockCodec::kNone, {{0, 10, 0}, {2, 0, 10}}, {"\2\0\0\0\1\0\0\0ab", 10}}));  // ends fall
  for (const BlockCodec codec : {BlockCodec::kLz4, BlockCodec::kZstd}) {
    CHECK(refused({1, codec, {{0, 7, 0}, {1, 0, 6}}, block}));
    CHECK(refused({1, codec, {{0, 1u << 30, 0}, {1, 0, 6}}, block}));
    CHECK(refused({1, codec, {{0, 0xffffffff, 0}, {1, 0, 6}}, block}));
  }
}

TEST_CASE("a block decompresses to exactly the size it is said to have", "[storage]") {
  for (const Codec codec : {Codec::kLz4, Codec::kLz4hc, Codec::kZstd}) {
    BlockCompressor compressor({.codec = codec, .level = 3});
    const std::string raw(10000, 'a');
    const std::string stored(*compressor.Compress(raw));
    CHECK(stored.size() < 200);
    CHECK(DecompressBlock(compressor.codec(), stored, raw.size())->size() == raw.size());
    CHECK_FALSE(DecompressBlock(compressor.codec(), stored, raw.size() + 1).ok());
    CHECK_FALSE(DecompressBlock(compressor.codec(), stored, raw.size() - 1).ok());
    CHECK_FALSE(DecompressBlock(compressor.codec(), stored.substr(1), raw.size()).ok());
    CHECK_FALSE(DecompressBlock(compressor.codec(), "", raw.size()).ok());
  }
}

std::shared_ptr<const std::string> Bytes(size_t size) { return std::make_shared<std::string>(size, 'x'); }

TEST_CASE("the docstore cache keeps what was used last, within its capacity", "[storage]") {
  DocstoreCache cache(10000);
  for (uint64_t block = 0; block < 4; ++block) {
    cache.Add(1, block, Bytes(2000));
  }
  CHECK(cache.Find(1, 0) != nullptr);
  cache.Add(1, 4, Bytes(2000));
  CHECK(cache.bytes() <= 10000);
  CHECK(cache.Find(1, 0) != nullptr);
  CHECK(cache.Find(1, 1) == nullptr);
  CHECK(cache.Find(2, 0) == nullptr);
  cache.Add(2, 0, Bytes(20000));
  CHECK(cache.Find(2, 0) == nullptr);
  CHECK(cache.Find(1, 4) != nullptr);
  cache.Forget(1);
  CHECK(cache.bytes() == 0);
  CHECK(cache.Find(1, 4) == nullptr);
}

TEST_CASE("a docstore cache without capacity keeps nothing", "[storage]") {
  DocstoreCache cache(0);
  cache.Add(1, 0, Bytes(1));
  CHECK(cache.Find(1, 0) == nullptr);
  CHECK(cache.bytes() == 0);
}

TEST_CASE("a docstore that is closed leaves nothing in the cache", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  REQUIRE(Write(env, kPath, {MakeTexts(1000, 1)}).ok());
  const auto cache = std::make_shared<DocstoreCache>(16 << 20);
  auto store = Open(env, kPath, cache);
  (void)Read(store, 1, RowsFrom(0, 1000));
  CHECK(cache->bytes() > 0);
  store = nullptr;
  CHECK(cache->bytes() == 0);
}

TEST_CASE("threads share a docstore and its cache", "[storage][threads]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  const Texts texts = MakeTexts(5000, 1);
  REQUIRE(Write(env, kPath, {texts}).ok());
  const auto store = Open(env, kPath, std::make_shared<DocstoreCache>(200000));
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (uint32_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      const auto reader = store->NewReader(store, ColumnId(1), ColumnType::kText);
      for (uint32_t round = 0; round < 20; ++round) {
        const auto rows = RowsFrom(first + round, 400, 12);
        std::vector<std::string_view> values(rows.size());
        ReadBuffer buffer;
        const bool ok = (*reader)->ReadBytes(rows, values, buffer).ok();
        wrong += ok && Pick(texts, rows) == Texts(values.begin(), values.end()) ? 0 : 1;
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
}

// docs/format/spds.md
TEST_CASE("a docstore of format version 1 is read", "[storage]") {
  const std::string path = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/spds/v1/chunk.7.spds";
  const std::vector<Texts> columns = {{"a", ""}, {"bb", "ccc"}};
  const auto store = Open(Env::Posix(), path);
  CHECK((Read(store, 1, RowsFrom(0, 2)) == columns[0]));
  CHECK((Read(store, 2, RowsFrom(0, 2)) == columns[1]));
  CHECK(store->Check().ok());
}

}  // namespace
}  // namespace stoa::storage
