#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/env.h"
#include "storage/base/ids.h"
#include "storage/base/result.h"
#include "storage/schema.h"
#include "storage/table/table.h"
#include "storage/table/write_set.h"

namespace stoa::storage {

// Options of the storage layer; filled from the config by daemon/engine.cpp.
struct StorageOptions {
  std::string data_dir;
  std::string binlog_path;  // empty: <data_dir>/binlog
  bool binlog_enabled = true;
  int binlog_flush = 1;  // 0: write and sync every second; 1: sync a commit; 2: write a commit
  uint64_t binlog_max_log_size = 256u << 20;  // bytes; a new segment starts after it
  int64_t rt_flush_period_seconds = 36000;
  uint32_t server_id = 0;                    // 0 … 127, part of automatic ids
  bool ignore_damaged_transactions = false;  // --replay-flags=ignore-trx-errors
};

struct CommitResult {
  uint64_t inserted = 0;  // rows of InsertRows
  uint64_t deleted = 0;   // rows that DeleteRows found
  uint64_t updated = 0;   // rows that UpdateRows found
};

struct StorageCounters {
  uint64_t binlog_bytes = 0;
  uint64_t binlog_syncs = 0;
  uint64_t commits = 0;
};

// All tables of one data folder, their files and their log. One per process and folder (a lock file says so).
// Every method may be called from any thread. Names are lower case.
//
// Life of a write: Commit() → writer mutexes of its tables in TableId order → `build` sees the heads →
// changes are checked and applied to new heads → the record is appended to the log → the mutexes are let go →
// the log is durable as binlog_flush says → the heads are published in log order → Commit() returns. When the
// log cannot be made durable, every commit since the last durable one fails, the heads go back to what is
// published, and the server goes on.
class Catalog {
 public:
  // Takes the lock, reads the manifest, loads the tables, replays the log.
  static Result<std::unique_ptr<Catalog>> Open(const StorageOptions& options, Env& env, const Clock& clock);
  virtual ~Catalog() = default;  // without Close(): as after a crash

  virtual std::shared_ptr<Table> Find(std::string_view name) const = 0;  // nullptr when absent
  // An error when the table exists but its files are damaged, so that Find() has nothing; Drop() removes it.
  virtual Status CheckUsable(std::string_view name) const = 0;
  virtual std::vector<std::shared_ptr<Table>> List() const = 0;  // by name

  // definition.id, column ids and next_column_id are assigned here. kExists when the name is taken.
  virtual Result<std::shared_ptr<Table>> Create(TableDefinition definition) = 0;
  virtual Status Drop(std::string_view name) = 0;
  virtual Status Truncate(std::string_view name) = 0;
  virtual Status Rename(std::string_view from, std::string_view to) = 0;
  // Publishes the definition that `change` makes of the current one; new columns (id 0) get their ids.
  virtual Status Alter(std::string_view name, const std::function<Status(TableDefinition&)>& change) = 0;

  // Builds and commits a write set. `tables` are locked for writing while `build` runs; it is given their
  // newest snapshots in the same order, and what it returns may touch these tables only. An error of `build`
  // is returned and nothing has changed. Blocks until durable.
  using BuildWriteSet =
      std::function<Result<WriteSet>(const std::vector<std::shared_ptr<const TableSnapshot>>& heads)>;
  virtual Result<CommitResult> Commit(std::vector<std::shared_ptr<Table>> tables,
                                      const BuildWriteSet& build) = 0;

  // `count` document ids, ascending, never given before by this server: 24-bit counter, 32 bits of seconds
  // since 2019-05-01 at start, 7 bits server_id (features DM-04).
  virtual std::vector<DocId> NewDocIds(size_t count) = 0;

  // Writes the RAM part of the table to its file and lets go of the log it needed. FLUSH TABLE, and by time.
  virtual Status FlushTable(std::string_view name) = 0;
  // Clean stop: no more writes, every RAM part is written, the log is emptied.
  virtual Status Close() = 0;

  virtual StorageCounters counters() const = 0;
  virtual uint64_t DiskBytes(const Table& table) const = 0;
};

}  // namespace stoa::storage
