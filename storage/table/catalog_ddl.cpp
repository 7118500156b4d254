#include <algorithm>

#include "storage/base/fault_point.h"
#include "storage/base/log.h"
#include "storage/table/local_catalog.h"

namespace stoa::storage {
namespace {

// A name that every file system takes, and that tells people whose folder it is.
std::string EscapedName(std::string_view name) {
  constexpr size_t kLongest = 120;
  std::string escaped;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    escaped += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
    if (escaped.size() > kLongest) {
      break;  // the table id behind it makes the folder unique
    }
  }
  return escaped;
}

Status PassDrop() {
  STOA_FAULT_POINT("drop.files");
  return Status::Ok();
}

// Gives new columns their ids. The id column keeps 0.
Status NumberColumns(TableDefinition& definition) {
  for (size_t i = 0; i < definition.columns.size(); ++i) {
    ColumnDefinition& column = definition.columns[i];
    if ((column.type == ColumnType::kId) != (i == 0)) {
      return InvalidError("table '{}': the first column, and only it, is the document id", definition.name);
    }
    if (i > 0 && column.id == ColumnId(0)) {
      column.id = ColumnId(definition.next_column_id++);
    }
  }
  if (definition.columns.empty() && definition.kind != TableKind::kDistributed) {
    return InvalidError("table '{}' has no document id", definition.name);
  }
  return Status::Ok();
}

std::shared_ptr<const TableSnapshot> EmptySnapshot(std::shared_ptr<const TableDefinition> definition) {
  auto snapshot = std::make_shared<TableSnapshot>();
  snapshot->definition = std::move(definition);
  return snapshot;
}

}  // namespace

Status LocalCatalog::CheckOpen() const {
  return closed_.load() ? InvalidError("the server is stopping") : Status::Ok();
}

std::string LocalCatalog::FolderOf(const TableDefinition& definition) const {
  return fmt::format("{}.t{}", EscapedName(definition.name), definition.id.value);
}

Result<LocalCatalog::Entries::iterator> LocalCatalog::FindEntry(Entries& entries,
                                                                std::string_view name) const {
  const auto entry = entries.find(name);
  if (entry == entries.end()) {
    return NotFoundError("no such table '{}'", name);
  }
  if (entry->second.table != nullptr && entry->second.table->read_locked()) {
    return InvalidError("table '{}' is locked", name);
  }
  if (entry->second.table != nullptr && entry->second.table->maintenance_.frozen.load() > 0) {
    return InvalidError("table '{}' is frozen", name);
  }
  return entry;
}

Result<std::shared_ptr<Table>> LocalCatalog::Create(TableDefinition definition) {
  RETURN_IF_ERROR(CheckOpen());
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  if (const auto taken = next.find(definition.name); taken != next.end()) {
    return taken->second.table != nullptr ? ExistsError("table '{}' already exists", definition.name)
                                          : ExistsError("table '{}' already exists and is damaged: {}",
                                                        definition.name, taken->second.damage.text());
  }
  definition.id = TableId(next_table_id_++);
  definition.next_column_id = 1;
  for (ColumnDefinition& column : definition.columns) {
    column.id = ColumnId(0);
  }
  RETURN_IF_ERROR(NumberColumns(definition));
  Entry entry;
  entry.definition = std::make_shared<const TableDefinition>(std::move(definition));
  entry.table = std::make_shared<Table>(EmptySnapshot(entry.definition));
  entry.files.folder = FolderOf(*entry.definition);
  entry.files.flushed = pipeline_->log() != nullptr ? pipeline_->log()->last_durable() : Lsn(0);
  std::shared_ptr<Table> table = entry.table;
  next.emplace(entry.definition->name, std::move(entry));
  RETURN_IF_ERROR(Save(std::move(next)));
  return table;
}

Status LocalCatalog::Drop(std::string_view name) {
  RETURN_IF_ERROR(CheckOpen());
  const std::shared_ptr<Table> table = Find(name);
  if (table == nullptr) {
    return DropDamaged(name);
  }
  const JobRegistry::Pause pause(jobs_, *table);
  MutexLock files_lock(table->maintenance_.files_mutex);
  MutexLock writer_lock(table->writer_mutex_);
  pipeline_->WaitUntilQuiet(*table);
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  ASSIGN_OR_RETURN(const auto place, FindEntry(next, name));
  if (place->second.table != table) {
    return NotFoundError("no such table '{}'", name);  // another statement dropped or renamed it
  }
  const std::string folder = place->second.files.folder;
  next.erase(place);
  RETURN_IF_ERROR(Save(std::move(next), Room::kReserve));
  table->dropped_.store(true);
  memory_freed_.store(true);
  RemoveFolder(folder);
  KeepReserve();
  ForgetLog();
  return Status::Ok();
}

// A table whose files cannot be read: only the manifest knows it.
Status LocalCatalog::DropDamaged(std::string_view name) {
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  ASSIGN_OR_RETURN(const auto place, FindEntry(next, name));
  if (place->second.table != nullptr) {
    return NotFoundError("no such table '{}'", name);
  }
  const std::string folder = place->second.files.folder;
  next.erase(place);
  RETURN_IF_ERROR(Save(std::move(next), Room::kReserve));
  RemoveFolder(folder);
  KeepReserve();
  ForgetLog();
  return Status::Ok();
}

