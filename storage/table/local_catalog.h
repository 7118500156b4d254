#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/base/snapshot_cell.h"
#include "storage/base/thread_pool.h"
#include "storage/table/catalog.h"
#include "storage/table/commit_pipeline.h"
#include "storage/table/copy_files.h"
#include "storage/table/document_ids.h"
#include "storage/table/job_registry.h"
#include "storage/table/manifest.h"
#include "storage/table/merge_policy.h"
#include "storage/table/retry_delay.h"
#include "storage/table/table_files.h"
#include "storage/table/wait_recorder.h"
#include "storage/table/work_recorder.h"

namespace stoa::storage {

// The Catalog of a data folder on this machine. The manifest on disk decides what exists: a change of the
// tables is made on a copy of the entries, written as manifest, and only then shown.
//
// Lock order: files mutex of a table, writer mutexes of tables, registry_mutex_, mutex of the pipeline. The
// files mutex, registry_mutex_, and the writer mutex of a table whose definition changes, are held while
// files are written; the pauses of JobRegistry are taken before all of them.
//
// Disk chunks. A flush seals the RAM segments (new rows go to new ones), writes their rows to a chunk while
// everything goes on, then publishes the chunk in their place in one swap, with what was deleted and updated
// meanwhile carried over. A merge does the same with chunks. Only then the manifest is written: until it is,
// the old files and the log stand for the same rows, because the log is replayed by document id and its
// changes are absolute. Flushes of a table follow each other (files mutex); merges run beside them and take
// the files mutex to publish.
class LocalCatalog final : public Catalog {
 public:
  // What the manifest says of a table, beside the table itself.
  struct Entry {
    std::shared_ptr<Table> table;  // nullptr: damaged, its files stay as they are
    std::shared_ptr<const TableDefinition> definition;
    TableFiles files;
    uint64_t flushed_version = 0;  // the publish that is on disk as a whole
    Status damage;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // The parts that Catalog::Open() made; `entries` are loaded, the log was replayed.
  struct Parts {
    StorageOptions options;
    std::unique_ptr<FolderLock> lock;
    Manifest manifest;
    Entries entries;
    std::unique_ptr<CommitPipeline> pipeline;
    std::unique_ptr<DocumentIds> document_ids;
    std::shared_ptr<DocstoreCache> docstore_cache;
    const Clock* clock = nullptr;
  };
  LocalCatalog(Parts parts, Env& env);
  ~LocalCatalog() override;
  // First write of the manifest by this server, then removal of what it does not name.
  Status Start();

  std::shared_ptr<Table> Find(std::string_view name) const override;
  Status CheckUsable(std::string_view name) const override;
  std::vector<std::shared_ptr<Table>> List() const override;
  Result<std::shared_ptr<Table>> Create(TableDefinition definition) override;
  Status Drop(std::string_view name) override;
  Status Truncate(std::string_view name) override;
  Status Rename(std::string_view from, std::string_view to) override;
  Status Alter(std::string_view name, const std::function<Status(TableDefinition&)>& change) override;
  Result<CommitResult> Commit(std::vector<std::shared_ptr<Table>> tables,
                              const BuildWriteSet& build) override;
  std::vector<DocId> NewDocIds(size_t count) override;
  Status FlushTable(std::string_view name) override;
  Status FlushRamChunk(std::string_view name) override;
  Status Optimize(std::string_view name, const OptimizeRequest& request) override;
  Status RebuildVectorIndexes(std::string_view name, CancelToken* cancel) override;
  Result<std::vector<std::string>> Freeze(std::string_view name) override;
  Status Unfreeze(std::string_view name) override;
  Result<std::string> Backup(const std::vector<std::string>& names, const std::string& folder,
                             const CancelToken* cancel) override;
  Status Import(std::string_view name, const std::string& path) override;
  void SetMaintenanceOptions(const StorageOptions& options) override;
  TableStatistics Statistics(const Table& table) const override;
  std::vector<MaintenanceJob> Jobs() const override;
  WaitHistogram waits() const override;
  WaitHistogram log_waits() const override { return pipeline_->log_waits(); }
  Status Close() override;
  StorageCounters counters() const override;
  uint64_t DiskBytes(const Table& table) const override;

