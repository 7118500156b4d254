#include <algorithm>

#include "storage/base/log.h"
#include "storage/table/local_catalog.h"
#include "storage/table/table_options.h"

namespace stoa::storage {
namespace {

constexpr uint64_t kRowsWorthAChunk = 8192;  // as the idle flush: features ST-05

}  // namespace

// Rows in RAM that no log holds are written whenever something of the table is.
bool LocalCatalog::HasUnloggedRows(const Table& table, const TableDefinition& definition) const {
  return pipeline_->log() == nullptr || OptedOutOfLog(definition) || table.maintenance_.unlogged.load();
}

// Makes the files of a table what its published snapshot shows, under its files mutex.
Status LocalCatalog::SaveTable(const std::shared_ptr<Table>& table, RamSave ram, Lsn covered) {
  const bool unlogged = table->maintenance_.unlogged.exchange(false);
  const Status status = SavePublished(table, ram, covered, unlogged);
  if (unlogged && !status.ok()) {
    table->maintenance_.unlogged.store(true);
  }
  return status;
}

Status LocalCatalog::SavePublished(const std::shared_ptr<Table>& table, RamSave ram, Lsn covered,
                                   bool unlogged) {
  // A manifest that is ahead of the entries may name the generations that would be written now.
  if (manifest_unknown_.load()) {
    RETURN_IF_ERROR(RestoreManifest());
  }
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
  const bool keeps_stale_ram = ram == RamSave::kKeep && table->maintenance_.unsaved_flush.load();
  if (unlogged || keeps_stale_ram || HasUnloggedRows(*table, definition)) {
    ram = RamSave::kWrite;
  }
  if (ram == RamSave::kWrite) {
    covered = std::max(published.lsn, entry.files.flushed);
  }
  if (entry.flushed_version == published.version) {
    return Status::Ok();  // all of it is on disk
  }
  ASSIGN_OR_RETURN(TableFiles files, WriteTableFiles(env_, options_.data_dir,
                                                     {*published.snapshot, entry.files, ram, covered}));
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  const auto place = FindTable(next, *table);
  if (place == next.end() || place->second.definition->id != definition.id) {
    return Status::Ok();
  }
  files.next_chunk_id = place->second.files.next_chunk_id;
  place->second.files = files;
  if (ram == RamSave::kWrite) {
    place->second.flushed_version = published.version;
  }
  RETURN_IF_ERROR(Save(std::move(next)));
  if (ram != RamSave::kKeep) {
    table->maintenance_.unsaved_flush.store(false);
  }
  table->maintenance_.unsaved_merge.store(false);
  RemoveObsoleteFiles(env_, options_.data_dir, entry.files, files);
  ForgetLog();
  return Status::Ok();
}

Status LocalCatalog::SaveWithRam(const std::shared_ptr<Table>& table) {
  MutexLock files_lock(table->maintenance_.files_mutex);
  if (table->maintenance_.frozen.load() > 0) {
    return InvalidError("table '{}' is frozen", table->definition()->name);
  }
  return SaveTable(table, RamSave::kWrite, Lsn(0));
}

Status LocalCatalog::FlushTable(std::string_view name) {
  RETURN_IF_ERROR(CheckOpen());
  const std::shared_ptr<Table> table = Find(name);
  if (table == nullptr) {
    return NotFoundError("no such table '{}'", name);
  }
  return SaveWithRam(table);
}

// A large RAM part becomes a chunk, so that the next start need not load it.
Status LocalCatalog::SaveAtStop(const std::shared_ptr<Table>& table) {
  {
    MutexLock writer_lock(table->writer_mutex_);
    pipeline_->WaitUntilQuiet(*table);
  }
  const auto snapshot = table->Peek();
  uint64_t rows = 0;
  for (const auto& segment : SegmentsOf(*snapshot)) {
    rows += segment->live_count();
  }
  if (table->maintenance_.frozen.load() > 0) {
    if (!HasUnloggedRows(*table, *snapshot->definition)) {
      return Status::Ok();  // somebody copies the files; the log has the rest
    }
    table->maintenance_.frozen.store(0);
  }
  if (rows >= kRowsWorthAChunk) {
    const Status status = FlushRamPart(table, false);
    if (!status.ok()) {
      LogWarning("table '{}': {}", snapshot->definition->name, status.ToString());
    }
  }
  return SaveWithRam(table);
}

Status LocalCatalog::Close() {
  closed_.store(true);
  pipeline_->RefuseCommits();
  StopBackground();
  Status first;
  for (const std::shared_ptr<Table>& table : List()) {
    if (Status status = SaveAtStop(table); !status.ok()) {
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

}  // namespace stoa::storage
