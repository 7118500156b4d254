#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include "base/temporary_folder.h"
#include "catalog_fixture.h"
#include "storage/base/fault_point.h"
#include "storage/base/faulty_env.h"
#include "storage/base/memory_env.h"
#include "storage/table/catalog.h"
#include "storage/table/head_builder.h"
#include "storage/table/job_registry.h"
#include "storage/table/table_files.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;
using testing::Dump;
using testing::Insert;
using Lines = std::vector<std::string>;

// Asks before a file is made.
class WatchedEnv : public FaultyEnv {
 public:
  using FaultyEnv::FaultyEnv;
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    if (before_create) {
      RETURN_IF_ERROR(before_create(path));
    }
    return FaultyEnv::Create(path);
  }
  std::function<Status(const std::string&)> before_create;
};

struct Server {
  explicit Server(std::string folder = "/data", Env* base = nullptr) : env(base != nullptr ? *base : memory) {
    options.data_dir = std::move(folder);
    options.auto_optimize = 0;
    Start();
  }
  void Start() {
    auto opened = Catalog::Open(options, env, clock);
    REQUIRE(opened.status().ToString() == "ok");
    catalog = std::move(opened).value();
  }
  void Create(const std::string& name) {
    REQUIRE(catalog->Create(testing::MakeDefinition(name)).status().ToString() == "ok");
  }
  void Write(const std::string& name, Change change) {
    const std::shared_ptr<Table> table = catalog->Find(name);
    REQUIRE(table != nullptr);
    const auto build = [&](const auto&) { return Result<WriteSet>(WriteSet{{table, std::move(change)}}); };
    REQUIRE(catalog->Commit({table}, build).status().ToString() == "ok");
  }
  // A table of two disk chunks.
  void MakeChunks(const std::string& name) {
    Create(name);
    Write(name, Insert({1, 2}, 5));
    REQUIRE(catalog->FlushRamChunk(name).ToString() == "ok");
    Write(name, Insert({3}, 6));
    REQUIRE(catalog->FlushRamChunk(name).ToString() == "ok");
  }
  Lines Rows(const std::string& name) { return Dump(*catalog->Find(name)->Snapshot()); }

  MemoryEnv memory;
  WatchedEnv env;
  testing::FixedClock clock;
  StorageOptions options;
  std::unique_ptr<Catalog> catalog;
};

