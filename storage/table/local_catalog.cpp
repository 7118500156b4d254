#include "storage/table/local_catalog.h"

#include <algorithm>
#include <chrono>

#include "storage/base/log.h"
#include "storage/table/ram_file.h"

namespace stoa::storage {
namespace {

// Works for a table that was renamed, too.
template <typename Entries>
auto FindTable(Entries& entries, const Table& table) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const auto& entry) { return entry.second.table.get() == &table; });
}

}  // namespace

LocalCatalog::LocalCatalog(Parts parts, Env& env)
    : options_(std::move(parts.options)),
      env_(env),
      lock_(std::move(parts.lock)),
      pipeline_(std::move(parts.pipeline)),
      document_ids_(std::move(parts.document_ids)),
      entries_(std::move(parts.entries)),
      next_table_id_(parts.manifest.next_table_id),
      log_start_(parts.manifest.log_start),
      names_(std::make_shared<const Names>()) {}

Status LocalCatalog::Start() {
  MutexLock lock(registry_mutex_);
  RETURN_IF_ERROR(WriteEntries(entries_, log_start_));
  RemoveLeftovers();
  ShowNames();
  if (options_.rt_flush_period_seconds > 0) {
    flusher_ = std::thread(&LocalCatalog::FlushByTime, this);
  }
  return Status::Ok();
}

LocalCatalog::~LocalCatalog() { StopFlusher(); }

void LocalCatalog::StopFlusher() {
  {
    MutexLock lock(flusher_mutex_);
    stopping_ = true;
  }
  stop_.NotifyAll();
  if (flusher_.joinable()) {
    flusher_.join();
  }
}

// Every rt_flush_period: what changed since is written, so that the log does not grow for ever.
void LocalCatalog::FlushByTime() {
  const auto period = std::chrono::seconds(options_.rt_flush_period_seconds);
  MutexLock lock(flusher_mutex_);
  auto next = std::chrono::steady_clock::now() + period;
  while (!stopping_) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next) {
      stop_.WaitFor(flusher_mutex_, next - now);
      continue;
    }
    next = now + period;
    flusher_mutex_.Unlock();
    for (const std::shared_ptr<Table>& table : List()) {
      MutexLock flush_lock(flush_mutex_);
      if (const Status status = Flush(table); !status.ok()) {
        LogWarning("table '{}' was not written: {}", table->definition()->name, status.ToString());
      }
    }
    flusher_mutex_.Lock();
  }
}

std::shared_ptr<Table> LocalCatalog::Find(std::string_view name) const {
  const std::shared_ptr<const Names> names = names_.Load();
  const auto place = names->find(name);
  return place == names->end() ? nullptr : place->second;
}

Status LocalCatalog::CheckUsable(std::string_view name) const {
  MutexLock lock(registry_mutex_);
  const auto place = entries_.find(name);
  if (place == entries_.end() || place->second.table != nullptr) {
    return Status::Ok();
  }
  return CorruptError("table '{}' is damaged and not available: {}", name, place->second.damage.text());
}

std::vector<std::shared_ptr<Table>> LocalCatalog::List() const {
  std::vector<std::shared_ptr<Table>> tables;
  for (const auto& [name, table] : *names_.Load()) {
    tables.push_back(table);
  }
  return tables;
}

void LocalCatalog::ShowNames() {
  auto names = std::make_shared<Names>();
  for (const auto& [name, entry] : entries_) {
    if (entry.table != nullptr) {
      names->emplace(name, entry.table);
    }
  }
  names_.Store(std::move(names));
}

Status LocalCatalog::WriteEntries(const Entries& entries, Lsn log_start) {
  Manifest manifest;
  manifest.next_table_id = next_table_id_;
  manifest.next_document_id = document_ids_->NextFloor();
  manifest.log_start = log_start;
  for (const auto& [name, entry] : entries) {
    manifest.tables.push_back({*entry.definition, entry.folder, entry.flushed, entry.ram_generation});
  }
  return WriteManifest(env_, options_.data_dir, manifest);
}

Status LocalCatalog::Save(Entries next) {
  const Lsn log_start = LogStart(next);
  const Status status = WriteEntries(next, log_start);
  if (!status.ok()) {
    // The new manifest may have replaced the old one all the same.
    const Status restored = WriteEntries(entries_, log_start_);
    manifest_unknown_.store(!restored.ok());
    return status;
  }
  manifest_unknown_.store(false);
  entries_ = std::move(next);
  log_start_ = log_start;
  ShowNames();
  return Status::Ok();
}

// While the manifest on disk may be ahead of what clients were told, nothing more is acknowledged.
Status LocalCatalog::RestoreManifest() {
  MutexLock lock(registry_mutex_);
  if (!manifest_unknown_.load()) {
    return Status::Ok();
  }
  const Status status = WriteEntries(entries_, log_start_);
  if (!status.ok()) {
    return IoError("the catalog is read-only until its manifest can be written: {}", status.text());
  }
  manifest_unknown_.store(false);
  return Status::Ok();
}

