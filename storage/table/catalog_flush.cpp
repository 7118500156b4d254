#include <algorithm>

#include "storage/base/fault_point.h"
#include "storage/base/log.h"
#include "storage/chunk/ram_segment.h"
#include "storage/table/local_catalog.h"
#include "storage/table/table_options.h"

namespace stoa::storage {
namespace {

using PartList = std::vector<std::shared_ptr<const TablePart>>;

Status PassPublish() {
  STOA_FAULT_POINT("chunk.publish");
  return Status::Ok();
}

uint64_t LiveRows(std::span<const std::shared_ptr<const TablePart>> parts) {
  uint64_t rows = 0;
  for (const auto& part : parts) {
    rows += part->live_count();
  }
  return rows;
}

// Whether two views are of the same segment or chunk.
bool IsSamePart(const TablePart& a, const TablePart& b) {
  if (a.is_disk_chunk() != b.is_disk_chunk()) {
    return false;
  }
  if (a.is_disk_chunk()) {
    return static_cast<const ChunkView&>(a).state().chunk->header().id ==
           static_cast<const ChunkView&>(b).state().chunk->header().id;
  }
  return static_cast<const SegmentView&>(a).state().segment ==
         static_cast<const SegmentView&>(b).state().segment;
}

// The newest views of `before`, nullptr where a part is gone.
PartList FindAgain(std::span<const std::shared_ptr<const TablePart>> before, const PartList& now) {
  PartList after;
  for (const auto& part : before) {
    const auto place =
        std::find_if(now.begin(), now.end(), [&](const auto& other) { return IsSamePart(*part, *other); });
    after.push_back(place != now.end() ? *place : nullptr);
  }
  return after;
}

// `now` with `chunk` (nullptr: nothing) in the place of the parts `replaced`.
PartList Replace(const PartList& now, const PartList& replaced, std::shared_ptr<const TablePart> chunk) {
  PartList next;
  for (const auto& part : now) {
    if (std::find(replaced.begin(), replaced.end(), part) == replaced.end()) {
      next.push_back(part);
    } else if (chunk != nullptr) {
      next.push_back(std::move(chunk));
      chunk = nullptr;
    }
  }
  return next;
}

}  // namespace

DiskChunk::Options LocalCatalog::ChunkOptions(const TableDefinition& definition) const {
  return {.columnar_access = AccessModeOf(definition, options_),
          .docstore_cache = docstore_cache_,
          .vector_index_format = options_.vector_index_format};
}

Status LocalCatalog::FlushRamChunk(std::string_view name) {
  RETURN_IF_ERROR(CheckOpen());
  ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindOpen(name));
  return FlushRamPart(table, true);
}

// `wait`: for a table that another statement changes, and again when that one ended the flush; else it is
// left for later.
Status LocalCatalog::FlushRamPart(const std::shared_ptr<Table>& table, bool wait) {
  while (true) {
    const Status status = TryFlushRamPart(table, wait);
    if (!wait || status.code() != StatusCode::kCancelled || closed_.load()) {
      return status;
    }
  }
}

Status LocalCatalog::TryFlushRamPart(const std::shared_ptr<Table>& table, bool wait) {
  const auto job = jobs_.Start({.table = table.get(),
                                .table_name = table->definition()->name,
                                .what = "flush of the RAM part",
                                .started = clock_.UnixSeconds(),
                                .wait = wait});
  if (job == nullptr) {
    return Status::Ok();
  }
  MutexLock files_lock(table->maintenance_.files_mutex);
  if (table->maintenance_.frozen.load() > 0) {
    return InvalidError("table '{}' is frozen", table->definition()->name);
  }
  return FlushUnderLock(table, *job);
}

Status LocalCatalog::FlushUnderLock(const std::shared_ptr<Table>& table, JobRegistry::Job& job) {
  const uint64_t bytes_before = RamBytesOf(*table->Peek());
  ASSIGN_OR_RETURN(const Sealed sealed, Seal(*table));
  if (sealed.parts.empty()) {
    // Deletes, updates, or a flush whose save failed may still not be on disk.
    return SaveTable(table, RamSave::kDrop, sealed.lsn);
  }
  std::shared_ptr<const DiskChunk> chunk;
  if (LiveRows(sealed.parts) > 0) {
    ASSIGN_OR_RETURN(chunk, MakeChunk(table, {sealed.parts, *sealed.definition, 0}, job, nullptr));
  }
  const Status published = PublishChunk(*table, sealed.parts, chunk);
  if (!published.ok()) {
    if (chunk != nullptr) {
      RemoveChunk(*table, chunk->header().id);
    }
    return published;
  }
  table->maintenance_.unsaved_flush.store(true);  // until a save, which needs the files mutex as well
  // The share of the limit at which the next flush starts: what came in meanwhile must fit above it.
  const uint64_t bytes_after = RamBytesOf(*table->Peek());
  const double rate = static_cast<double>(bytes_before) / static_cast<double>(bytes_before + bytes_after + 1);
  table->maintenance_.mem_limit_rate.store(std::clamp(rate, 1.0 / 3, 0.95));
  memory_freed_.store(true);
  return SaveTable(table, RamSave::kDrop, sealed.lsn);
}

