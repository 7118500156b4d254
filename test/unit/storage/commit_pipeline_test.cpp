#include "storage/table/commit_pipeline.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <thread>

#include "fake_chunk.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using testing::Dump;
using testing::Insert;
using Lines = std::vector<std::string>;

// A log whose syncs happen, or fail, when the test says so.
class FakeLog : public Binlog {
 public:
  Result<Lsn> Append(std::string_view) override {
    MutexLock lock(mutex_);
    if (refuse_) {
      return IoError("disk full");
    }
    changed_.NotifyAll();
    return Lsn(++appended_);
  }
  Status MakeDurable(Lsn lsn) override {
    MutexLock lock(mutex_);
    while (lsn.value > durable_ && !given_up_.contains(lsn.value)) {
      changed_.Wait(mutex_);
    }
    return given_up_.contains(lsn.value) ? IoError("disk on fire") : Status::Ok();
  }
  Lsn last_appended() const override {
    MutexLock lock(mutex_);
    return Lsn(appended_);
  }
  Lsn last_durable() const override {
    MutexLock lock(mutex_);
    return Lsn(durable_);
  }
  Status Forget(Lsn) override { return Status::Ok(); }
  Status Close() override { return Status::Ok(); }
  size_t retained_segments() const override { return 1; }
  BinlogCounters counters() const override { return {}; }

  void SyncUpTo(uint64_t lsn) {
    MutexLock lock(mutex_);
    durable_ = lsn;
    changed_.NotifyAll();
  }
  void GiveUp(uint64_t lsn) {
    MutexLock lock(mutex_);
    given_up_.insert(lsn);
    changed_.NotifyAll();
  }
  void Refuse(bool refuse) {
    MutexLock lock(mutex_);
    refuse_ = refuse;
  }
  void WaitForAppended(uint64_t lsn) {
    MutexLock lock(mutex_);
    while (appended_ < lsn) {
      changed_.Wait(mutex_);
    }
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t appended_ GUARDED_BY(mutex_) = 0;
  uint64_t durable_ GUARDED_BY(mutex_) = 0;
  std::set<uint64_t> given_up_ GUARDED_BY(mutex_);
  bool refuse_ GUARDED_BY(mutex_) = false;
};

struct Setup {
  explicit Setup(std::unique_ptr<FakeLog> fake = std::make_unique<FakeLog>())
      : log(fake.get()), pipeline(std::move(fake)) {}

  std::shared_ptr<Table> NewTable(const std::string& name, uint64_t id, const char* binlog = "1") {
    TableDefinition definition = testing::MakeDefinition(name, id);
    definition.settings["binlog"] = binlog;
    return std::make_shared<Table>(testing::EmptyTable(std::move(definition)));
  }
  Status Commit(const std::vector<TableChange>& changes) {
    std::vector<std::shared_ptr<Table>> tables;
    for (const TableChange& change : changes) {
      tables.push_back(change.table);
    }
    return pipeline.Commit(tables, [&](const auto&) { return Result<WriteSet>(changes); }).status();
  }
  // Commits in a thread of its own and returns once the log has the record.
  void CommitLater(const std::vector<TableChange>& changes, Status& status) {
    const uint64_t lsn = log->last_appended().value + 1;
    threads.emplace_back([this, changes, &status] { status = Commit(changes); });
    log->WaitForAppended(lsn);
  }
  void Join() {
    for (std::thread& thread : threads) {
      thread.join();
    }
    threads.clear();
  }

