#include "storage/format/open_section_file.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "base/temporary_folder.h"
#include "storage/base/crc32c.h"
#include "storage/base/fault_point.h"
#include "storage/base/faulty_env.h"
#include "storage/base/memory_env.h"
#include "storage/format/section_table.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;

constexpr SectionFileKind kKind{{'T', 'E', 'S', 'T'},
                                {.kind = "test file", .oldest_readable = 1, .current = 1}};
constexpr uint32_t kPage = 4096;
constexpr AccessMode kModes[] = {AccessMode::kMmap, AccessMode::kFile};

std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  std::mt19937 random(static_cast<uint32_t>(size));
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  return bytes;
}

// A file with section 1.0 in pages of 4 KiB, 1.1 in pages of 64 KiB and 2.0 with one checksum.
struct Sections {
  explicit Sections(size_t size = 300'001) : content(Pattern(size)) {}

  void WriteTo(Env& env, const std::string& path) const {
    auto file = env.Create(path).value();
    SectionFileWriter writer(*file, kKind, 7);
    REQUIRE(writer.AddSection(1, 0, content, {.alignment = 4096, .page_size = kPage}).ok());
    REQUIRE(writer.AddSection(1, 1, content, {.page_size = kDefaultPage}).ok());
    REQUIRE(writer.AddSection(2, 0, content).ok());
    REQUIRE(writer.AddSection(3, 0, "").ok());
    REQUIRE(writer.AddSection(3, 1, "", {.page_size = kPage}).ok());
    REQUIRE(writer.Finish().ok());
    REQUIRE(file->Close().ok());
  }

  std::string content;
};

struct PosixCase {
  TemporaryFolder folder;
  Env& env = Env::Posix();
  std::string Root() { return folder.path(); }
};

struct MemoryCase {
  MemoryEnv env;
  std::string Root() {
    REQUIRE(env.MakeFolder("/data").ok());
    return "/data";
  }
};

struct FaultyCase {
  MemoryEnv memory;
  FaultyEnv env{memory};
  std::string Root() {
    REQUIRE(env.MakeFolder("/data").ok());
    return "/data";
  }
};

std::shared_ptr<const OpenSectionFile> Open(Env& env, const std::string& path, AccessMode mode) {
  auto file = OpenSectionFile::Open(env, path, kKind, mode);
  REQUIRE(file.status().ToString() == "ok");
  return file.value();
}

std::vector<SectionBytes> Sizable(const OpenSectionFile& file) {
  return {file.Section(1, 0).value(), file.Section(1, 1).value(), file.Section(2, 0).value()};
}

bool IsAligned(std::string_view bytes) { return reinterpret_cast<uintptr_t>(bytes.data()) % 64 == 0; }

// A file that was framed by hand.
void WriteTable(Env& env, const std::string& path, const std::vector<SectionEntry>& sections) {
  std::string bytes = EncodeSectionHeader(kKind, 7);
  bytes.resize(16'384);
  bytes += EncodeSectionTable(sections, bytes.size());
  REQUIRE(WriteFileAtomically(env, path, bytes).ok());
}

}  // namespace

TEMPLATE_TEST_CASE("an open file tells what it is and which sections it has", "[storage]", PosixCase,
                   MemoryCase, FaultyCase) {
  TestType setup;
  const std::string path = setup.Root() + "/a";
  Sections().WriteTo(setup.env, path);
  for (const AccessMode mode : kModes) {
    const auto file = Open(setup.env, path, mode);
    CHECK(file->owner() == 7);
    CHECK(file->version() == 1);
    CHECK(file->size() == setup.env.FileSize(path).value());
    CHECK(file->mode() == mode);
    CHECK(file->path() == path);
    CHECK(file->sections().size() == 5);
    CHECK(file->Has(1, 1));
    CHECK_FALSE(file->Has(1, 2));
    CHECK_THAT(file->Section(1, 2).status().ToString(), Contains(path) && Contains("section 1.2 is missing"));
    CHECK((file->ResidentBytes() > 0) == (mode == AccessMode::kMmap));
    CHECK((file->Section(1, 0).value().address() != nullptr) == (mode == AccessMode::kMmap));
    for (const bool drop_behind : {false, true}) {
      CHECK(file->CheckAll(drop_behind).ToString() == "ok");
    }
  }
}

TEMPLATE_TEST_CASE("ranges at and across the borders of pages have their bytes", "[storage]", PosixCase,
                   MemoryCase, FaultyCase) {
  TestType setup;
  const std::string path = setup.Root() + "/a";
  const Sections sections;
  sections.WriteTo(setup.env, path);
  const auto size = sections.content.size();
  for (const AccessMode mode : kModes) {
    const auto file = Open(setup.env, path, mode);
    for (const SectionBytes& section : Sizable(*file)) {
      CHECK(section.length() == size);
      for (const auto& [offset, length] : {std::pair<uint64_t, uint64_t>(4095, 2),
                                           {0, 1},
                                           {4096, 4096},
                                           {65'000, 5000},
                                           {0, 0},
                                           {size, 0},
                                           {size - 1, 1},
                                           {100, 200'000},
                                           {131'072, size - 131'072},
                                           {0, size},
                                           {7, 9}}) {
        ReadBuffer buffer;
        const std::string_view got = section.Read(offset, length, buffer).value();
        REQUIRE((got == sections.content.substr(offset, length)));
        CHECK((mode == AccessMode::kMmap || IsAligned(got)));
        CHECK(section.Verify(offset, length).ok() == (mode == AccessMode::kMmap));
        CHECK(section.CheckReadable().ok());
      }
      for (const auto& [offset, length] : {std::pair<uint64_t, uint64_t>(size, 1),
                                           {size + 1, 0},
                                           {1, size},
                                           {~uint64_t{0}, 1},
                                           {1, ~uint64_t{0}},
                                           {uint64_t{1} << 63, 5}}) {
        ReadBuffer buffer;
        std::string_view out;
        const ByteRange range{offset, length};
        CHECK(section.Read(offset, length, buffer).status().code() == StatusCode::kCorrupt);
        CHECK(section.ReadBatch({&range, 1}, {&out, 1}, buffer).code() == StatusCode::kCorrupt);
        CHECK_FALSE(section.Verify(offset, length).ok());
        section.WillNeed({&range, 1});
      }
    }
  }
}

TEMPLATE_TEST_CASE("a batch has the bytes of ranges in any order, near or far, overlapping or empty",
                   "[storage]", PosixCase, MemoryCase, FaultyCase) {
  TestType setup;
  const std::string path = setup.Root() + "/a";
  const Sections sections;
  sections.WriteTo(setup.env, path);
  std::mt19937 random(5);
  std::vector<ByteRange> ranges{{300'000, 1}, {0, 64},      {64, 64},    {100, 100},
                                {0, 0},       {300'001, 0}, {0, 300'001}};
  for (int i = 0; i < 300; ++i) {
    const uint64_t offset = random() % 300'001;
    ranges.push_back({offset, std::min<uint64_t>(random() % 5000, 300'001 - offset)});
  }
  for (const AccessMode mode : kModes) {
    for (const SectionBytes& section : Sizable(*Open(setup.env, path, mode))) {
      for (const size_t count : {size_t{1}, size_t{6}, ranges.size(), ranges.size()}) {
        ReadBuffer buffer;
        std::vector<std::string_view> out(count);
        const auto wanted = std::span(ranges).last(count);
        REQUIRE(section.ReadBatch(wanted, out, buffer).ToString() == "ok");
        for (size_t i = 0; i < count; ++i) {
          REQUIRE((out[i] == sections.content.substr(wanted[i].offset, wanted[i].length)));
        }
      }
      CHECK(section.ReadBatch({}, {}, *std::make_unique<ReadBuffer>()).ok());
    }
  }
}

TEMPLATE_TEST_CASE("a cursor's window moves on, back and over long values", "[storage]", PosixCase,
                   MemoryCase) {
  TestType setup;
  const std::string path = setup.Root() + "/a";
  const Sections sections(1'500'000);
  sections.WriteTo(setup.env, path);
  for (const AccessMode mode : kModes) {
    for (const SectionBytes& section : Sizable(*Open(setup.env, path, mode))) {
      SectionCursor cursor(section);
      for (uint64_t offset = 0; offset < 1'500'000; offset += 777) {
        const uint64_t length = std::min<uint64_t>(777, 1'500'000 - offset);
        REQUIRE((cursor.At(offset, length).value() == sections.content.substr(offset, length)));
      }
      CHECK((cursor.At(10, 20).value() == sections.content.substr(10, 20)));
      CHECK((cursor.At(100, 1'000'000).value() == sections.content.substr(100, 1'000'000)));
      CHECK(cursor.At(1'500'000, 0).value().empty());
      CHECK(cursor.At(1'499'999, 2).status().code() == StatusCode::kCorrupt);
      CHECK(cursor.At(~uint64_t{0}, 2).status().code() == StatusCode::kCorrupt);
      CHECK((cursor.At(1'499'999, 1).value() == sections.content.substr(1'499'999)));
    }
  }
}

TEST_CASE("damage is noticed where it is read and not elsewhere, and never marked as checked", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  const Sections sections;
  sections.WriteTo(env, "/d/a");
  std::string bytes = env.ReadFile("/d/a").value();
  const auto entry = Open(env, "/d/a", AccessMode::kFile)->sections()[0];
  bytes[entry.offset + 3 * kPage + 17] ^= 1;
  REQUIRE(WriteFileAtomically(env, "/d/a", bytes).ok());
  for (const AccessMode mode : kModes) {
    const auto file = Open(env, "/d/a", mode);
    const SectionBytes section = file->Section(1, 0).value();
    ReadBuffer buffer;
    std::vector<std::string_view> out(2);
    const ByteRange ranges[] = {{10, 10}, {3 * kPage, 1}};
    CHECK(section.Read(2 * kPage, kPage, buffer).ok());
    CHECK(section.Read(4 * kPage, kPage, buffer).ok());
    for (int pass = 0; pass < 2; ++pass) {
      for (const Status& status :
           {section.Read(3 * kPage, 1, buffer).status(), section.Read(2 * kPage, 3 * kPage, buffer).status(),
            section.ReadBatch(ranges, out, buffer), SectionCursor(section).At(0, 10).status(),
            file->CheckAll(false)}) {
        if (status.ok()) {  // the mapped cursor looks at what is asked for only
          CHECK(mode == AccessMode::kMmap);
          continue;
        }
        CHECK(status.code() == StatusCode::kCorrupt);
        CHECK_THAT(status.text(), Contains("/d/a: wrong checksum of section 1.0 (offset") &&
                                      Contains(std::to_string(entry.offset + 3 * kPage)));
      }
    }
    CHECK(section.Read(0, 3 * kPage, buffer).ok());
  }
}

TEST_CASE("every changed byte of a file fails its opening or its check", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  Sections(5000).WriteTo(env, "/d/a");
  const std::string good = env.ReadFile("/d/a").value();
  for (size_t at = 0; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    auto file = env.Create("/d/a").value();
    REQUIRE(file->Append(damaged).ok());
    const auto opened = OpenSectionFile::Open(env, "/d/a", kKind, kModes[at % 2]);
    const Status status = opened.ok() ? opened.value()->CheckAll(false) : opened.status();
    CAPTURE(at);
    REQUIRE(!status.ok());
    REQUIRE_THAT(status.text(), Contains("/d/a"));
  }
}

TEST_CASE("a file cut at any length is not opened", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  Sections(200).WriteTo(env, "/d/a");
  const std::string good = env.ReadFile("/d/a").value();
  for (size_t length = 0; length < good.size(); ++length) {
    auto file = env.Create("/d/a").value();
    REQUIRE(file->Append(std::string_view(good).substr(0, length)).ok());
    for (const AccessMode mode : kModes) {
      REQUIRE(OpenSectionFile::Open(env, "/d/a", kKind, mode).status().code() == StatusCode::kCorrupt);
    }
  }
}

TEST_CASE("a table whose sections cannot be is refused although its checksum is right", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  const std::vector<SectionEntry> tables[] = {
      {{.kind = 1, .offset = 64, .length = 100}, {.kind = 2, .offset = 128, .length = 1}},        // overlap
      {{.kind = 1, .offset = 64, .length = 64, .page_size = kPage}, {.kind = 2, .offset = 128}},  // checksums
      {{.kind = 1, .offset = 128}, {.kind = 2, .offset = 64}},                                    // order
      {{.kind = 1, .offset = 0, .length = 1}},                                                    // header
      {{.kind = 1, .offset = 65, .length = 1}},                                                   // alignment
      {{.kind = 1, .offset = 64, .length = 16'384}},                                              // table
      {{.kind = 1, .offset = 16'320, .length = 64, .page_size = kPage}},           // checksums in the table
      {{.kind = 1, .offset = 1 << 20, .length = 0}},                               // behind the end
      {{.kind = 1, .offset = ~uint64_t{63}, .length = 128}},                       // wraps
      {{.kind = 1, .offset = 64, .length = ~uint64_t{0}}},                         // wraps
      {{.kind = 1, .offset = 64, .page_size = 2048}},                              // pages too small
      {{.kind = 1, .offset = 64, .page_size = 1u << 31}},                          // pages too large
      {{.kind = 1, .key = 3, .offset = 64}, {.kind = 1, .key = 3, .offset = 64}},  // twice
  };
  for (const auto& table : tables) {
    WriteTable(env, "/d/a", table);
    for (const AccessMode mode : kModes) {
      const Status status = OpenSectionFile::Open(env, "/d/a", kKind, mode).status();
      CHECK(status.code() == StatusCode::kCorrupt);
      CHECK_THAT(status.text(), Contains("/d/a"));
    }
  }
}

TEST_CASE("a mapped file that shrinks is an input error for pages checked before and after", "[storage]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  Sections().WriteTo(Env::Posix(), path);
  const auto file = Open(Env::Posix(), path, AccessMode::kMmap);
  const SectionBytes section = file->Section(1, 0).value();
  REQUIRE(section.Verify(200'000, 10).ok());
  REQUIRE(::truncate(path.c_str(), 8192) == 0);
  CHECK(section.address()[200'000] == 0);
  CHECK(section.CheckReadable().code() == StatusCode::kIo);
  ReadBuffer buffer;
  for (const Status& status : {section.Verify(200'000, 10), section.Verify(100'000, 10),
                               section.Read(100'000, 10, buffer).status(), file->CheckAll(false)}) {
    CHECK(status.code() == StatusCode::kIo);
    CHECK_THAT(status.text(), Contains(path));
  }
}

TEST_CASE("a page that is lost while its checksum is computed is an input error, not damage", "[storage]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  Sections().WriteTo(Env::Posix(), path);
  const auto file = Open(Env::Posix(), path, AccessMode::kMmap);
  REQUIRE(::truncate(path.c_str(), 8192) == 0);
  CHECK(file->Section(1, 0).value().Verify(100'000, 10).code() == StatusCode::kIo);
}

TEST_CASE("failing reads fail the batch and later ones succeed", "[storage]") {
  FaultyCase setup;
  const std::string path = setup.Root() + "/a";
  Sections().WriteTo(setup.env, path);
  for (const AccessMode mode : kModes) {
    const SectionBytes section = Open(setup.env, path, mode)->Section(1, 1).value();
    const ByteRange ranges[] = {{10, 10}, {200'000, 100}};
    std::vector<std::string_view> out(2);
    ReadBuffer buffer;
    REQUIRE(FaultPoints::Arm("env.read=fail").ok());
    CHECK(section.ReadBatch(ranges, out, buffer).code() == StatusCode::kIo);
    CHECK(section.Read(0, 10, buffer).status().code() == StatusCode::kIo);
    REQUIRE(FaultPoints::Arm("").ok());
    CHECK(section.ReadBatch(ranges, out, buffer).ok());
  }
}

TEST_CASE("threads check, read and ask for the same pages at once", "[storage][threads]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  const Sections sections;
  sections.WriteTo(Env::Posix(), path);
  for (const AccessMode mode : kModes) {
    const auto file = Open(Env::Posix(), path, mode);
    std::atomic<int> wrong{0};
    std::vector<std::jthread> threads;
    for (uint32_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937 random(thread);
        const SectionBytes section = file->Section(1, thread % 2).value();
        for (int i = 0; i < 200; ++i) {
          const ByteRange ranges[] = {{random() % 290'000, 5000}, {random() % 290'000, 100}};
          std::string_view out[2];
          ReadBuffer buffer;
          section.WillNeed(ranges);
          wrong += !section.ReadBatch(ranges, out, buffer).ok() ||
                   out[0] != std::string_view(sections.content).substr(ranges[0].offset, 5000);
        }
      });
    }
    threads.clear();
    CHECK(wrong == 0);
  }
}

TEST_CASE("a cursor and batches over kept pages have the file's bytes, whatever the budget", "[storage]") {
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/d").ok());
  const Sections sections(1'500'000);
  sections.WriteTo(env, "/d/a");
  const std::string_view content = sections.content;
  for (const uint64_t pages : {1, 3, 20, 100}) {
    const auto cache = std::make_shared<PageCache>(pages * PageCache::kPageBytes);
    auto file = OpenSectionFile::Open(env, "/d/a", kKind, AccessMode::kFile, cache).value();
    for (const SectionBytes& section : Sizable(*file)) {
      SectionCursor cursor(section);
      for (int round = 0; round < 3; ++round) {
        for (uint64_t offset = 0; offset < content.size(); offset += 777) {
          const uint64_t length = std::min<uint64_t>(777, content.size() - offset);
          REQUIRE((cursor.At(offset, length).value() == content.substr(offset, length)));
          REQUIRE((cursor.At(offset, length).value() == content.substr(offset, length)));
        }
      }
      CHECK((cursor.At(65'530, 1'000'000).value() == content.substr(65'530, 1'000'000)));
      CHECK((cursor.At(65'530, 10).value() == content.substr(65'530, 10)));
      CHECK(cursor.At(1'500'000, 0).value().empty());
      CHECK(cursor.At(1'499'999, 2).status().code() == StatusCode::kCorrupt);
      CHECK(cursor.At(~uint64_t{0}, 2).status().code() == StatusCode::kCorrupt);
      const ByteRange ranges[] = {{10, 10}, {65'000, 1000}, {700'000, 200'000}, {1'499'990, 10}};
      std::string_view out[4];
      ReadBuffer buffer;
      REQUIRE(section.ReadBatch(ranges, out, buffer).ok());
      for (size_t i = 0; i < 4; ++i) {
        CHECK((out[i] == content.substr(ranges[i].offset, ranges[i].length)));
      }
    }
    CHECK(cache->used_bytes() > 0);
    CHECK(cache->used_bytes() <= cache->budget());
    file.reset();
    CHECK(cache->used_bytes() == 0);
  }
}

TEST_CASE("a page that is damaged or was not read is not kept", "[storage]") {
  FaultyCase setup;
  const std::string path = setup.Root() + "/a";
  Sections().WriteTo(setup.env, path);
  std::string bytes = setup.env.ReadFile(path).value();
  const uint64_t begin = Open(setup.env, path, AccessMode::kFile)->sections()[1].offset;
  bytes[begin + 2 * PageCache::kPageBytes + 5] ^= 1;
  REQUIRE(WriteFileAtomically(setup.env, path, bytes).ok());
  const auto cache = std::make_shared<PageCache>(10 * PageCache::kPageBytes);
  const auto file = OpenSectionFile::Open(setup.env, path, kKind, AccessMode::kFile, cache).value();
  SectionCursor cursor(file->Section(1, 1).value());
  REQUIRE(FaultPoints::Arm("env.read=fail").ok());
  CHECK(cursor.At(0, 10).status().code() == StatusCode::kIo);
  REQUIRE(FaultPoints::Arm("").ok());
  CHECK(cache->used_bytes() == 0);
  CHECK(cursor.At(0, 10).ok());
  for (int i = 0; i < 2; ++i) {
    CHECK(cursor.At(2 * PageCache::kPageBytes + 100, 10).status().code() == StatusCode::kCorrupt);
    CHECK(cursor.At(3 * PageCache::kPageBytes - 5, 10).status().code() == StatusCode::kCorrupt);
    CHECK(cursor.At(2 * PageCache::kPageBytes - 5, 5).ok());
  }
  CHECK(cache->used_bytes() == 2 * PageCache::kPageBytes);
}

TEST_CASE("threads scan and pick from a file through one small cache", "[storage][threads]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  const Sections sections(1'500'000);
  sections.WriteTo(Env::Posix(), path);
  const std::string_view content = sections.content;
  const auto cache = std::make_shared<PageCache>(12 * PageCache::kPageBytes);
  const auto file = OpenSectionFile::Open(Env::Posix(), path, kKind, AccessMode::kFile, cache).value();
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const SectionBytes section = file->Section(1, 1).value();
      SectionCursor cursor(section);
      std::mt19937 random(thread);
      for (uint64_t offset = thread * 300'000; offset < 1'499'000; offset += 900) {
        const auto scanned = cursor.At(offset, 900);
        wrong += !scanned.ok() || *scanned != content.substr(offset, 900) ? 1 : 0;
        const ByteRange range{random() % 1'490'000, 5000};
        std::string_view out;
        ReadBuffer buffer;
        wrong += !section.ReadBatch({&range, 1}, {&out, 1}, buffer).ok() ||
                         out != content.substr(range.offset, 5000)
                     ? 1
                     : 0;
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
  CHECK(cache->used_bytes() <= cache->budget());
}

}  // namespace stoa::storage
