#include "storage/format/section_file.h"

#include <catch2/catch.hpp>
#include <random>

#include "storage/base/memory_env.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;

constexpr SectionFileKind kKind{{'T', 'E', 'S', 'T'},
                                {.kind = "test file", .oldest_readable = 1, .current = 1}};
constexpr uint32_t kPage = 4096;

std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  std::mt19937 random(static_cast<uint32_t>(size));
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  return bytes;
}

struct Folder {
  Folder() { REQUIRE(env.MakeFolder("/d").ok()); }

  void Set(std::string_view bytes) { REQUIRE(WriteFileAtomically(env, path, bytes).ok()); }
  std::string Get() { return env.ReadFile(path).value(); }
  Result<SectionFileReader> Open() { return SectionFileReader::Open(env, path, kKind); }
  // The first failure of opening the file and reading every section.
  Status ReadAll() {
    ASSIGN_OR_RETURN(const SectionFileReader reader, Open());
    for (const SectionEntry& section : reader.sections()) {
      RETURN_IF_ERROR(reader.Read(section).status());
    }
    return Status::Ok();
  }

  MemoryEnv env;
  const std::string path = "/d/a";
};

// Counts what reaches the file.
class CountingFile : public WritableFile {
 public:
  Status Append(std::string_view appended) override {
    sizes.push_back(appended.size());
    bytes.append(appended);
    return Status::Ok();
  }
  Status Sync() override { return Status::Ok(); }
  Status Truncate(uint64_t) override { return Status::Ok(); }
  Status Close() override { return Status::Ok(); }

  std::vector<size_t> sizes;
  std::string bytes;
};

}  // namespace

TEST_CASE("a file without pages is what it was before there were pages", "[storage]") {
  CountingFile file;
  SectionFileWriter writer(file, kKind, 7);
  REQUIRE(writer.AddSection(1, 2, "abc").ok());
  REQUIRE(writer.Finish().ok());
  // Made by the version before.
  const std::string_view expected(
      "\x89STOA\r\n\nTEST\1\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0\x2e\x08\x87\xbe"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
      "abc\1\0\0\0\2\0\0\0\x40\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\xb7\x3f\x4b\x36\0\0\0\0",
      32 + 32 + 3 + 32);
  CHECK(file.bytes.substr(0, expected.size()) == expected);
  CHECK(file.bytes.size() == expected.size() + 32);
  CHECK(writer.size() == file.bytes.size());
}

TEST_CASE("a section streamed in pieces is the same file as one given whole", "[storage]") {
  const uint32_t page = GENERATE(kWholeSection, kPage, kDefaultPage);
  const size_t size = GENERATE(0, 1, 4095, 4096, 4097, 65'536, 300'001);
  const SectionLayout layout{.alignment = 4096, .page_size = page};
  const std::string content = Pattern(size);
  CountingFile whole;
  SectionFileWriter whole_writer(whole, kKind, 7);
  REQUIRE(whole_writer.AddSection(1, 2, content, layout).ok());
  REQUIRE(whole_writer.AddSection(1, 3, "end").ok());
  REQUIRE(whole_writer.Finish().ok());
  for (const size_t piece : {1, 100, 4096, 5000, 100'000}) {
    CountingFile pieces;
    SectionFileWriter writer(pieces, kKind, 7);
    REQUIRE(writer.BeginSection(1, 2, layout).ok());
    for (size_t at = 0; at < size; at += piece) {
      REQUIRE(writer.AppendToSection(std::string_view(content).substr(at, piece)).ok());
    }
    CHECK(writer.section_length() == size);
    REQUIRE(writer.EndSection().ok());
    REQUIRE(writer.AddSection(1, 3, "end").ok());
    REQUIRE(writer.Finish().ok());
    CHECK(writer.size() == whole.bytes.size());
    CHECK((pieces.bytes == whole.bytes));
  }
  Folder folder;
  folder.Set(whole.bytes);
  const SectionFileReader reader = folder.Open().value();
  REQUIRE(reader.sections().size() == 2);
  CHECK(reader.sections()[0].offset % 4096 == 0);
  CHECK((reader.Read(reader.sections()[0]).value() == content));
  CHECK(reader.Read(reader.sections()[1]).value() == "end");
}

TEST_CASE("small pieces reach the file in large writes", "[storage]") {
  CountingFile file;
  SectionFileWriter writer(file, kKind, 7);
  REQUIRE(writer.BeginSection(1, 2, {.page_size = kPage}).ok());
  for (int i = 0; i < 100'000; ++i) {
    REQUIRE(writer.AppendToSection("0123456789").ok());
  }
  REQUIRE(writer.EndSection().ok());
  REQUIRE(writer.Finish().ok());
  file.sizes.pop_back();
  CHECK(std::all_of(file.sizes.begin(), file.sizes.end(), [](size_t size) { return size >= 64 << 10; }));
}

TEST_CASE("every changed byte is noticed, also between sections", "[storage]") {
  CountingFile file;
  SectionFileWriter writer(file, kKind, 7);
  REQUIRE(writer.AddSection(1, 2, Pattern(5000), {.page_size = kPage}).ok());
  REQUIRE(writer.AddSection(1, 3, Pattern(50)).ok());
  REQUIRE(writer.AddSection(1, 4, "", {.page_size = kPage}).ok());
  REQUIRE(writer.Finish().ok());
  Folder folder;
  folder.Set(file.bytes);
  REQUIRE(folder.ReadAll().ok());
  for (size_t at = 0; at < file.bytes.size(); ++at) {
    std::string damaged = file.bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    folder.Set(damaged);
    const Status status = folder.ReadAll();
    CAPTURE(at);
    REQUIRE(status.code() == StatusCode::kCorrupt);
    REQUIRE_THAT(status.text(), Contains("/d/a"));
  }
}

TEST_CASE("a file cut at any length is corrupt", "[storage]") {
  CountingFile file;
  SectionFileWriter writer(file, kKind, 7);
  REQUIRE(writer.AddSection(1, 2, Pattern(500), {.page_size = kPage}).ok());
  REQUIRE(writer.AddSection(1, 3, Pattern(50)).ok());
  REQUIRE(writer.Finish().ok());
  Folder folder;
  for (size_t length = 0; length < file.bytes.size(); ++length) {
    folder.Set(std::string_view(file.bytes).substr(0, length));
    REQUIRE(folder.Open().status().code() == StatusCode::kCorrupt);
  }
}

}  // namespace stoa::storage