// What another thread is going to do; false when it has not after a long time.
bool Comes(const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!what()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

TEST_CASE("a table is flushed, merged and dropped while a backup copies it", "[storage][threads]") {
  Server server;
  server.MakeChunks("t");
  std::promise<void> copying;
  std::promise<void> release;
  std::atomic<bool> first{true};
  server.env.before_create = [&](const std::string& path) {
    if (path.starts_with("/backups/") && first.exchange(false)) {
      copying.set_value();
      release.get_future().wait();
    }
    return Status::Ok();
  };
  const Lines rows = server.Rows("t");
  auto backup =
      std::async(std::launch::async, [&] { return server.catalog->Backup({"t"}, "/backups", nullptr); });
  copying.get_future().wait();
  auto others = std::async(std::launch::async, [&] {
    server.Write("t", Insert({4}, 7));
    OptimizeRequest all;
    all.cutoff = 1;
    all.wait = true;
    return server.catalog->FlushRamChunk("t").ok() && server.catalog->Optimize("t", all).ok() &&
           server.catalog->Drop("t").ok();
  });
  const bool in_time = others.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  release.set_value();
  CHECK(in_time);
  CHECK(others.get());
  const auto path = backup.get();
  REQUIRE(path.status().ToString() == "ok");
  server.catalog.reset();
  server.options.data_dir = *path;
  server.Start();
  CHECK(server.Rows("t") == rows);
}

TEST_CASE("a backup that is cancelled leaves nothing", "[storage]") {
  Server server;
  server.MakeChunks("t");
  CancelToken cancel;
  server.env.before_create = [&](const std::string& path) {
    if (path.starts_with("/backups/")) {
      cancel.Cancel();
    }
    return Status::Ok();
  };
  CHECK(server.catalog->Backup({"t"}, "/backups", &cancel).status().code() == StatusCode::kCancelled);
  CHECK(server.memory.List("/backups").value().empty());
}

TEST_CASE("a job that waits for a paused table, or for a mutex, can be cancelled", "[storage]") {
  JobRegistry jobs;
  const Table table(testing::EmptyTable(testing::MakeDefinition("t")));
  CancelToken cancel;
  const JobRegistry::Pause pause(jobs, table);
  auto waiting = std::async(std::launch::async, [&] {
    return jobs.Start({.table = &table, .table_name = "t", .what = "merge", .wait = true, .cancel = &cancel});
  });
  Mutex mutex;
  MutexLock lock(mutex);
  auto locking = std::async(std::launch::async, [&] { return WaitUntilFree(mutex, {nullptr, &cancel}); });
  cancel.Cancel();
  CHECK(waiting.get() == nullptr);
  CHECK(locking.get().code() == StatusCode::kCancelled);
}

TEST_CASE("a merge that could not be saved is saved later without being asked", "[storage]") {
  Server server;
  server.MakeChunks("t");
  OptimizeRequest all;
  all.cutoff = 1;
  all.wait = true;
  REQUIRE(FaultPoints::Arm("manifest.write=fail@1").ok());
  CHECK(server.catalog->Optimize("t", all).code() == StatusCode::kIo);
  REQUIRE(FaultPoints::Arm("").ok());
  CHECK(Comes([&] { return !server.memory.Exists("/data/t.t1/chunk.1.sph"); }));
  CHECK_FALSE(server.memory.Exists("/data/t.t1/chunk.2.sph"));
  const Lines rows = server.Rows("t");
  server.catalog.reset();
  server.Start();
  CHECK(server.Rows("t") == rows);
}

TEST_CASE("DROP and TRUNCATE work on a full disk, and once more when there is room again", "[storage]") {
  Server server;
  for (const char* name : {"a", "b", "c", "d"}) {
    server.MakeChunks(name);
  }
  std::atomic<bool> full{true};
  server.env.before_create = [&](const std::string& path) {
    const bool has_room = !full || !server.memory.Exists("/data/catalog.reserve");
    return has_room ? Status::Ok() : IoError("{}: cannot open: no space left on the device", path);
  };
  CHECK(server.catalog->Rename("a", "x").code() == StatusCode::kIo);
  CHECK(server.catalog->Drop("a").ToString() == "ok");
  CHECK_FALSE(server.memory.Exists("/data/a.t1"));
  full = false;
  CHECK(Comes([&] { return server.memory.Exists("/data/catalog.reserve"); }));
  full = true;
  CHECK(server.catalog->Truncate("b").ToString() == "ok");
  full = false;
  server.catalog.reset();
  server.Start();
  CHECK(server.catalog->Find("a") == nullptr);
  CHECK(server.Rows("b").empty());
  CHECK(server.Rows("c").size() == 3);
}

TEST_CASE("a chunk whose file is whole again is opened again without a restart", "[storage]") {
  TemporaryFolder folder;
  Server server(folder / "data", &Env::Posix());
  server.MakeChunks("t");
  const Lines rows = server.Rows("t");
  const std::string path = folder / "data/t.t1/chunk.1.spa";
  const std::string bytes = Env::Posix().ReadFile(path).value();
  REQUIRE(::truncate(path.c_str(), 0) == 0);
  const auto table = server.catalog->Find("t");
  const auto read = [&] {
    const auto snapshot = table->Snapshot();
    return CopyRows(*snapshot->parts[0], {{RowId(0)}}, *snapshot->definition).status();
  };
  CHECK(read().code() == StatusCode::kIo);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
  CHECK(Comes([&] { return read().ok(); }));
  CHECK(server.Rows("t") == rows);
}

TEST_CASE("failed work is tried again later and later, damage after an hour at the most", "[storage]") {
  RetryDelay retry;
  CHECK(retry.IsDue(0));
  CHECK(retry.Failed(100, StatusCode::kCorrupt));
  CHECK_FALSE(retry.IsDue(109));
  CHECK(retry.IsDue(110));
  CHECK_FALSE(retry.Failed(110, StatusCode::kCorrupt));
  CHECK_FALSE(retry.IsDue(129));
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(retry.Failed(1000, StatusCode::kCorrupt));
  }
  CHECK_FALSE(retry.IsDue(4599));
  CHECK(retry.IsDue(4600));
  CHECK(retry.Failed(5000, StatusCode::kIo));
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(retry.Failed(5000, StatusCode::kIo));
  }
  CHECK(retry.IsDue(5060));
  retry.Succeeded();
  CHECK(retry.IsDue(5000));
  CHECK(retry.Failed(5000, StatusCode::kIo));
}

