#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "storage/base/ids.h"
#include "storage/base/mutex.h"
#include "storage/base/snapshot_cell.h"
#include "storage/table/retry_delay.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// A table by name. Reading: Snapshot(), from any thread. Writing goes through Catalog only.
// A table that was dropped stays readable for those who hold it; Catalog refuses to write to it.
class Table {
 public:
  explicit Table(std::shared_ptr<const TableSnapshot> first);

  std::shared_ptr<const TableSnapshot> Snapshot() const {
    if (!read_.load(std::memory_order_relaxed)) {
      read_.store(true, std::memory_order_relaxed);
    }
    return published_.Load();
  }
  // The same for what is no search: it does not count as one for the idle flush.
  std::shared_ptr<const TableSnapshot> Peek() const { return published_.Load(); }
  std::shared_ptr<const TableDefinition> definition() const { return Peek()->definition; }

  // LOCK TABLES … READ: counts lockers; while above zero, writes are refused ("table 't' is locked").
  void AddReadLock() { read_locks_.fetch_add(1); }
  void RemoveReadLock() { read_locks_.fetch_sub(1); }
  bool read_locked() const { return read_locks_.load() > 0; }

 private:
  friend class LocalCatalog;
  friend class JobRegistry;
  friend class CommitPipeline;
  friend class WriterLocks;

  // Guarded by the mutex of the commit pipeline.
  struct PipelineState {
    Lsn last_lsn;            // newest log record of the table that is published
    uint64_t version = 0;    // counts publishes
    uint64_t pending = 0;    // commits on their way to the log
    bool head_lost = false;  // a commit under the head was given up: the head must be made again
  };

  // What LocalCatalog keeps for flushes and merges.
  struct Maintenance {
    Mutex files_mutex;  // held while files are written that the manifest is going to name
    std::atomic<bool> flush_scheduled{false};
    std::atomic<bool> merge_scheduled{false};
    std::atomic<bool> coding_scheduled{false};
    std::atomic<bool> unsaved_flush{false};  // rows moved from RAM to a chunk that the manifest does not name
    std::atomic<bool> unsaved_merge{false};  // the manifest still names chunks that were merged
    std::atomic<int> frozen{0};
    std::atomic<bool> unlogged{false};  // rows went past the log since the RAM segments were last written
    std::atomic<double> mem_limit_rate{0.5};
    // Steady seconds, kept by the ticker.
    std::atomic<int64_t> last_write{0};
    std::atomic<int64_t> last_read{0};
    RetryDelay flush_retry;
    RetryDelay merge_retry;
    RetryDelay save_retry;
    RetryDelay reopen_retry;
    uint64_t ticked_version = 0;  // the ticker's own
  };

  const uint64_t lock_order_;  // writer mutexes of several tables are taken in this order
  Mutex writer_mutex_;         // one writer at a time; held while a change is built on `head_`
  std::shared_ptr<const TableSnapshot> head_ GUARDED_BY(writer_mutex_);  // newest, perhaps not yet durable
  SnapshotCell<TableSnapshot> published_;
  PipelineState pipeline_;
  Maintenance maintenance_;
  mutable std::atomic<bool> read_{false};  // since the ticker looked last
  std::atomic<int> read_locks_{0};
  std::atomic<bool> dropped_{false};
};

}  // namespace stoa::storage
