#include "storage/base/env.h"

#include <catch2/catch.hpp>

#include "base/temporary_folder.h"
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

}  // namespace

TEMPLATE_TEST_CASE("files can be written, read, cut, renamed and removed", "[base]", PosixCase, MemoryCase,
                   FaultyCase) {
  TestType setup;
  Env& env = setup.env;
  const std::string root = setup.Root();
  auto file = env.Create(root + "/a").value();
  REQUIRE(file->Append("hello ").ok());
  REQUIRE(file->Append("world").ok());
  REQUIRE(file->Truncate(5).ok());
  REQUIRE(file->Append("!").ok());
  REQUIRE(file->Sync().ok());
  REQUIRE(file->Close().ok());
  CHECK(env.ReadFile(root + "/a").value() == "hello!");
  CHECK(env.ReadRange(root + "/a", 1, 3).value() == "ell");
  CHECK(env.ReadRange(root + "/a", 6, 0).value().empty());
  CHECK(env.ReadRange(root + "/a", 4, 3).status().code() == StatusCode::kCorrupt);
  CHECK(env.FileSize(root + "/a").value() == 6);

  file = env.OpenForAppend(root + "/a").value();
  REQUIRE(file->Append("?").ok());
  REQUIRE(env.Rename(root + "/a", root + "/b").ok());
  CHECK_FALSE(env.Exists(root + "/a"));
  CHECK(env.ReadFile(root + "/b").value() == "hello!?");

  REQUIRE(env.MakeFolder(root + "/x/y").ok());
  REQUIRE(env.MakeFolder(root + "/x/y").ok());
  REQUIRE(env.Create(root + "/x/y/z").ok());
  REQUIRE(env.SyncFolder(root + "/x").ok());
  CHECK(env.List(root).value() == std::vector<std::string>{"b", "x"});
  REQUIRE(env.RemoveTree(root + "/x").ok());
  REQUIRE(env.RemoveTree(root + "/x").ok());
  REQUIRE(env.Remove(root + "/b").ok());
  CHECK(env.List(root).value().empty());
}

TEMPLATE_TEST_CASE("an error names the path and a missing file is not found", "[base]", PosixCase,
                   MemoryCase) {
  TestType setup;
  Env& env = setup.env;
  const std::string root = setup.Root();
  const std::string missing = root + "/missing";
  for (const Status& status :
       {env.ReadFile(missing).status(), env.FileSize(missing).status(), env.Remove(missing),
        env.List(missing).status(), env.Rename(missing, root + "/b"), env.SyncFolder(missing),
        env.Create(missing + "/a").status()}) {
    CHECK(status.code() == StatusCode::kNotFound);
    CHECK_THAT(status.text(), Contains(missing));
  }
  REQUIRE(env.Create(root + "/file").ok());
  CHECK(env.MakeFolder(root + "/file").code() == StatusCode::kIo);
}

TEMPLATE_TEST_CASE("a folder is locked once until the lock is let go", "[base]", PosixCase, MemoryCase) {
  TestType setup;
  const std::string root = setup.Root();
  auto lock = setup.env.Lock(root);
  REQUIRE(lock.ok());
  CHECK_THAT(setup.env.Lock(root).status().text(), Contains(root) && Contains("in use"));
  lock.value().reset();
  CHECK(setup.env.Lock(root).ok());
}

TEST_CASE("an atomic write leaves the old file or the new one, never a mix", "[base]") {
  FaultyCase setup;
  const std::string path = setup.Root() + "/a";
  REQUIRE(WriteFileAtomically(setup.env, path, "old").ok());
  for (const char* spec : {"env.create=fail", "env.append.torn=full", "env.sync=fail@1", "env.rename=fail"}) {
    Faults faults(spec);
    CHECK(WriteFileAtomically(setup.env, path, "new").code() == StatusCode::kIo);
    CHECK(setup.env.ReadFile(path).value() == "old");
    CHECK(setup.env.List("/data").value().size() == 1);
  }
  REQUIRE(WriteFileAtomically(setup.env, path, "new").ok());
  REQUIRE(setup.env.DropUnsynced().ok());
  CHECK(setup.env.ReadFile(path).value() == "new");
}

TEST_CASE("a power cut loses what was not synced and nothing else", "[base]") {
  FaultyCase setup;
  const std::string root = setup.Root();
  auto kept = setup.env.Create(root + "/kept").value();
  REQUIRE(kept->Append("12345").ok());
  REQUIRE(kept->Sync().ok());
  REQUIRE(setup.env.SyncFolder(root).ok());
  REQUIRE(kept->Append("678").ok());
  auto nameless = setup.env.Create(root + "/nameless").value();
  REQUIRE(nameless->Append("x").ok());
  REQUIRE(nameless->Sync().ok());
  REQUIRE(setup.env.DropUnsynced().ok());
  CHECK(setup.env.ReadFile(root + "/kept").value() == "12345");
  CHECK_FALSE(setup.env.Exists(root + "/nameless"));
}

TEST_CASE("bytes of a failed sync stay lost although the next sync succeeds", "[base]") {
  FaultyCase setup;
  const std::string root = setup.Root();
  auto file = setup.env.Create(root + "/a").value();
  REQUIRE(setup.env.SyncFolder(root).ok());
  REQUIRE(file->Append("123").ok());
  REQUIRE(file->Sync().ok());
  REQUIRE(file->Append("456").ok());
  Faults faults("env.sync=full@1");
  const Status failed = file->Sync();
  CHECK_THAT(failed.text(), Contains("/data/a") && Contains("No space left"));
  REQUIRE(file->Sync().ok());
  REQUIRE(setup.env.DropUnsynced().ok());
  CHECK(setup.env.ReadFile(root + "/a").value() == "123");
}

TEST_CASE("a torn write leaves a strict prefix", "[base]") {
  FaultyCase setup;
  const std::string root = setup.Root();
  Faults faults("env.append.torn=fail,seed=3");
  for (int i = 0; i < 20; ++i) {
    auto file = setup.env.Create(root + "/a").value();
    CHECK(file->Append("0123456789").code() == StatusCode::kIo);
    const std::string left = setup.env.ReadFile(root + "/a").value();
    CHECK(left.size() < 10);
    CHECK(std::string("0123456789").starts_with(left));
  }
  CHECK(FaultPoints::Report() == "env.append.torn 20\n");
}

}  // namespace stoa
