#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/base/snapshot_cell.h"
#include "storage/table/catalog.h"
#include "storage/table/commit_pipeline.h"
#include "storage/table/document_ids.h"
#include "storage/table/manifest.h"

namespace stoa::storage {

// The Catalog of a data folder on this machine. The manifest on disk decides what exists: a change of the
// tables is made on a copy of the entries, written as manifest, and only then shown.
//
// Lock order: flush_mutex_, registry_mutex_, writer mutexes of tables, mutex of the pipeline. The first two,
// and the writer mutex of a table whose definition changes, are held while files are written.
class LocalCatalog final : public Catalog {
 public:
  // What the manifest says of a table, beside the table itself.
  struct Entry {
    std::shared_ptr<Table> table;  // nullptr: damaged, its files stay as they are
    std::shared_ptr<const TableDefinition> definition;
    std::string folder;
    Lsn flushed;
    uint64_t ram_generation = 0;
    uint64_t flushed_version = 0;  // the publish that is in the RAM part file
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
  Result<std::vector<std::string>> Freeze(std::string_view name) override;
  Status Unfreeze(std::string_view name) override;
  Result<std::string> Backup(const std::vector<std::string>& names, const std::string& folder) override;
  Status Import(std::string_view name, const std::string& path) override;
  TableStatistics Statistics(const Table& table) const override;
  std::vector<MaintenanceJob> Jobs() const override;
  WaitHistogram waits() const override;
  Status Close() override;
  StorageCounters counters() const override;
  uint64_t DiskBytes(const Table& table) const override;

 private:
  using Names = std::map<std::string, std::shared_ptr<Table>, std::less<>>;

  Result<Entries::iterator> FindEntry(Entries& entries, std::string_view name) const
      REQUIRES(registry_mutex_);
  Status CheckOpen() const;
  std::string FolderOf(const TableDefinition& definition) const;
  // Writes the manifest of `next`, then takes it as the entries. On failure the old manifest is put back.
  Status Save(Entries next) REQUIRES(registry_mutex_);
  Status WriteEntries(const Entries& entries, Lsn log_start) REQUIRES(registry_mutex_);
  Status RestoreManifest() EXCLUDES(registry_mutex_);
  void ShowNames() REQUIRES(registry_mutex_);
  Lsn LogStart(const Entries& entries) const REQUIRES(registry_mutex_);
  void ForgetLog() REQUIRES(registry_mutex_);
  Status Define(Entries next, Entries::iterator entry, std::shared_ptr<const TableSnapshot> snapshot)
      REQUIRES(registry_mutex_);
  void RemoveFolder(const std::string& folder);
  void RemoveLeftovers() REQUIRES(registry_mutex_);
  Status Flush(const std::shared_ptr<Table>& table) REQUIRES(flush_mutex_) EXCLUDES(registry_mutex_);
  void FlushByTime() EXCLUDES(flusher_mutex_);
  void StopFlusher() EXCLUDES(flusher_mutex_);
  std::string PathOf(const std::string& folder) const { return options_.data_dir + "/" + folder; }

  const StorageOptions options_;
  Env& env_;
  const std::unique_ptr<FolderLock> lock_;
  const std::unique_ptr<CommitPipeline> pipeline_;
  const std::unique_ptr<DocumentIds> document_ids_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> manifest_unknown_{
      false};  // a write of it failed half-way: it may be ahead of the entries

  Mutex flush_mutex_;  // one RAM part is written at a time; no files of a table go meanwhile
  mutable Mutex registry_mutex_;
  Entries entries_ GUARDED_BY(registry_mutex_);
  uint64_t next_table_id_ GUARDED_BY(registry_mutex_);
  Lsn log_start_ GUARDED_BY(registry_mutex_);
  SnapshotCell<Names> names_;

  Mutex flusher_mutex_;
  CondVar stop_;
  bool stopping_ GUARDED_BY(flusher_mutex_) = false;
  std::thread flusher_;
};

}  // namespace stoa::storage
