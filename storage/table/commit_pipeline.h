#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/binlog/binlog.h"
#include "storage/table/catalog.h"
#include "storage/table/table.h"
#include "storage/table/wait_recorder.h"
#include "storage/table/write_set_codec.h"

namespace stoa::storage {

// The writer mutexes of some tables, taken in their order, let go by Unlock() or at the end.
class WriterLocks {
 public:
  explicit WriterLocks(const std::vector<std::shared_ptr<Table>>& tables);
  ~WriterLocks() { Unlock(); }
  WriterLocks(const WriterLocks&) = delete;
  WriterLocks& operator=(const WriterLocks&) = delete;
  void Unlock() NO_THREAD_SAFETY_ANALYSIS;

 private:
  std::vector<std::shared_ptr<Table>> held_;
};

// The way of a commit from its change to its publish, as the class comment of Catalog says. Every method may
// be called from any thread. Lock order: writer mutexes, then the mutex of the pipeline.
//
// Commits whose record was handed to the log wait in a queue in LSN order. Each learns from the log whether
// its own record is durable; the queue is worked off from the front, so publishes happen in LSN order. A
// commit that was given up makes the heads of its tables "lost": nothing of these tables is published until
// the head was made again from the published snapshot and the records still in the queue, exactly as replay
// after a crash would.
//
// A commit goes past the log when its tables opted out (binlog='0'), or there is none; it is published at
// once.
class CommitPipeline {
 public:
  // A table as it is published: `lsn` is its newest record in `snapshot`.
  struct Published {
    std::shared_ptr<const TableSnapshot> snapshot;
    Lsn lsn;
    uint64_t version = 0;  // counts publishes
    bool pending = false;  // commits are on their way to the log
  };

  explicit CommitPipeline(std::unique_ptr<Binlog> log) : log_(std::move(log)) {}

  Result<CommitResult> Commit(const std::vector<std::shared_ptr<Table>>& tables,
                              const Catalog::BuildWriteSet& build);
  // Commits from now on fail. Those under way go on.
  void RefuseCommits() { closed_.store(true); }

  // Applies the changes of a log record that are of this table to `base`, as after a crash: inserts replace.
  static Result<std::shared_ptr<const TableSnapshot>> Replay(std::shared_ptr<const TableSnapshot> base,
                                                             std::vector<LoggedChange>& changes);

  // For changes that are not in the log (definition, flush, merge); the caller holds the table's writer
  // mutex. WaitUntilQuiet returns when head and published snapshot are the same and every record of the table
  // is settled.
  void WaitUntilQuiet(Table& table) REQUIRES(table.writer_mutex_) EXCLUDES(mutex_);
  void PublishNow(Table& table, std::shared_ptr<const TableSnapshot> snapshot) REQUIRES(table.writer_mutex_)
      EXCLUDES(mutex_);
  // For a table just loaded.
  void SetLoaded(Table& table, Lsn lsn, uint64_t version) EXCLUDES(mutex_);
  Published PublishedState(const Table& table) const EXCLUDES(mutex_);

  Binlog* log() const { return log_.get(); }  // nullptr when there is none
  WaitHistogram log_waits() const { return log_waits_.Read(); }
  uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    enum class State { kPending, kDurable, kGivenUp };
    struct Head {
      std::shared_ptr<Table> table;
      std::shared_ptr<const TableSnapshot> snapshot;
    };
    Lsn lsn;
    std::string payload;
    std::vector<Head> heads;
    State state = State::kPending;
    Status failure;        // given up although its record is in the log
    bool settled = false;  // published, or given up and out of the queue
  };
  struct Built;

  Result<Built> Build(const std::vector<std::shared_ptr<Table>>& tables, const Catalog::BuildWriteSet& build);
  Result<std::shared_ptr<Waiting>> HandOver(Built built) EXCLUDES(mutex_);
  Status Settle(const std::shared_ptr<Waiting>& waiting) EXCLUDES(mutex_);
  void WorkOff() REQUIRES(mutex_);
  void Publish(Table& table, const std::shared_ptr<const TableSnapshot>& snapshot) REQUIRES(mutex_);
  static Result<std::shared_ptr<const TableSnapshot>> ReplayPayload(
      const std::shared_ptr<const TableSnapshot>& base, std::string_view payload);
  void RestoreHead(Table& table) EXCLUDES(mutex_);
  void RestoreHeadLocked(Table& table) REQUIRES(mutex_);
  static void Reapply(const Table& table, Waiting& waiting, std::shared_ptr<const TableSnapshot>& head);

  const std::unique_ptr<Binlog> log_;
  std::atomic<bool> closed_{false};
  std::atomic<uint64_t> commits_{0};
  WaitRecorder log_waits_;
  mutable Mutex mutex_;
  CondVar settled_;
  std::deque<std::shared_ptr<Waiting>> queue_ GUARDED_BY(mutex_);  // by LSN
};

}  // namespace stoa::storage