// Every log record up to the result is in a file or belongs to no table.
Lsn LocalCatalog::LogStart(const Entries& entries) const {
  if (pipeline_->log() == nullptr) {
    return log_start_;
  }
  // First the log, then the tables: a record that became durable in between is pending or published there.
  Lsn start = pipeline_->log()->last_durable();
  for (const auto& [name, entry] : entries) {
    if (entry.table == nullptr) {
      start = std::min(start, entry.flushed);
      continue;
    }
    const CommitPipeline::Published published = pipeline_->PublishedState(*entry.table);
    if (published.pending || published.lsn > entry.flushed) {
      start = std::min(start, entry.flushed);
    }
  }
  return std::max(start, log_start_);
}

void LocalCatalog::ForgetLog() {
  if (pipeline_->log() == nullptr) {
    return;
  }
  if (const Status status = pipeline_->log()->Forget(log_start_); !status.ok()) {
    LogWarning("segments of the binlog that are not needed any more stay: {}", status.text());
  }
}

Result<CommitResult> LocalCatalog::Commit(std::vector<std::shared_ptr<Table>> tables,
                                          const BuildWriteSet& build) {
  if (manifest_unknown_.load()) {
    RETURN_IF_ERROR(RestoreManifest());
  }
  return pipeline_->Commit(tables, build);
}

std::vector<DocId> LocalCatalog::NewDocIds(size_t count) { return document_ids_->Take(count, List()); }

Status LocalCatalog::FlushTable(std::string_view name) {
  RETURN_IF_ERROR(CheckOpen());
  const std::shared_ptr<Table> table = Find(name);
  if (table == nullptr) {
    return NotFoundError("no such table '{}'", name);
  }
  MutexLock flush_lock(flush_mutex_);
  return Flush(table);
}

Status LocalCatalog::Flush(const std::shared_ptr<Table>& table) {
  const CommitPipeline::Published published = pipeline_->PublishedState(*table);
  const TableDefinition& definition = *published.snapshot->definition;
  Entry entry;
  {
    MutexLock lock(registry_mutex_);
    const auto place = FindTable(entries_, *table);
    if (place == entries_.end()) {
      return Status::Ok();  // dropped just now
    }
    entry = place->second;
  }
  const Lsn covered = std::max(published.lsn, entry.flushed);
  if (entry.flushed_version != published.version) {
    const std::string path = PathOf(entry.folder);
    RETURN_IF_ERROR(env_.MakeFolder(path));
    RETURN_IF_ERROR(env_.SyncFolder(options_.data_dir));
    RETURN_IF_ERROR(
        WriteRamFile(env_, path, *published.snapshot, {definition.id, entry.ram_generation + 1, covered}));
  }
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  const auto place = FindTable(next, *table);
  if (place == next.end() || place->second.definition->id != definition.id) {
    return Status::Ok();
  }
  if (entry.flushed_version != published.version) {
    place->second.ram_generation = entry.ram_generation + 1;
    place->second.flushed = covered;
    place->second.flushed_version = published.version;
  }
  RETURN_IF_ERROR(Save(std::move(next)));
  if (entry.flushed_version != published.version && entry.ram_generation > 0) {
    const std::string old = PathOf(entry.folder) + "/" + RamFileName(entry.ram_generation);
    if (const Status removed = env_.Remove(old); !removed.ok()) {
      LogWarning("{}", removed.text());
    }
  }
  ForgetLog();
  return Status::Ok();
}

Status LocalCatalog::Close() {
  StopFlusher();
  closed_.store(true);
  pipeline_->RefuseCommits();
  MutexLock flush_lock(flush_mutex_);
  Status first;
  for (const std::shared_ptr<Table>& table : List()) {
    {
      MutexLock writer_lock(table->writer_mutex_);
      pipeline_->WaitUntilQuiet(*table);
    }
    if (Status status = Flush(table); !status.ok()) {
      LogError("table '{}' was not written: {}", table->definition()->name, status.ToString());
      first = first.ok() ? std::move(status) : std::move(first);
    }
  }
  if (pipeline_->log() != nullptr) {
    Status status = pipeline_->log()->Close();
    first = first.ok() ? std::move(status) : std::move(first);
  }
  return first;
}

StorageCounters LocalCatalog::counters() const {
  StorageCounters counters;
  if (pipeline_->log() != nullptr) {
    const BinlogCounters log = pipeline_->log()->counters();
    counters.binlog_bytes = log.bytes;
    counters.binlog_syncs = log.syncs;
  }
  counters.commits = pipeline_->commits();
  return counters;
}

uint64_t LocalCatalog::DiskBytes(const Table& table) const {
  std::string folder;
  {
    MutexLock lock(registry_mutex_);
    const auto place = FindTable(entries_, table);
    folder = place != entries_.end() ? PathOf(place->second.folder) : "";
  }
  uint64_t bytes = 0;
  if (folder.empty() || !env_.Exists(folder)) {
    return bytes;
  }
  if (const auto names = env_.List(folder); names.ok()) {
    for (const std::string& name : *names) {
      const auto size = env_.FileSize(folder + "/" + name);
      bytes += size.ok() ? *size : 0;
    }
  }
  return bytes;
}

}  // namespace stoa::storage