// From now on rows are appended to new segments only.
Result<LocalCatalog::Sealed> LocalCatalog::Seal(Table& table) {
  MutexLock writer_lock(table.writer_mutex_);
  const WaitRecorder::Scope wait(waits_);
  pipeline_->WaitUntilQuiet(table);
  if (table.dropped_.load()) {
    return NotFoundError("table '{}' was dropped", table.head_->definition->name);
  }
  STOA_FAULT_POINT("flush.seal");
  auto next = std::make_shared<TableSnapshot>(*table.head_);
  Sealed sealed;
  for (auto& part : next->parts) {
    if (part->is_disk_chunk()) {
      continue;
    }
    SegmentView::State state = static_cast<const SegmentView&>(*part).state();
    if (!state.sealed) {
      state.sealed = true;
      part = std::make_shared<const SegmentView>(std::move(state));
    }
    sealed.parts.push_back(part);
  }
  sealed.definition = next->definition;
  if (!sealed.parts.empty()) {
    pipeline_->PublishNow(table, std::move(next));
  }
  sealed.lsn = pipeline_->PublishedState(table).lsn;
  return sealed;
}

// Writes and opens a chunk with the live rows of `rows.parts`. Nothing of it stays after an error.
Result<std::shared_ptr<const DiskChunk>> LocalCatalog::MakeChunk(const std::shared_ptr<Table>& table,
                                                                 const NewChunk& rows, JobRegistry::Job& job,
                                                                 const CancelToken* cancel) {
  ChunkWriteInput input;
  std::string folder;
  {
    MutexLock lock(registry_mutex_);
    const auto place = FindTable(entries_, *table);
    if (place == entries_.end()) {
      return NotFoundError("table '{}' was dropped", rows.definition.name);
    }
    folder = PathOf(place->second.files.folder);
    input.id = ChunkId(place->second.files.next_chunk_id++);
  }
  RETURN_IF_ERROR(env_.MakeFolder(folder));
  RETURN_IF_ERROR(env_.SyncFolder(options_.data_dir));
  input.parts.assign(rows.parts.begin(), rows.parts.end());
  input.definition = std::make_shared<const TableDefinition>(rows.definition);
  input.created = clock_.UnixSeconds();
  input.merged_from = rows.merged_from;
  input.docstore = DocstoreOptionsOf(rows.definition);
  input.vector_indexes = {.format = options_.vector_index_format,
                          .quantizers = rows.anew ? rows.quantizers : table->Peek()->quantizers,
                          .threads = merge_settings_.Load()->knn_parallel_build,
                          .anew = rows.anew};
  input.cancel = &job.cancel();
  input.progress = [&job, cancel](uint64_t done, uint64_t total) {
    job.SetProgress(done, total);
    if (cancel != nullptr && cancel->cancelled()) {
      job.cancel().Cancel();
    }
  };
  WorkRecorder::Scope work(rows.merged_from > 0 ? merges_ : flushes_);
  const Status written = WriteChunk(env_, folder, input);
  if (!written.ok()) {
    work.Failed(written);
    return written;
  }
  auto chunk = DiskChunk::Open(env_, folder, input.id, ChunkOptions(rows.definition));
  if (chunk.ok()) {
    work.Finished((*chunk)->disk_bytes());
  } else {
    work.Failed(chunk.status());
    RemoveChunk(*table, input.id);
  }
  return chunk;
}

void LocalCatalog::RemoveChunk(const Table& table, ChunkId chunk) {
  std::string folder;
  {
    MutexLock lock(registry_mutex_);
    const auto place = FindTable(entries_, table);
    if (place == entries_.end()) {
      return;
    }
    folder = PathOf(place->second.files.folder);
  }
  if (const Status status = RemoveChunkFiles(env_, folder, chunk); !status.ok()) {
    LogWarning("files of a chunk that was given up stay until the next start: {}", status.text());
  }
}

// One swap: `chunk` stands where `before` stood, with everything that happened to those rows since.
Status LocalCatalog::PublishChunk(Table& table, std::span<const std::shared_ptr<const TablePart>> before,
                                  const std::shared_ptr<const DiskChunk>& chunk) {
  MutexLock writer_lock(table.writer_mutex_);
  const WaitRecorder::Scope wait(waits_);
  pipeline_->WaitUntilQuiet(table);
  RETURN_IF_ERROR(PassPublish());
  if (table.dropped_.load()) {
    return NotFoundError("table '{}' was dropped", table.head_->definition->name);
  }
  const TableSnapshot& head = *table.head_;
  const PartList after = FindAgain(before, head.parts);
  std::shared_ptr<const TablePart> view;
  if (chunk != nullptr) {
    ASSIGN_OR_RETURN(view, CarryOver(before, after, chunk, *head.definition));
  }
  auto next = std::make_shared<TableSnapshot>();
  next->definition = head.definition;
  next->parts = Replace(head.parts, after, std::move(view));
  RETURN_IF_ERROR(SwitchAccess(*next));  // altered since the chunk was begun
  next->quantizers = head.quantizers;
  next->quantizers = QuantizersOf(*next);
  pipeline_->PublishNow(table, std::move(next));
  return Status::Ok();
}

}  // namespace stoa::storage
