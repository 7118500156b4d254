#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <random>
#include <thread>

#include "base/temporary_folder.h"
#include "storage/base/batch_read.h"
#include "storage/base/env.h"
#include "storage/base/fault_point.h"
#include "storage/base/faulty_env.h"
#include "storage/base/memory_env.h"

namespace stoa {
namespace {

using Catch::Matchers::Contains;

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

// Disarms at the end of a test.
struct Faults {
  explicit Faults(std::string_view spec) { REQUIRE(FaultPoints::Arm(spec).ToString() == "ok"); }
  ~Faults() { static_cast<void>(FaultPoints::Arm("")); }
};

struct BatchMode {
  explicit BatchMode(BatchReadMode mode) { SetBatchReadMode(mode); }
  ~BatchMode() { SetBatchReadMode(before); }
  const BatchReadMode before = CurrentBatchReadMode();
};

std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  std::mt19937 random(7);
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  return bytes;
}

void Write(Env& env, const std::string& path, std::string_view bytes) {
  REQUIRE(WriteFileAtomically(env, path, bytes).ToString() == "ok");
}

std::string_view View(const MappedFile& file) { return {file.bytes().data(), file.bytes().size()}; }

// Every nth piece of a file, in no order, and what they should be.
struct Batch {
  Batch(const std::string& content, size_t pieces, size_t length) : expected(pieces), got(pieces) {
    std::mt19937 random(11);
    for (size_t i = 0; i < pieces; ++i) {
      const uint64_t offset = random() % (content.size() - length);
      expected[i] = content.substr(offset, length);
      got[i].resize(length);
      requests.push_back({offset, got[i]});
    }
  }
  std::vector<std::string> expected;
  std::vector<std::string> got;
  std::vector<ReadRequest> requests;
};

}  // namespace

TEMPLATE_TEST_CASE("an open file is read by position, also after it was removed", "[base]", PosixCase,
                   MemoryCase, FaultyCase) {
  TestType setup;
  const std::string path = setup.Root() + "/a";
  Write(setup.env, path, "0123456789");
  const auto file = setup.env.OpenForRead(path).value();
  REQUIRE(setup.env.Remove(path).ok());
  CHECK(file->path() == path);
  CHECK(file->size() == 10);
  std::string to(4, ' ');
  REQUIRE(file->Read(3, to).ok());
  CHECK(to == "3456");
  std::string first(2, ' ');
  std::string last(1, ' ');
  const ReadRequest requests[] = {{9, last}, {0, first}, {10, {}}};
  REQUIRE(file->ReadBatch(requests).ok());
  CHECK(first + last == "019");
  file->DropBehind(0, 10);
  CHECK(file->Read(0, to).ok());
}

