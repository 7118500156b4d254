#include "storage/column/byte_blocks.h"

#include <catch2/catch.hpp>

#include "storage/column/text_column.h"
#include "storage/column_fixture.h"

namespace stoa::storage {
namespace {

constexpr uint32_t kDirectory = static_cast<uint32_t>(SpcSection::kTextOffsets);
constexpr uint32_t kBlocks = static_cast<uint32_t>(SpcSection::kTextBytes);

// The example of docs/format/spc-texts-sets-vectors.md.
std::string ExampleBlocks() {
  std::string bytes("\2\0\2\0\5\0\0\0abcde", 13);
  bytes.resize(64);
  return bytes;
}

std::string DirectoryOf(const std::vector<uint64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint64_t)};
}

std::shared_ptr<const OpenSectionFile> FileOf(const TemporaryFolder& folder, const std::string& directory,
                                              const std::string& blocks, AccessMode mode) {
  auto file = Env::Posix().Create(folder / "blocks");
  REQUIRE(file.ok());
  SectionFileWriter writer(**file, kTestFileKind, 1);
  REQUIRE(writer.AddSection(kBlocks, 3, blocks, {.page_size = kDefaultPage}).ok());
  REQUIRE(writer.AddSection(kDirectory, 3, directory).ok());
  REQUIRE(writer.Finish().ok());
  REQUIRE((*file)->Close().ok());
  auto opened = OpenSectionFile::Open(Env::Posix(), folder / "blocks", kTestFileKind, mode);
  REQUIRE(opened.ok());
  return *opened;
}

Status ReadAll(const std::string& directory, const std::string& blocks, AccessMode mode) {
  const TemporaryFolder folder;
  const auto file = FileOf(folder, directory, blocks, mode);
  const auto opened = ByteBlocks::Open(*file, {.key = 3});
  if (!opened.ok()) {
    return opened.status();
  }
  return opened->Visit([](uint32_t, std::span<const std::string_view>) { return Status::Ok(); });
}

TEST_CASE("byte blocks are written as their page shows", "[storage]") {
  ColumnDefinition definition;
  definition.id = ColumnId(3);
  definition.type = ColumnType::kString;
  ColumnFile file(definition, &WriteTextColumn, &OpenTextColumn);
  file.WriteValues({"ab", "", "cde"});
  const auto sections = file.OpenSections(AccessMode::kFile);
  CHECK(*ReadWholeSection(*sections, SpcSection::kTextBytes, 3) == ExampleBlocks());
  CHECK(*ReadWholeSection(*sections, SpcSection::kTextOffsets, 3) == DirectoryOf({3, 1, 64}));
}

TEST_CASE("damaged byte blocks are corrupt, never read outside of their section", "[storage]") {
  const std::string good = DirectoryOf({3, 1, 64});
  std::string descends = ExampleBlocks();
  descends[2] = 1;
  std::string too_far = ExampleBlocks();
  too_far[4] = 57;
  std::string just_inside = ExampleBlocks();
  just_inside[4] = 56;
  const std::string one_length = DirectoryOf({2, 0, 64});
  std::string overflows(64, '\0');
  overflows[7] = '\x80';
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    CHECK(ReadAll(good, ExampleBlocks(), mode).ok());
    CHECK(ReadAll(good, just_inside, mode).ok());
    CHECK(ReadAll(good, descends, mode).code() == StatusCode::kCorrupt);
    CHECK(ReadAll(good, descends, mode).text().find("section 6.3: value 1: ") != std::string::npos);
    CHECK(ReadAll(good, too_far, mode).code() == StatusCode::kCorrupt);
    CHECK(ReadAll(one_length, overflows, mode).code() == StatusCode::kCorrupt);
    for (const std::vector<uint64_t>& directory :
         std::vector<std::vector<uint64_t>>{{},
                                            {3},
                                            {3, 1},
                                            {4000, 1, 64},
                                            {~uint64_t{0}, 1, 64},
                                            {3, 4, 64},
                                            {3, 65, 64},
                                            {3, ~uint64_t{63} + 1, 64},
                                            {3, 1, 128},
                                            {3, 1, 0},
                                            {40, 1, 64},
                                            {0, 64}}) {
      CHECK(ReadAll(DirectoryOf(directory), ExampleBlocks(), mode).code() == StatusCode::kCorrupt);
    }
  }
}

TEST_CASE("a byte that changed on disk is found by its checksum in both access modes", "[storage]") {
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const TemporaryFolder folder;
    FileOf(folder, DirectoryOf({3, 1, 64}), ExampleBlocks(), mode);
    std::string bytes = *Env::Posix().ReadFile(folder / "blocks");
    bytes[bytes.find("abcde") + 1] = 'X';
    REQUIRE(WriteFileAtomically(Env::Posix(), folder / "blocks", bytes).ok());
    const auto file = OpenSectionFile::Open(Env::Posix(), folder / "blocks", kTestFileKind, mode);
    REQUIRE(file.ok());
    const auto blocks = ByteBlocks::Open(**file, {.key = 3});
    REQUIRE(blocks.ok());
    const RowId row(2);
    std::string_view value;
    ReadBuffer buffer;
    CHECK(blocks->Read({&row, 1}, {&value, 1}, buffer).code() == StatusCode::kCorrupt);
  }
}

}  // namespace
}  // namespace stoa::storage