 private:
  using Names = std::map<std::string, std::shared_ptr<Table>, std::less<>>;

  // Works for a table that was renamed, too.
  template <typename EntryMap>
  static auto FindTable(EntryMap& entries, const Table& table) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const auto& entry) { return entry.second.table.get() == &table; });
  }
  Result<Entries::iterator> FindEntry(Entries& entries, std::string_view name) const
      REQUIRES(registry_mutex_);
  Status CheckOpen() const;
  std::string FolderOf(const TableDefinition& definition) const;
  // kReserve: for what makes room on a full disk; the reserve is given up for it.
  enum class Room : uint8_t { kNormal, kReserve };
  // Writes the manifest of `next`, then takes it as the entries. On failure the old manifest is put back.
  Status Save(Entries next, Room room = Room::kNormal) REQUIRES(registry_mutex_);
  bool GiveUpReserve();
  void KeepReserve() REQUIRES(registry_mutex_);
  Status WriteEntries(const Entries& entries, Lsn log_start) REQUIRES(registry_mutex_);
  Status RestoreManifest() EXCLUDES(registry_mutex_);
  void ShowNames() REQUIRES(registry_mutex_);
  Lsn LogStart(const Entries& entries) const REQUIRES(registry_mutex_);
  void ForgetLog() REQUIRES(registry_mutex_);
  Status Define(Entries next, Entries::iterator entry, std::shared_ptr<const TableSnapshot> snapshot,
                Room room = Room::kNormal) REQUIRES(registry_mutex_);
  Status DropDamaged(std::string_view name) EXCLUDES(registry_mutex_);
  Status SwitchAccess(TableSnapshot& snapshot) const;
  void RemoveFolder(const std::string& folder);
  void RemoveLeftovers() REQUIRES(registry_mutex_);

  // catalog_save.cpp
  Status SaveTable(const std::shared_ptr<Table>& table, RamSave ram, Lsn covered) EXCLUDES(registry_mutex_);
  Status SavePublished(const std::shared_ptr<Table>& table, RamSave ram, Lsn covered, bool unlogged)
      EXCLUDES(registry_mutex_);
  Status SaveWithRam(const std::shared_ptr<Table>& table) EXCLUDES(registry_mutex_);
  Status SaveAtStop(const std::shared_ptr<Table>& table);
  bool HasUnloggedRows(const Table& table, const TableDefinition& definition) const;

  // catalog_flush.cpp
  struct Sealed {
    std::vector<std::shared_ptr<const TablePart>> parts;
    std::shared_ptr<const TableDefinition> definition;
    Lsn lsn;  // every record of the table up to it is in `parts` or in chunks
  };
  Status FlushRamPart(const std::shared_ptr<Table>& table, bool wait);
  Status TryFlushRamPart(const std::shared_ptr<Table>& table, bool wait);
  Status FlushUnderLock(const std::shared_ptr<Table>& table, JobRegistry::Job& job);
  Result<Sealed> Seal(Table& table);
  struct NewChunk {
    std::span<const std::shared_ptr<const TablePart>> parts;
    const TableDefinition& definition;
    uint64_t merged_from = 0;
    // REBUILD KNN: vector indexes take nothing over, and are made with these quantisers.
    bool anew = false;
    std::shared_ptr<const TableQuantizers> quantizers = nullptr;
  };
  Result<std::shared_ptr<const DiskChunk>> MakeChunk(const std::shared_ptr<Table>& table,
                                                     const NewChunk& rows, JobRegistry::Job& job,
                                                     const CancelToken* cancel);
  Status PublishChunk(Table& table, std::span<const std::shared_ptr<const TablePart>> before,
                      const std::shared_ptr<const DiskChunk>& chunk);
  void RemoveChunk(const Table& table, ChunkId chunk);
  DiskChunk::Options ChunkOptions(const TableDefinition& definition) const;

  // catalog_merge.cpp
  enum class MergeKind : uint8_t { kBackground, kFull, kRebuild };
  struct MergeTask {
    MergeKind kind = MergeKind::kBackground;
    size_t cutoff = 1;
    const CancelToken* cancel = nullptr;
    bool wait = false;                  // for a table that is paused
    uint64_t first_fresh = UINT64_MAX;  // chunks from this id on are not rewritten on their own
    // kRebuild: the quantisers of the chunks that were rebuilt.
    std::shared_ptr<TableQuantizers> quantizers = nullptr;
  };
  Result<bool> MergeOnce(const std::shared_ptr<Table>& table, const MergeTask& task);
  MergeChoice ChooseMerge(const Table& table, std::span<const std::shared_ptr<const ChunkView>> chunks,
                          const MergeTask& task) const;
  Status PublishMerge(const std::shared_ptr<Table>& table,
                      std::span<const std::shared_ptr<const TablePart>> inputs,
                      const std::shared_ptr<const DiskChunk>& chunk, JobRegistry::Job& job,
                      const MergeTask& task);
  Status MergeUntilDone(const std::shared_ptr<Table>& table, const MergeTask& task);
  uint64_t NextChunkId(const Table& table) const EXCLUDES(registry_mutex_);

  // catalog_background.cpp
  void StartBackground();
  void StopBackground() EXCLUDES(ticker_mutex_);
  void Tick();
  void RunTicker() EXCLUDES(ticker_mutex_);
  // Says how long the writer shall pause.
  std::chrono::milliseconds ConsiderFlush(const std::shared_ptr<Table>& table);
  void Throttle(std::chrono::milliseconds pause);
  Status CheckMemory(const Table& table) const;
  void ConsiderIdleFlush(const std::shared_ptr<Table>& table, int64_t now);
  void ConsiderMerge(const std::shared_ptr<Table>& table);
  void ConsiderCodes(const std::shared_ptr<Table>& table);
  void ScheduleFlush(const std::shared_ptr<Table>& table);
  void TrimLog();
  // Writes what a flush or a merge could not.
  void RetrySave(const std::shared_ptr<Table>& table);
  // Opens chunks again of whose mappings a part could not be read.
  void ReopenUnreadable(const std::shared_ptr<Table>& table);
  Status Reopen(Table& table);

  // catalog_copy.cpp
  Result<std::shared_ptr<Table>> FindOpen(std::string_view name) const;
  Status AddImported(Entry entry, OpenedTable copy) EXCLUDES(registry_mutex_);
  // A table as its files are at one moment, and these files: they stay readable whatever becomes of them.
  struct Pinned {
    ManifestTable table;
    std::vector<PinnedFile> files;
  };
  Result<Pinned> PinTable(const std::shared_ptr<Table>& table, const CancelToken* cancel);
  Result<ManifestTable> CopyTable(const std::shared_ptr<Table>& table, const std::string& target,
                                  const CancelToken* cancel);
  std::string PathOf(const std::string& folder) const { return options_.data_dir + "/" + folder; }

  const StorageOptions options_;
  Env& env_;
  const std::unique_ptr<FolderLock> lock_;
  const std::unique_ptr<CommitPipeline> pipeline_;
  const std::unique_ptr<DocumentIds> document_ids_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> memory_freed_{false};  // by a flush, a merge or a DROP; the ticker gives it back
  std::atomic<bool> manifest_unknown_{
      false};  // a write of it failed half-way: it may be ahead of the entries

  mutable Mutex registry_mutex_;
  Entries entries_ GUARDED_BY(registry_mutex_);
  uint64_t next_table_id_ GUARDED_BY(registry_mutex_);
  Lsn log_start_ GUARDED_BY(registry_mutex_);
  SnapshotCell<Names> names_;
  SnapshotCell<Entries> shown_;  // for statements, which do not wait until the manifest is written

  const Clock& clock_;
  const std::shared_ptr<DocstoreCache> docstore_cache_;
  SnapshotCell<MergeSettings> merge_settings_;
  JobRegistry jobs_;
  WaitRecorder waits_;
  WorkRecorder flushes_;
  WorkRecorder merges_;
  RetryDelay reserve_retry_;
  std::unique_ptr<ThreadPool> workers_;
  Mutex ticker_mutex_;
  CondVar stop_;
  bool stopping_ GUARDED_BY(ticker_mutex_) = false;
  std::thread ticker_;
};

}  // namespace stoa::storage