TEST_CASE("patches on disk that the column cannot have are damage when the table is opened", "[storage]") {
  struct Case {
    ColumnType stored;
    ColumnType column;
    int64_t value;
    bool fits;
  };
  const Case item = GENERATE(values<Case>({{ColumnType::kInt, ColumnType::kInt, 15, true},
                                           {ColumnType::kInt, ColumnType::kInt, 16, false},  // 4 bits
                                           {ColumnType::kInt, ColumnType::kBigint, 16, true},
                                           {ColumnType::kBigint, ColumnType::kInt, 1, false},
                                           {ColumnType::kBool, ColumnType::kBool, 1, true},
                                           {ColumnType::kBool, ColumnType::kBool, 2, false}}));
  CAPTURE(static_cast<int>(item.stored), static_cast<int>(item.column), item.value);
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/data/t.t1").ok());
  TableDefinition definition = testing::MakeDefinition("t");
  definition.columns[1].type = item.column;
  definition.columns[1].bits = 4;
  const auto table = testing::EmptyTable(testing::MakeDefinition("t"));
  HeadBuilder builder(table);
  REQUIRE(builder.Insert(Insert({1, 2}, 1)).ok());
  const auto rows = builder.Finish().value();
  ChunkWriteInput input;
  input.parts = rows->parts;
  input.definition = rows->definition;
  input.id = ChunkId(1);
  REQUIRE(WriteChunk(env, "/data/t.t1", input).ToString() == "ok");
  PatchOverlayEdit edit(std::make_shared<const PatchOverlay>());
  auto patch = std::make_shared<PatchBlock>();
  patch->rows = {0};
  patch->values = {.column = ColumnId(1), .type = item.stored};
  patch->values.AppendInt(item.value);
  edit.SetBlock(ColumnId(1), item.stored, 0, std::move(patch));
  REQUIRE(WritePatchOverlay(env, "/data/t.t1", ChunkId(1), 1, *edit.Finish()).ok());
  ManifestTable named;
  named.definition = definition;
  named.folder = "t.t1";
  named.chunks = {{.id = ChunkId(1), .patch_generation = 1}};
  const Status status = OpenTableFiles(env, "/data", named, {}).status();
  if (item.fits) {
    CHECK(status.ToString() == "ok");
  } else {
    CHECK(status.code() == StatusCode::kCorrupt);
    CHECK_THAT(status.text(), Contains("/data/t.t1/chunk.1.spu.1") && Contains("column 1 'n'"));
  }
}

TEST_CASE("the catalog counts flushes, merges and transactions", "[storage]") {
  Server server;
  server.MakeChunks("t");
  const auto table = server.catalog->Find("t");
  CHECK(server.catalog->Statistics(*table).transaction == 2);
  CHECK(server.catalog->Statistics(*table).saved_transaction == 2);
  server.Write("t", Insert({4}, 1));
  CHECK(server.catalog->Statistics(*table).transaction == 3);
  CHECK(server.catalog->Statistics(*table).saved_transaction == 2);
  OptimizeRequest all;
  all.cutoff = 1;
  all.wait = true;
  REQUIRE(server.catalog->Optimize("t", all).ok());
  REQUIRE(FaultPoints::Arm("chunk.write=fail@1").ok());
  CHECK(server.catalog->FlushRamChunk("t").code() == StatusCode::kIo);
  REQUIRE(FaultPoints::Arm("").ok());
  const StorageCounters counters = server.catalog->counters();
  CHECK(counters.flushes.finished == 2);
  CHECK(counters.flushes.failed == 1);
  CHECK(counters.merges.finished == 1);
  CHECK(counters.merges.failed == 0);
  CHECK(counters.merges.bytes == server.catalog->Statistics(*table).chunks.at(0).disk_bytes);
}

}  // namespace
}  // namespace stoa::storage
