#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "storage/base/mutex.h"
#include "storage/base/snapshot_cell.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// A table by name. Reading: Snapshot(), from any thread. Writing goes through Catalog only.
// A table that was dropped stays readable for those who hold it; Catalog refuses to write to it.
class Table {
 public:
  explicit Table(std::shared_ptr<const TableSnapshot> first);

  std::shared_ptr<const TableSnapshot> Snapshot() const { return published_.Load(); }
  std::shared_ptr<const TableDefinition> definition() const { return Snapshot()->definition; }

  // LOCK TABLES … READ: counts lockers; while above zero, writes are refused ("table 't' is locked").
  void AddReadLock() { read_locks_.fetch_add(1); }
  void RemoveReadLock() { read_locks_.fetch_sub(1); }
  bool read_locked() const { return read_locks_.load() > 0; }

 private:
  friend class Catalog;
  friend class CommitPipeline;

  Mutex writer_mutex_;                               // one writer at a time; held while a change is built on `head_`
  std::shared_ptr<const TableSnapshot> head_ GUARDED_BY(writer_mutex_);  // newest, perhaps not yet durable
  SnapshotCell<TableSnapshot> published_;
  std::atomic<int> read_locks_{0};
  std::atomic<bool> dropped_{false};
};

}  // namespace stoa::storage