TEMPLATE_TEST_CASE("a read behind the end of an open file is corrupt and names path and offset", "[base]",
                   PosixCase, MemoryCase, FaultyCase) {
  TestType setup;
  const std::string path = setup.Root() + "/a";
  Write(setup.env, path, Pattern(10'000));
  const auto file = setup.env.OpenForRead(path).value();
  std::string to(4, ' ');
  std::string good(4, ' ');
  for (const uint64_t offset : {uint64_t{9'997}, uint64_t{10'000}, uint64_t{1} << 40, ~uint64_t{0}}) {
    const ReadRequest requests[] = {{0, good}, {offset, to}};
    for (const Status& status : {file->Read(offset, to), file->ReadBatch(requests)}) {
      CHECK(status.code() == StatusCode::kCorrupt);
      CHECK_THAT(status.text(), Contains(path) && Contains("offset"));
    }
  }
}

TEMPLATE_TEST_CASE("a mapping has the bytes of the file and 64 readable ones behind", "[base]", PosixCase,
                   MemoryCase, FaultyCase) {
  TestType setup;
  for (const size_t size : {0, 1, 4031, 4032, 4033, 4095, 4096, 4097, 8192, 200'000}) {
    const std::string path = setup.Root() + "/a";
    const std::string content = Pattern(size);
    Write(setup.env, path, content);
    const auto file = setup.env.Map(path).value();
    REQUIRE(setup.env.Remove(path).ok());
    CHECK(file->path() == path);
    REQUIRE(View(*file) == content);
    CHECK(reinterpret_cast<uintptr_t>(file->bytes().data()) % 4096 == 0);
    const char* const end = file->bytes().data() + size;
    CHECK(std::all_of(end, end + 64, [](char byte) { return byte == 0; }));
    const ByteRange ranges[] = {{size / 2, size}, {size, 1}, {0, 1}, {~uint64_t{0} - 1, 2}, {size + 5000, 0}};
    file->WillNeed(ranges);
    for (const ByteRange& range : ranges) {
      file->Advise(range, AccessPattern::kRandom);
      file->Advise(range, AccessPattern::kNormal);
      file->DropBehind(range);
    }
    CHECK(file->ResidentBytes() >= size);
    CHECK(file->CheckReadable().ok());
    CHECK(View(*file) == content);
  }
}

TEMPLATE_TEST_CASE("a missing file is not found when it is opened or mapped, free bytes are known", "[base]",
                   PosixCase, MemoryCase, FaultyCase) {
  TestType setup;
  const std::string root = setup.Root();
  for (const Status& status :
       {setup.env.OpenForRead(root + "/x").status(), setup.env.Map(root + "/x").status(),
        setup.env.FreeBytes(root + "/x").status()}) {
    CHECK(status.code() == StatusCode::kNotFound);
    CHECK_THAT(status.text(), Contains(root + "/x"));
  }
  CHECK(setup.env.FreeBytes(root).value() > 0);
}

TEST_CASE("a folder is neither opened for reading nor mapped", "[base]") {
  TemporaryFolder folder;
  CHECK(Env::Posix().OpenForRead(folder.path()).status().code() == StatusCode::kIo);
  CHECK(Env::Posix().Map(folder.path()).status().code() == StatusCode::kIo);
}

TEST_CASE("what was written later is not in a file that was opened in memory", "[base]") {
  MemoryCase setup;
  const std::string path = setup.Root() + "/a";
  Write(setup.env, path, "old");
  const auto mapped = setup.env.Map(path).value();
  auto file = setup.env.OpenForAppend(path).value();
  REQUIRE(file->Truncate(1).ok());
  REQUIRE(file->Append(std::string(1000, 'x')).ok());
  CHECK(View(*mapped) == "old");
}

TEST_CASE("the fault point env.read fails every way to read", "[base]") {
  FaultyCase setup;
  const std::string path = setup.Root() + "/a";
  Write(setup.env, path, "0123456789");
  const auto file = setup.env.OpenForRead(path).value();
  const auto mapped = setup.env.Map(path).value();
  std::string to(4, ' ');
  const ReadRequest requests[] = {{0, to}};
  {
    Faults faults("env.read=fail");
    for (const Status& status :
         {file->Read(0, to), file->ReadBatch(requests), mapped->CheckReadable(), setup.env.Map(path).status(),
          setup.env.OpenForRead(path).status(), setup.env.ReadFile(path).status(),
          setup.env.ReadRange(path, 0, 1).status()}) {
      CHECK(status.code() == StatusCode::kIo);
      CHECK_THAT(status.text(), Contains(path) && Contains("env.read"));
    }
  }
  CHECK(file->ReadBatch(requests).ok());
  CHECK(mapped->CheckReadable().ok());
}

TEST_CASE("a batch has the bytes of each request, cold and warm, in every mode", "[base]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  const std::string content = Pattern(8 << 20);
  Write(Env::Posix(), path, content);
  const auto file = Env::Posix().OpenForRead(path).value();
  const auto mode = GENERATE(BatchReadMode::kRing, BatchReadMode::kReadahead, BatchReadMode::kPlain);
  CAPTURE(BatchReadModeName(mode));
  BatchMode use(mode);
  for (const auto& [pieces, length] : {std::pair(1, 10), std::pair(2, 5000), std::pair(1000, 3000)}) {
    file->DropBehind(0, content.size());
    for (int pass = 0; pass < 2; ++pass) {
      Batch batch(content, static_cast<size_t>(pieces), static_cast<size_t>(length));
      REQUIRE(file->ReadBatch(batch.requests).ToString() == "ok");
      CHECK(batch.got == batch.expected);
    }
  }
  std::string whole(content.size(), ' ');
  std::string half(content.size() / 2, ' ');
  file->DropBehind(content.size() / 4, content.size() / 2);
  const ReadRequest large[] = {{0, whole}, {content.size() / 2, half}};
  REQUIRE(file->ReadBatch(large).ok());
  CHECK(whole == content);
  CHECK(half == content.substr(content.size() / 2));
}

TEST_CASE("a batch fails in every mode when the file has become shorter", "[base]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  const std::string content = Pattern(4 << 20);
  Write(Env::Posix(), path, content);
  const auto file = Env::Posix().OpenForRead(path).value();
  REQUIRE(::truncate(path.c_str(), 1 << 20) == 0);
  const auto mode = GENERATE(BatchReadMode::kRing, BatchReadMode::kReadahead, BatchReadMode::kPlain);
  BatchMode use(mode);
  file->DropBehind(0, content.size());
  Batch batch(content, 600, 4096);
  const Status status = file->ReadBatch(batch.requests);
  CHECK(status.code() == StatusCode::kCorrupt);
  CHECK_THAT(status.text(), Contains(path));
}

TEST_CASE("batches of many threads do not disturb each other", "[base][threads]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  const std::string content = Pattern(4 << 20);
  Write(Env::Posix(), path, content);
  const auto file = Env::Posix().OpenForRead(path).value();
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          file->DropBehind(0, content.size());
          Batch batch(content, 100, 2000);
          wrong += !file->ReadBatch(batch.requests).ok() || batch.got != batch.expected;
        }
      });
    }
  }
  CHECK(wrong == 0);
}

