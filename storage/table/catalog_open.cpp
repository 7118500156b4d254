#include <algorithm>
#include <set>
#include <unordered_map>

#include "storage/base/log.h"
#include "storage/table/local_catalog.h"
#include "storage/table/table_files.h"
#include "storage/table/table_options.h"
#include "storage/table/write_set_codec.h"

namespace stoa::storage {
namespace {

// "goods.t12": how LocalCatalog names the folder of a table.
bool IsTableFolder(std::string_view name) {
  const size_t dot = name.rfind(".t");
  return dot != std::string_view::npos && dot > 0 && dot + 2 < name.size() &&
         name.find_first_not_of("0123456789", dot + 2) == std::string_view::npos;
}

// Loads what the manifest names and applies the log to it.
class CatalogLoader {
 public:
  CatalogLoader(const StorageOptions& options, Env& env)
      : options_(options),
        env_(env),
        docstore_cache_(std::make_shared<DocstoreCache>(options.docstore_cache_size)) {}

  Result<LocalCatalog::Parts> Load(const Clock& clock) {
    LocalCatalog::Parts parts;
    parts.options = options_;
    parts.clock = &clock;
    parts.docstore_cache = docstore_cache_;
    RETURN_IF_ERROR(env_.MakeFolder(options_.data_dir));
    ASSIGN_OR_RETURN(parts.lock, LockFolder());
    has_manifest_ = env_.Exists(options_.data_dir + "/" + kManifestName);
    RETURN_IF_ERROR(CheckManifestIsThere());
    ASSIGN_OR_RETURN(parts.manifest, ReadManifest(env_, options_.data_dir));
    for (const ManifestTable& table : parts.manifest.tables) {
      LoadTable(table);
    }
    const std::string log_folder =
        options_.binlog_path.empty() ? options_.data_dir + "/binlog" : options_.binlog_path;
    std::unique_ptr<Binlog> log;
    Lsn log_end(UINT64_MAX);
    if (options_.binlog_enabled || env_.Exists(log_folder)) {
      ASSIGN_OR_RETURN(log, OpenLog(log_folder, parts.manifest.log_start));
      log_end = log->last_appended();
    }
    if (log != nullptr && !options_.binlog_enabled) {  // what it holds from before is not lost
      RETURN_IF_ERROR(log->Close());
      log.reset();
    }
    parts.pipeline = std::make_unique<CommitPipeline>(std::move(log));
    MakeEntries(parts, log_end);
    parts.document_ids = std::make_unique<DocumentIds>(options_.server_id, clock.UnixSeconds(),
                                                       parts.manifest.next_document_id);
    return parts;
  }

 private:
  struct Loaded {
    const ManifestTable* manifest = nullptr;
    std::shared_ptr<const TableSnapshot> snapshot;
    TableFiles files;
    Lsn last;
    bool replayed = false;
    Status damage;
  };

  Result<std::unique_ptr<FolderLock>> LockFolder() {
    Result<std::unique_ptr<FolderLock>> lock = env_.Lock(options_.data_dir);
    if (!lock.ok()) {
      return ExistsError("data folder {} is used by another process: {}", options_.data_dir,
                         lock.status().text());
    }
    return lock;
  }

  // Without the manifest nothing says what the tables are, and their folders would look like leftovers.
  Status CheckManifestIsThere() const {
    if (has_manifest_) {
      return Status::Ok();
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> names, env_.List(options_.data_dir));
    const auto folder = std::find_if(names.begin(), names.end(), IsTableFolder);
    return folder == names.end() ? Status::Ok() : ManifestIsMissing("the table folder " + *folder);
  }

  Status ManifestIsMissing(std::string_view what) const {
    return CorruptError(
        "{}/{} is missing, but there is {}; put the file back, or move what belongs to it away",
        options_.data_dir, kManifestName, what);
  }

  void LoadTable(const ManifestTable& table) {
    Loaded loaded;
    loaded.manifest = &table;
    loaded.last = table.flushed;
    DiskChunk::Options options;
    options.columnar_access = AccessModeOf(table.definition, options_);
    options.docstore_cache = docstore_cache_;
    options.vector_index_format = options_.vector_index_format;
    auto opened = OpenTableFiles(env_, options_.data_dir, table, options);
    if (opened.ok()) {
      loaded.snapshot = std::move(opened->snapshot);
      loaded.files = std::move(opened->files);
    } else {
      loaded.damage = opened.status();
      LogError("table '{}' is damaged and not available: {}", table.definition.name, loaded.damage.text());
    }
    tables_.emplace(table.definition.id, std::move(loaded));
  }

