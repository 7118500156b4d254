#include "storage/table/local_catalog.h"

#include <algorithm>
#include <random>

#include "storage/base/log.h"
#include "storage/table/table_options.h"

namespace stoa::storage {
namespace {

constexpr char kReserveName[] = "catalog.reserve";
constexpr uint64_t kReserveBytes = 64u << 10;  // beside twice the manifest

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
      names_(std::make_shared<const Names>()),
      shown_(std::make_shared<const Entries>()),
      clock_(*parts.clock),
      docstore_cache_(std::move(parts.docstore_cache)),
      merge_settings_(std::make_shared<const MergeSettings>(MergeSettingsOf(options_))) {}

Status LocalCatalog::Start() {
  MutexLock lock(registry_mutex_);
  RETURN_IF_ERROR(WriteEntries(entries_, log_start_));
  RemoveLeftovers();
  KeepReserve();
  ShowNames();
  StartBackground();
  return Status::Ok();
}

LocalCatalog::~LocalCatalog() { StopBackground(); }

std::shared_ptr<Table> LocalCatalog::Find(std::string_view name) const {
  const std::shared_ptr<const Names> names = names_.Load();
  const auto place = names->find(name);
  return place == names->end() ? nullptr : place->second;
}

Status LocalCatalog::CheckUsable(std::string_view name) const {
  const auto entries = shown_.Load();
  const auto place = entries->find(name);
  if (place == entries->end() || place->second.table != nullptr) {
    return Status::Ok();
  }
  return CorruptError("table '{}' is damaged and not available: {}", name, place->second.damage.text());
}

std::vector<std::shared_ptr<Table>> LocalCatalog::List() const {
  std::vector<std::shared_ptr<Table>> tables;
  const auto names = names_.Load();  // holds what the loop goes over
  for (const auto& [name, table] : *names) {
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
  shown_.Store(std::make_shared<const Entries>(entries_));
}

Status LocalCatalog::WriteEntries(const Entries& entries, Lsn log_start) {
  Manifest manifest;
  manifest.next_table_id = next_table_id_;
  manifest.next_document_id = document_ids_->NextFloor();
  manifest.log_start = log_start;
  for (const auto& [name, entry] : entries) {
    ManifestTable& table = manifest.tables.emplace_back();
    table.definition = *entry.definition;
    table.folder = entry.files.folder;
    table.flushed = entry.files.flushed;
    table.ram_generation = entry.files.ram_generation;
    table.next_chunk_id = entry.files.next_chunk_id;
    for (const TableFiles::Chunk& chunk : entry.files.chunks) {
      table.chunks.push_back(chunk.named);
    }
  }
  return WriteManifest(env_, options_.data_dir, manifest);
}

Status LocalCatalog::Save(Entries next, Room room) {
  const Lsn log_start = LogStart(next);
  Status status = WriteEntries(next, log_start);
  if (!status.ok() && room == Room::kReserve && GiveUpReserve()) {
    status = WriteEntries(next, log_start);
  }
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

// A file that only takes room, so that a full disk does not refuse the manifest that makes some.
void LocalCatalog::KeepReserve() {
  const int64_t now = SteadySeconds();
  const Result<uint64_t> manifest = env_.FileSize(PathOf(kManifestName));
  const std::string path = PathOf(kReserveName);
  const Result<uint64_t> have = env_.FileSize(path);
  if (!manifest.ok() || (have.ok() && *have >= kReserveBytes + 2 * *manifest) || !reserve_retry_.IsDue(now)) {
    return;
  }
  // Twice what is needed: not anew for each new table. No zeros, which some file systems do not store.
  std::string bytes(2 * (kReserveBytes + 2 * *manifest), '\0');
  std::minstd_rand random(1);
  std::generate(bytes.begin(), bytes.end(), [&random] { return static_cast<char>(random() >> 8); });
  const Status status = WriteFileAtomically(env_, path, bytes);
  if (status.ok()) {
    reserve_retry_.Succeeded();
  } else if (reserve_retry_.Failed(now, status.code())) {
    LogWarning("no reserve for a full disk: {}", status.text());
  }
}

bool LocalCatalog::GiveUpReserve() { return env_.Remove(PathOf(kReserveName)).ok(); }

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
      start = std::min(start, entry.files.flushed);
      continue;
    }
    const CommitPipeline::Published published = pipeline_->PublishedState(*entry.table);
    if (published.pending || published.lsn > entry.files.flushed) {
      start = std::min(start, entry.files.flushed);
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
  for (const std::shared_ptr<Table>& table : tables) {
    RETURN_IF_ERROR(CheckMemory(*table));
  }
  Result<CommitResult> result = pipeline_->Commit(tables, build);
  if (result.ok()) {
    for (const std::shared_ptr<Table>& table : tables) {
      Throttle(ConsiderFlush(table));
    }
  }
  return result;
}

std::vector<DocId> LocalCatalog::NewDocIds(size_t count) { return document_ids_->Take(count, List()); }

StorageCounters LocalCatalog::counters() const {
  StorageCounters counters;
  if (pipeline_->log() != nullptr) {
    const BinlogCounters log = pipeline_->log()->counters();
    counters.binlog_bytes = log.bytes;
    counters.binlog_syncs = log.syncs;
  }
  counters.commits = pipeline_->commits();
  counters.flushes = flushes_.Read();
  counters.merges = merges_.Read();
  return counters;
}

uint64_t LocalCatalog::DiskBytes(const Table& table) const {
  const auto entries = shown_.Load();
  const auto place = FindTable(*entries, table);
  const std::string folder = place != entries->end() ? PathOf(place->second.files.folder) : "";
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
