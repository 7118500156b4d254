#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/cancel_token.h"
#include "storage/base/clock.h"
#include "storage/base/env.h"
#include "storage/base/ids.h"
#include "storage/base/result.h"
#include "storage/chunk/disk_chunk.h"
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

  // Disk chunks; table settings of the same names go first.
  uint64_t rt_mem_limit = 128u << 20;
  AccessMode access_columnar_attrs = AccessMode::kMmap;
  uint32_t auto_optimize = 1;          // 0: off; N: the cutoff is multiplied by it
  uint32_t optimize_cutoff = 0;        // chunks; 0: twice the processors
  uint32_t parallel_chunk_merges = 0;  // merges at a time; 0: half the processors, at least one
  uint32_t merge_chunks_per_job = 2;
  uint64_t docstore_cache_size = 16u << 20;

  std::shared_ptr<const VectorIndexFormat> vector_index_format;  // nullptr: chunks get no vector indexes
  uint32_t knn_parallel_build = 0;                               // threads of one; 0: the processors
};

struct CommitResult {
  uint64_t inserted = 0;  // rows of InsertRows
  uint64_t deleted = 0;   // rows that DeleteRows found
  uint64_t updated = 0;   // rows that UpdateRows found
};

// Flushes or merges since the start.
struct ChunkWork {
  uint64_t finished = 0;
  uint64_t failed = 0;  // those that were cancelled do not count
  uint64_t bytes = 0;   // of the chunks that were written
  uint64_t microseconds = 0;
};

struct StorageCounters {
  uint64_t binlog_bytes = 0;
  uint64_t binlog_syncs = 0;
  uint64_t commits = 0;
  ChunkWork flushes;
  ChunkWork merges;
};

// What is on disk and in memory of a table.
struct TableStatistics {
  struct Chunk {
    ChunkId id;
    uint32_t rows = 0;  // dead ones included
    uint32_t deleted = 0;
    uint64_t disk_bytes = 0;
    uint64_t patched_values = 0;  // of UPDATE, since the chunk was written
    bool merging = false;
  };
  std::vector<Chunk> chunks;         // oldest first
  std::vector<ChunkFileInfo> files;  // of the chunks and the RAM part file; names relative to the data folder
  uint32_t ram_segments = 0;
  uint64_t ram_bytes = 0;          // RAM segments
  uint64_t chunk_ram_bytes = 0;    // what open chunks keep in memory
  uint64_t mem_limit = 0;          // rt_mem_limit
  double mem_limit_rate = 0;       // share of it at which the RAM part becomes a disk chunk
  uint64_t text_bytes = 0;         // of stored texts, before compression, those of dead rows included
  uint64_t transaction = 0;        // the last one of the table that is published; 0: none, or it has no log
  uint64_t saved_transaction = 0;  // up to which the table does not need the log
  bool frozen = false;
  bool optimizing = false;
};

// A flush or merge that runs.
struct MaintenanceJob {
  uint64_t id = 0;
  std::string table;
  std::string what;   // "flush of the RAM part", "merge of 4 chunks"
  uint64_t done = 0;  // of `total`, in values
  uint64_t total = 0;
  int64_t started = 0;  // Unix seconds
};

// Waits that a flush, merge or DDL caused: how often readers and writers stood at a lock that it held, or
// were slowed down, by length. Bounds are the upper ends in microseconds, the last bucket is open.
struct WaitHistogram {
  static constexpr std::array<uint64_t, 8> kBounds{100, 1000, 5000, 10000, 20000, 50000, 100000, 1000000};
  std::array<uint64_t, kBounds.size() + 1> counts{};
  uint64_t longest_microseconds = 0;
};

struct OptimizeRequest {
  std::optional<uint32_t> cutoff;  // none: optimize_cutoff of the table or the server
  bool wait = false;               // sync=1
  CancelToken* cancel = nullptr;   // ends the waiting and the merge
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

  // The RAM part becomes a disk chunk (nothing to do when it is empty); returns when it is in the manifest.
  // Reads and writes go on. kInvalid "table 't' is frozen".
  virtual Status FlushRamChunk(std::string_view name) = 0;
  // Merges chunks until there are at most `cutoff`, in the background or before it returns.
  virtual Status Optimize(std::string_view name, const OptimizeRequest& request) = 0;
  // Writes every disk chunk anew with vector indexes that take nothing over from the old ones, quantisers
  // included, while reads and writes go on; returns when it is done. An error leaves the chunks that are not
  // done as they were. kInvalid when no column has an index.
  virtual Status RebuildVectorIndexes(std::string_view name, CancelToken* cancel) = 0;
  // Flushes the RAM part and keeps every file as it is until Unfreeze(): no flush, merge or checkpoint;
  // writes to RAM go on. Absolute paths of the table's files. Counts: each Freeze needs an Unfreeze.
  virtual Result<std::vector<std::string>> Freeze(std::string_view name) = 0;
  virtual Status Unfreeze(std::string_view name) = 0;
  // A consistent copy of the tables (none named: all) as a data folder of its own below `folder`, which is
  // made; returns its path. A server started on it has the tables as they were at one moment each. `cancel`
  // may be nullptr; what was copied is removed again.
  virtual Result<std::string> Backup(const std::vector<std::string>& names, const std::string& folder,
                                     const CancelToken* cancel) = 0;
  // Adds the table that a backup, or another data folder that is not in use, holds under `path`, as `name`:
  // files are checked and copied. `path`: the folder of the table beside the manifest that names it.
  virtual Status Import(std::string_view name, const std::string& path) = 0;
  // SET GLOBAL: auto_optimize, optimize_cutoff, parallel_chunk_merges, merge_chunks_per_job and
  // knn_parallel_build as in `options`, from the next decision on; its other members are ignored.
  virtual void SetMaintenanceOptions(const StorageOptions& options) = 0;
  virtual TableStatistics Statistics(const Table& table) const = 0;
  virtual std::vector<MaintenanceJob> Jobs() const = 0;
  virtual WaitHistogram waits() const = 0;
  // How long commits waited for the log to be on disk, whatever else the disk was doing.
  virtual WaitHistogram log_waits() const { return {}; }

  // Clean stop: no more writes, every RAM part is written, the log is emptied.
  virtual Status Close() = 0;

  virtual StorageCounters counters() const = 0;
  virtual uint64_t DiskBytes(const Table& table) const = 0;
};

}  // namespace stoa::storage