  FakeLog* log;
  CommitPipeline pipeline;
  std::vector<std::thread> threads;
};

TEST_CASE("a commit is seen when its record is durable, not before", "[storage][threads]") {
  Setup setup;
  const auto table = setup.NewTable("t", 1);
  Status status;
  setup.CommitLater({{table, Insert({1}, 1)}}, status);
  CHECK(table->Snapshot()->live_count() == 0);
  setup.log->SyncUpTo(1);
  setup.Join();
  CHECK(status.ToString() == "ok");
  CHECK(table->Snapshot()->live_count() == 1);
}

TEST_CASE("a record that the log refuses changes nothing, and the next one is taken", "[storage]") {
  Setup setup;
  const auto table = setup.NewTable("t", 1);
  setup.log->SyncUpTo(100);
  setup.log->Refuse(true);
  CHECK(setup.Commit({{table, Insert({1, 2}, 1)}}).ToString() ==
        "io: the changes were not written to the log: disk full");
  CHECK(table->Snapshot()->live_count() == 0);
  setup.log->Refuse(false);
  CHECK(setup.Commit({{table, Insert({2, 3}, 1)}}).ToString() == "ok");
  CHECK(Dump(*table->Snapshot()) == Lines{"2: 1 -1 0.5 text 1", "3: 1 -1 0.5 text 1"});
}

TEST_CASE("commits that were given up leave no trace in the commits after them", "[storage][threads]") {
  Setup setup;
  const auto table = setup.NewTable("t", 1);
  const auto other = setup.NewTable("o", 2);
  setup.log->SyncUpTo(1);
  REQUIRE(setup.Commit({{table, Insert({1}, 1)}}).ok());
  Status lost;
  Status kept;
  Status aside;
  setup.CommitLater({{table, Insert({1, 2}, 2, true)}}, lost);
  setup.CommitLater({{other, Insert({5}, 5)}}, aside);
  setup.CommitLater({{table, Insert({3}, 3)}, {other, Insert({6}, 6)}}, kept);
  setup.log->GiveUp(2);
  setup.log->SyncUpTo(4);
  setup.Join();
  CHECK(lost.ToString() == "io: the changes were not written to the log: disk on fire");
  CHECK(kept.ToString() == "ok");
  CHECK(aside.ToString() == "ok");
  CHECK(Dump(*table->Snapshot()) == Lines{"1: 1 -1 0.5 text 1", "3: 3 -3 1.5 text 3"});
  CHECK(Dump(*other->Snapshot()) == Lines{"5: 5 -5 2.5 text 5", "6: 6 -6 3 text 6"});
  setup.log->SyncUpTo(5);
  REQUIRE(setup.Commit({{table, Insert({2}, 7)}}).ok());
  CHECK(table->Snapshot()->live_count() == 3);
}

// A chunk whose document index cannot be read for a while.
class UnreadableChunk : public testing::FakeChunk {
 public:
  using FakeChunk::FakeChunk;
  std::atomic<bool> unreadable{false};