  Result<std::unique_ptr<Binlog>> OpenLog(const std::string& folder, Lsn log_start) {
    BinlogOptions options;
    options.folder = folder;
    options.flush = options_.binlog_flush;
    options.max_segment_size = options_.binlog_max_log_size;
    options.ignore_damaged_transactions = options_.ignore_damaged_transactions;
    auto log = Binlog::Open(options, env_, log_start,
                            [this](Lsn lsn, std::string_view payload) { return ReplayRecord(lsn, payload); });
    if (replayed_ > 0) {
      LogInfo("binlog: {} commits were replayed", replayed_);
    }
    return log;
  }

  Status ReplayRecord(Lsn lsn, std::string_view payload) {
    if (!has_manifest_) {
      return ManifestIsMissing("a log with rows of tables");
    }
    ASSIGN_OR_RETURN(std::vector<LoggedChange> changes, DecodeWriteSet(payload));
    std::set<TableId> touched;
    for (const LoggedChange& change : changes) {
      touched.insert(change.table);
    }
    ++replayed_;
    for (const TableId id : touched) {
      const auto place = tables_.find(id);
      if (place == tables_.end() || !place->second.damage.ok() || lsn <= place->second.manifest->flushed) {
        continue;
      }
      Loaded& table = place->second;
      auto next = CommitPipeline::Replay(table.snapshot, changes);
      if (!next.ok()) {  // its files cannot be read; the other tables go on, and the log is kept
        table.damage = next.status();
        LogError("table '{}' is damaged and not available: {}", table.manifest->definition.name,
                 table.damage.text());
        continue;
      }
      table.snapshot = *next;
      table.last = lsn;
      table.replayed = true;
    }
    return Status::Ok();
  }

  void MakeEntries(LocalCatalog::Parts& parts, Lsn log_end) {
    for (auto& [id, loaded] : tables_) {
      LocalCatalog::Entry entry;
      entry.definition = std::make_shared<const TableDefinition>(loaded.manifest->definition);
      entry.files = loaded.damage.ok() ? loaded.files : FilesOfDamaged(*loaded.manifest);
      // A log that was taken away starts again: its new records are not in the files.
      entry.files.flushed = std::min(loaded.manifest->flushed, log_end);
      entry.damage = loaded.damage;
      if (loaded.damage.ok()) {
        entry.definition = loaded.snapshot->definition;
        entry.table = std::make_shared<Table>(loaded.snapshot);
        entry.flushed_version = 0;
        parts.pipeline->SetLoaded(*entry.table, std::min(loaded.last, log_end), loaded.replayed ? 1 : 0);
      }
      parts.entries.emplace(entry.definition->name, std::move(entry));
    }
    parts.manifest.log_start = std::min(parts.manifest.log_start, log_end);
  }

  // The manifest goes on naming what it named: the files may be mended by hand.
  static TableFiles FilesOfDamaged(const ManifestTable& table) {
    TableFiles files;
    files.folder = table.folder;
    files.ram_generation = table.ram_generation;
    files.next_chunk_id = table.next_chunk_id;
    for (const ManifestChunk& chunk : table.chunks) {
      files.chunks.push_back({.named = chunk});
    }
    return files;
  }

  const StorageOptions& options_;
  Env& env_;
  std::shared_ptr<DocstoreCache> docstore_cache_;
  std::unordered_map<TableId, Loaded> tables_;
  bool has_manifest_ = false;
  uint64_t replayed_ = 0;
};

}  // namespace

Result<std::unique_ptr<Catalog>> Catalog::Open(const StorageOptions& options, Env& env, const Clock& clock) {
  ASSIGN_OR_RETURN(LocalCatalog::Parts parts, CatalogLoader(options, env).Load(clock));
  auto catalog = std::make_unique<LocalCatalog>(std::move(parts), env);
  RETURN_IF_ERROR(catalog->Start());
  return std::unique_ptr<Catalog>(std::move(catalog));
}

// What a crash, or a removal that failed, left behind. Only names that this program gives are touched.
void LocalCatalog::RemoveLeftovers() {
  std::map<std::string, const TableFiles*> known;
  for (const auto& [name, entry] : entries_) {
    known[entry.files.folder] = &entry.files;
  }
  const auto remove = [this](const std::string& path, bool is_folder) {
    LogWarning("{} belongs to no table and is removed", path);
    if (const Status status = is_folder ? env_.RemoveTree(path) : env_.Remove(path); !status.ok()) {
      LogWarning("{}", status.text());
    }
  };
  const auto folders = env_.List(options_.data_dir);
  for (const std::string& folder : folders.ok() ? *folders : std::vector<std::string>()) {
    if (folder == std::string(kManifestName) + ".tmp") {
      remove(PathOf(folder), false);
    }
    if (!IsTableFolder(folder)) {
      continue;
    }
    if (const auto table = known.find(folder); table != known.end()) {
      RemoveUnnamedFiles(env_, options_.data_dir, *table->second);
    } else {
      remove(PathOf(folder), true);
    }
  }
}

}  // namespace stoa::storage