// Files that stay because of an error are removed at the next start.
void LocalCatalog::RemoveFolder(const std::string& folder) {
  const std::string path = PathOf(folder);
  Status status = PassDrop();
  if (status.ok() && env_.Exists(path)) {
    status = env_.RemoveTree(path);
  }
  if (!status.ok()) {
    LogWarning("files of a dropped table stay until the next start: {}", status.text());
  }
}

// Publishes `snapshot` with the definition of `entry` (in `next`) once the manifest has it.
Status LocalCatalog::Define(Entries next, Entries::iterator entry,
                            std::shared_ptr<const TableSnapshot> snapshot,
                            Room room) NO_THREAD_SAFETY_ANALYSIS {
  Table& table = *entry->second.table;
  entry->second.definition = snapshot->definition;
  RETURN_IF_ERROR(Save(std::move(next), room));
  pipeline_->PublishNow(table, std::move(snapshot));
  return Status::Ok();
}

Status LocalCatalog::Truncate(std::string_view name) {
  RETURN_IF_ERROR(CheckOpen());
  ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindOpen(name));
  const JobRegistry::Pause pause(jobs_, *table);
  MutexLock files_lock(table->maintenance_.files_mutex);
  MutexLock writer_lock(table->writer_mutex_);
  pipeline_->WaitUntilQuiet(*table);
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  ASSIGN_OR_RETURN(const auto place, FindEntry(next, name));
  if (place->second.table != table) {
    return NotFoundError("no such table '{}'", name);
  }
  // A new id: records of the log that are about the old rows no longer apply.
  auto definition = std::make_shared<TableDefinition>(*place->second.definition);
  definition->id = TableId(next_table_id_++);
  const std::string old_folder = place->second.files.folder;
  const uint64_t next_chunk_id = place->second.files.next_chunk_id;  // never given twice
  place->second.files = TableFiles{};
  place->second.files.next_chunk_id = next_chunk_id;
  place->second.files.folder = FolderOf(*definition);
  place->second.files.flushed = pipeline_->log() != nullptr ? pipeline_->log()->last_durable() : Lsn(0);
  place->second.flushed_version = pipeline_->PublishedState(*table).version + 1;
  RETURN_IF_ERROR(Define(std::move(next), place, EmptySnapshot(std::move(definition)), Room::kReserve));
  table->maintenance_.unsaved_flush.store(false);
  table->maintenance_.unsaved_merge.store(false);
  memory_freed_.store(true);
  RemoveFolder(old_folder);
  KeepReserve();
  ForgetLog();
  return Status::Ok();
}

Status LocalCatalog::Rename(std::string_view from, std::string_view to) {
  RETURN_IF_ERROR(CheckOpen());
  ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindOpen(from));
  MutexLock writer_lock(table->writer_mutex_);
  pipeline_->WaitUntilQuiet(*table);
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  ASSIGN_OR_RETURN(const auto place, FindEntry(next, from));
  if (place->second.table != table) {
    return NotFoundError("no such table '{}'", from);
  }
  if (next.contains(to)) {
    return ExistsError("table '{}' already exists", to);
  }
  auto definition = std::make_shared<TableDefinition>(*place->second.definition);
  definition->name = to;
  auto snapshot = std::make_shared<TableSnapshot>(*table->head_);
  snapshot->definition = std::move(definition);
  Entry entry = std::move(place->second);
  next.erase(place);
  const auto renamed = next.emplace(to, std::move(entry)).first;
  return Define(std::move(next), renamed, std::move(snapshot));
}

Status LocalCatalog::Alter(std::string_view name, const std::function<Status(TableDefinition&)>& change) {
  RETURN_IF_ERROR(CheckOpen());
  ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindOpen(name));
  MutexLock writer_lock(table->writer_mutex_);
  pipeline_->WaitUntilQuiet(*table);
  MutexLock lock(registry_mutex_);
  Entries next = entries_;
  ASSIGN_OR_RETURN(const auto place, FindEntry(next, name));
  if (place->second.table != table) {
    return NotFoundError("no such table '{}'", name);
  }
  auto definition = std::make_shared<TableDefinition>(*place->second.definition);
  RETURN_IF_ERROR(change(*definition));
  definition->id = place->second.definition->id;
  definition->name = place->second.definition->name;
  definition->next_column_id = place->second.definition->next_column_id;
  RETURN_IF_ERROR(NumberColumns(*definition));
  auto snapshot = std::make_shared<TableSnapshot>(*table->head_);
  snapshot->definition = std::move(definition);
  RETURN_IF_ERROR(SwitchAccess(*snapshot));
  return Define(std::move(next), place, std::move(snapshot));
}

// Opens the chunks again when access_columnar_attrs changed; statements under way keep theirs.
Status LocalCatalog::SwitchAccess(TableSnapshot& snapshot) const {
  DiskChunk::Options options = ChunkOptions(*snapshot.definition);
  for (auto& part : snapshot.parts) {
    if (!part->is_disk_chunk()) {
      continue;
    }
    ChunkView::State state = static_cast<const ChunkView&>(*part).state();
    if (state.chunk->columnar_access() == options.columnar_access) {
      continue;
    }
    options.reopened = state.chunk;
    ASSIGN_OR_RETURN(state.chunk,
                     DiskChunk::Open(env_, state.chunk->folder(), state.chunk->header().id, options));
    part = std::make_shared<const ChunkView>(std::move(state));
  }
  return Status::Ok();
}

}  // namespace stoa::storage