 private:
  Result<std::optional<RowId>> Find(DocId id) const override {
    return unreadable.load() ? Result<std::optional<RowId>>(IoError("disk on fire"))
                             : testing::FakeChunk::Find(id);
  }
};

TEST_CASE("a commit that cannot be made again after another was given up is an error", "[storage][threads]") {
  Setup setup;
  const auto rows = setup.NewTable("rows", 3);
  setup.log->SyncUpTo(1);
  REQUIRE(setup.Commit({{rows, Insert({1}, 1)}}).ok());
  const auto chunk = std::make_shared<UnreadableChunk>(
      std::static_pointer_cast<const SegmentView>(rows->Snapshot()->parts.front()));
  TableSnapshot snapshot;
  snapshot.definition = std::make_shared<const TableDefinition>(testing::MakeDefinition("t", 1));
  snapshot.parts = {testing::ViewOf(chunk)};
  const auto table = std::make_shared<Table>(std::make_shared<const TableSnapshot>(std::move(snapshot)));
  const auto other = setup.NewTable("o", 2);
  Status lost;
  Status kept;
  setup.CommitLater({{table, Insert({1}, 2, true)}}, lost);
  setup.CommitLater({{table, Insert({1}, 3, true)}, {other, Insert({6}, 6)}}, kept);
  chunk->unreadable = true;
  setup.log->GiveUp(2);
  setup.log->SyncUpTo(3);
  setup.Join();
  CHECK(lost.code() == StatusCode::kIo);
  CHECK(kept.code() == StatusCode::kIo);
  CHECK(Dump(*table->Snapshot()) == Lines{"1: 1 -1 0.5 text 1"});
  CHECK(other->Snapshot()->live_count() == 0);
  chunk->unreadable = false;
  setup.log->SyncUpTo(4);
  CHECK(setup.Commit({{table, Insert({1}, 4, true)}, {other, Insert({6}, 4)}}).ToString() == "ok");
  CHECK(Dump(*table->Snapshot()) == Lines{"1: 4 -4 2 text 4"});
  CHECK(other->Snapshot()->live_count() == 1);
}

TEST_CASE("a transaction over two tables is committed whole or not at all", "[storage][threads]") {
  Setup setup;
  const auto a = setup.NewTable("a", 1);
  const auto b = setup.NewTable("b", 2);
  CHECK(setup.Commit({{b, Insert({1}, 1)}, {a, Insert({1, 1}, 1)}}).code() == StatusCode::kExists);
  Status status;
  setup.CommitLater({{b, Insert({1}, 1)}, {a, Insert({2}, 2)}}, status);
  setup.log->GiveUp(1);
  setup.Join();
  CHECK(status.code() == StatusCode::kIo);
  CHECK(a->Snapshot()->live_count() + b->Snapshot()->live_count() == 0);
}

TEST_CASE("a table that opted out of the log does not wait for it", "[storage]") {
  Setup setup;
  const auto table = setup.NewTable("t", 1, "0");
  CHECK(setup.Commit({{table, Insert({1}, 1)}}).ToString() == "ok");
  CHECK(setup.log->last_appended() == Lsn(0));
  CHECK(table->Snapshot()->live_count() == 1);
}

TEST_CASE("a table locked for reading refuses writes", "[storage]") {
  Setup setup;
  const auto table = setup.NewTable("t", 1, "0");
  table->AddReadLock();
  CHECK(setup.Commit({{table, Insert({1}, 1)}}).ToString() == "invalid: table 't' is locked");
  table->RemoveReadLock();
  CHECK(setup.Commit({{table, Insert({1}, 1)}}).ok());
}

TEST_CASE("an error of the caller's build is returned and nothing has changed", "[storage]") {
  Setup setup;
  const auto table = setup.NewTable("t", 1);
  const auto result =
      setup.pipeline.Commit({table}, [](const auto&) { return Result<WriteSet>(LimitError("too many")); });
  CHECK(result.status().ToString() == "limit: too many");
  CHECK(setup.log->last_appended() == Lsn(0));
}

TEST_CASE("readers see exactly one version of a row while it is replaced", "[storage][threads]") {
  Setup setup;
  setup.log->SyncUpTo(UINT64_MAX);
  const auto table = setup.NewTable("t", 1);
  std::vector<uint64_t> ids(200);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = i + 1;
  }
  REQUIRE(setup.Commit({{table, Insert(ids, 0)}}).ok());
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      int64_t last = 0;
      while (!stop.load()) {
        const auto snapshot = table->Snapshot();
        const DocId id(static_cast<uint64_t>(last) % ids.size() + 1);
        const auto place = *snapshot->FindDocument(id);
        int64_t value = -1;
        if (place.has_value()) {
          const auto column = *snapshot->parts[place->part]->Column(snapshot->definition->columns[1]);
          wrong += column->ReadInts({&place->row, 1}, {&value, 1}).ok() ? 0 : 1;
        }
        wrong += value < last || snapshot->live_count() != ids.size() ? 1 : 0;
        last = value;
      }
    });
  }
  for (int64_t round = 1; round <= 2000; ++round) {
    if (round % 10 == 0) {
      REQUIRE(setup.Commit({{table, Insert(ids, round, true)}}).ok());
    } else {
      REQUIRE(setup.Commit({{table, testing::UpdateInt(ids, 1, ColumnType::kInt, round)}}).ok());
    }
  }
  stop.store(true);
  for (std::thread& reader : readers) {
    reader.join();
  }
  CHECK(wrong.load() == 0);
}

}  // namespace
}  // namespace stoa::storage