// Bytes of the file that the page cache holds.
uint64_t CachedBytes(const std::string& path) { return Env::Posix().Map(path).value()->ResidentBytes(); }

TEST_CASE("a large file that is paced is on the disk before it is synced, and leaves the cache", "[base]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  const std::string piece = Pattern(1 << 20);
  const auto file = Env::Posix().Create(path).value();
  file->PaceWriteOut(true);
  uint64_t most = 0;
  for (int i = 0; i < 40; ++i) {
    REQUIRE(file->Append(piece).ok());
    most = std::max(most, CachedBytes(path));
  }
  REQUIRE(file->Sync().ok());
  if (CachedBytes(path) > 0) {
    WARN("the file system keeps pages: not tested");
    return;
  }
  CHECK(most <= 16u << 20);
  REQUIRE(file->Append("end").ok());
  REQUIRE(file->Close().ok());
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    expected += piece;
  }
  CHECK(Env::Posix().ReadFile(path).value() == expected + "end");
}

TEST_CASE("pages of a mapping are given up and read again", "[base]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  const std::string content = Pattern(100 * 4096 + 5);
  Write(Env::Posix(), path, content);
  const auto file = Env::Posix().Map(path).value();
  const auto other = Env::Posix().OpenForRead(path).value();
  REQUIRE(View(*file) == content);
  const ByteRange all{0, content.size()};
  file->GiveUp({&all, 1});
  if (file->ResidentBytes() > 0) {
    WARN("the file system keeps pages: not tested");
    return;
  }
  std::string to(4096, ' ');
  REQUIRE(other->Read(50 * 4096, to).ok());
  const CachedPages cached = file->Cached();
  CHECK(cached.pages.size() == 101);
  CHECK(cached.pages[50]);
  CHECK_FALSE(cached.pages[100]);
  CHECK(other->Cached().pages == cached.pages);
  const ByteRange ranges[] = {{50 * 4096, 1}, {~uint64_t{0} - 1, 2}};
  file->GiveUp(ranges);
  CHECK_FALSE(file->Cached().pages[50]);
  CHECK(View(*file) == content);
}

TEST_CASE("a mapped page that the file lost reads as zeros and marks the mapping", "[base]") {
  TemporaryFolder folder;
  const std::string path = folder / "a";
  Write(Env::Posix(), path, std::string(10 * 4096, 'x'));
  Write(Env::Posix(), folder / "b", std::string(4096, 'y'));
  const auto file = Env::Posix().Map(path).value();
  const auto other = Env::Posix().Map(folder / "b").value();
  REQUIRE(::truncate(path.c_str(), 4096) == 0);
  CHECK(View(*file)[4095] == 'x');
  CHECK(file->CheckReadable().ok());
  CHECK(View(*file)[5 * 4096 + 17] == 0);
  CHECK(View(*file)[10 * 4096 - 1] == 0);
  CHECK(View(*file)[0] == 'x');
  const Status status = file->CheckReadable();
  CHECK(status.code() == StatusCode::kIo);
  CHECK_THAT(status.text(), Contains(path));
  CHECK(other->CheckReadable().ok());
  CHECK(View(*other)[0] == 'y');
  // A new mapping may get the same addresses; it is not marked.
  CHECK(Env::Posix().Map(folder / "b").value()->CheckReadable().ok());
}

TEST_CASE("threads that map, lose pages and let go mark their own mappings only", "[base][threads]") {
  TemporaryFolder folder;
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        const std::string path = folder / std::to_string(thread);
        const bool loses = thread % 2 == 0;
        for (int i = 0; i < 50; ++i) {
          wrong += !WriteFileAtomically(Env::Posix(), path, std::string(3 * 4096, 'x')).ok();
          const auto file = Env::Posix().Map(path).value();
          wrong += loses && ::truncate(path.c_str(), 0) != 0;
          wrong += View(*file)[4096] != (loses ? 0 : 'x');
          wrong += file->CheckReadable().ok() == loses;
        }
      });
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("more mappings than one block of the registry are guarded", "[base]") {
  TemporaryFolder folder;
  Write(Env::Posix(), folder / "a", std::string(4096, 'x'));
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (int i = 0; i < 600; ++i) {
    files.push_back(Env::Posix().Map(folder / "a").value());
  }
  REQUIRE(::truncate((folder / "a").c_str(), 0) == 0);
  for (const auto& file : files) {
    REQUIRE(View(*file)[100] == 0);
    REQUIRE(file->CheckReadable().code() == StatusCode::kIo);
  }
}

TEST_CASE("a SIGBUS that is not of a guarded mapping still ends the process", "[base]") {
  TemporaryFolder folder;
  Write(Env::Posix(), folder / "a", "x");
  const auto file = Env::Posix().Map(folder / "a").value();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(STDERR_FILENO);
    ::kill(::getpid(), SIGBUS);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

}  // namespace stoa
