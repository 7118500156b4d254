#include <algorithm>
#include <ctime>
#include <filesystem>

#include "storage/base/fault_point.h"
#include "storage/base/log.h"
#include "storage/table/local_catalog.h"
#include "storage/table/ram_file.h"
#include "storage/table/table_options.h"

namespace stoa::storage {
namespace {

// "backup-20261130201500"
std::string BackupName(int64_t unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("backup-{:04}{:02}{:02}{:02}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

Result<std::shared_ptr<Table>> LocalCatalog::FindOpen(std::string_view name) const {
  std::shared_ptr<Table> table = Find(name);
  if (table == nullptr) {
    RETURN_IF_ERROR(CheckUsable(name));
    return NotFoundError("no such table '{}'", name);
  }
  return table;
}

Result<std::vector<std::string>> LocalCatalog::Freeze(std::string_view name) {
  RETURN_IF_ERROR(CheckOpen());
  ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindOpen(name));
  if (table->maintenance_.frozen.load() == 0) {
    RETURN_IF_ERROR(FlushRamPart(table, true));
  }
  const JobRegistry::Pause pause(jobs_, *table);
  MutexLock files_lock(table->maintenance_.files_mutex);
  if (table->maintenance_.frozen.load() == 0) {  // with what was deleted, updated or inserted since the flush
    RETURN_IF_ERROR(SaveTable(table, RamSave::kWrite, Lsn(0)));
  }
  TableFiles files;
  {
    MutexLock lock(registry_mutex_);
    const auto place = FindTable(entries_, *table);
    if (place == entries_.end()) {
      return NotFoundError("table '{}' was dropped", name);
    }
    files = place->second.files;
  }
  const std::string folder = PathOf(files.folder);
  ASSIGN_OR_RETURN(const std::vector<PinnedFile> pinned, PinFiles(env_, folder, files));
  table->maintenance_.frozen.fetch_add(1);  // under the files mutex: nothing is saved from here on
  std::vector<std::string> paths{options_.data_dir + "/" + kManifestName};
  for (const PinnedFile& file : pinned) {
    paths.push_back(folder + "/" + file.name);
  }
  return paths;
}

Status LocalCatalog::Unfreeze(std::string_view name) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindOpen(name));
  int frozen = table->maintenance_.frozen.load();
  while (frozen > 0 && !table->maintenance_.frozen.compare_exchange_weak(frozen, frozen - 1)) {
  }
  return Status::Ok();
}

// Writes the table. What happens to it from here on is not in the copy.
Result<LocalCatalog::Pinned> LocalCatalog::PinTable(const std::shared_ptr<Table>& table,
                                                    const CancelToken* cancel) {
  RETURN_IF_ERROR(WaitUntilFree(table->maintenance_.files_mutex, {cancel}));
  MutexLock files_lock(table->maintenance_.files_mutex);
  if (table->maintenance_.frozen.load() > 0) {
    return InvalidError("table '{}' is frozen", table->definition()->name);
  }
  RETURN_IF_ERROR(SaveTable(table, RamSave::kWrite, Lsn(0)));
  Pinned pinned;
  TableFiles files;
  {
    MutexLock lock(registry_mutex_);
    const auto place = FindTable(entries_, *table);
    if (place == entries_.end()) {
      return NotFoundError("table '{}' was dropped", table->definition()->name);
    }
    files = place->second.files;
    pinned.table.definition = *place->second.definition;
  }
  pinned.table.folder = files.folder;
  pinned.table.flushed = files.flushed;
  pinned.table.ram_generation = files.ram_generation;
  pinned.table.next_chunk_id = files.next_chunk_id;
  for (const TableFiles::Chunk& chunk : files.chunks) {
    pinned.table.chunks.push_back(chunk.named);
  }
  ASSIGN_OR_RETURN(pinned.files, PinFiles(env_, PathOf(files.folder), files));
  return pinned;
}

// Reads and writes of the table go on meanwhile, and so do its flushes and merges.
Result<ManifestTable> LocalCatalog::CopyTable(const std::shared_ptr<Table>& table, const std::string& target,
                                              const CancelToken* cancel) {
  ASSIGN_OR_RETURN(Pinned pinned, PinTable(table, cancel));
  RETURN_IF_ERROR(CopyFiles(env_, pinned.files, target + "/" + pinned.table.folder, cancel));
  // A backup that cannot be opened is none. Loading its vector indexes would say little and cost much.
  DiskChunk::Options options = ChunkOptions(pinned.table.definition);
  options.vector_index_format = nullptr;
  RETURN_IF_ERROR(OpenTableFiles(env_, target, pinned.table, options).status());
  return std::move(pinned.table);
}

Result<std::string> LocalCatalog::Backup(const std::vector<std::string>& names, const std::string& folder,
                                         const CancelToken* cancel) {
  RETURN_IF_ERROR(CheckOpen());
  std::vector<std::shared_ptr<Table>> tables;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(std::shared_ptr<Table> table, FindOpen(name));
    tables.push_back(std::move(table));
  }
  if (names.empty()) {
    tables = List();
  }
  const std::string name = folder + "/" + BackupName(clock_.UnixSeconds());
  std::string target = name;
  for (int again = 2; env_.Exists(target); ++again) {
    target = fmt::format("{}-{}", name, again);
  }
  RETURN_IF_ERROR(env_.MakeFolder(target));
  Manifest manifest;
  Status status;
  for (const std::shared_ptr<Table>& table : tables) {
    Result<ManifestTable> copy = CopyTable(table, target, cancel);
    if (!copy.ok()) {
      status = copy.status();
      break;
    }
    manifest.next_table_id = std::max(manifest.next_table_id, copy->definition.id.value + 1);
    manifest.tables.push_back(std::move(*copy));
  }
  manifest.next_document_id = document_ids_->NextFloor();
  if (status.ok()) {
    status = WriteManifest(env_, target, manifest);
  }
  if (!status.ok()) {
    if (const Status removed = env_.RemoveTree(target); !removed.ok()) {
      LogWarning("{}", removed.text());
    }
    return status;
  }
  return target;
}

Status LocalCatalog::Import(std::string_view name, const std::string& path) {
  RETURN_IF_ERROR(CheckOpen());
  const std::filesystem::path source = std::filesystem::path(path).lexically_normal();
  const std::string folder = (source.has_filename() ? source : source.parent_path()).filename().string();
  const std::string parent = (source.has_filename() ? source : source.parent_path()).parent_path().string();
  std::unique_ptr<FolderLock> source_lock;
  if (env_.Exists(parent + "/.lock")) {  // a data folder: no server may have rows of it in its log only
    ASSIGN_OR_RETURN(source_lock, env_.Lock(parent));
  }
  ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(env_, parent));
  const auto found = std::find_if(manifest.tables.begin(), manifest.tables.end(),
                                  [&](const ManifestTable& table) { return table.folder == folder; });
  if (found == manifest.tables.end()) {
    return NotFoundError("{}: no table of {}/{} lies here", path, parent, kManifestName);
  }
  Entry entry;
  {
    MutexLock lock(registry_mutex_);
    if (entries_.contains(name)) {
      return ExistsError("table '{}' already exists", name);
    }
    auto definition = std::make_shared<TableDefinition>(found->definition);
    definition->name = name;
    definition->id = TableId(next_table_id_++);
    entry.definition = std::move(definition);
  }
  // What is damaged there is not taken over.
  DiskChunk::Options options = ChunkOptions(*entry.definition);
  ASSIGN_OR_RETURN(OpenedTable opened, OpenTableFiles(env_, parent, *found, options));
  for (const auto& view : ChunksOf(*opened.snapshot)) {
    RETURN_IF_ERROR(view->state().chunk->Check());
  }
  ManifestTable copied = *found;
  copied.folder = FolderOf(*entry.definition);
  const std::string target = PathOf(copied.folder);
  ASSIGN_OR_RETURN(const std::vector<PinnedFile> files, PinFiles(env_, parent + "/" + folder, opened.files));
  Status status = CopyFiles(env_, files, target, nullptr);
  if (status.ok()) {
    Result<OpenedTable> copy = OpenTableFiles(env_, options_.data_dir, copied, options);
    status = copy.ok() ? AddImported(std::move(entry), std::move(*copy)) : copy.status();
  }
  if (!status.ok()) {
    RemoveFolder(copied.folder);
  }
  return status;
}

// The RAM part file carries the number of the old table: it is written anew.
Status LocalCatalog::AddImported(Entry entry, OpenedTable copy) {
  auto snapshot = std::make_shared<TableSnapshot>(*copy.snapshot);
  snapshot->definition = entry.definition;
  const Lsn now = pipeline_->log() != nullptr ? pipeline_->log()->last_durable() : Lsn(0);
  entry.table = std::make_shared<Table>(snapshot);
  const TableFiles old = copy.files;
  ASSIGN_OR_RETURN(entry.files,
                   WriteTableFiles(env_, options_.data_dir, {*snapshot, old, RamSave::kWrite, now}));
  const TableFiles files = entry.files;
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  if (!next.emplace(entry.definition->name, std::move(entry)).second) {
    return ExistsError("the table exists already");
  }
  RETURN_IF_ERROR(Save(std::move(next)));
  RemoveObsoleteFiles(env_, options_.data_dir, old, files);
  return Status::Ok();
}

}  // namespace stoa::storage
