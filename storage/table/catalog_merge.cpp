#include <algorithm>

#include "storage/base/log.h"
#include "storage/chunk/vector_index_file.h"
#include "storage/table/local_catalog.h"
#include "storage/table/table_options.h"

namespace stoa::storage {

MergeChoice LocalCatalog::ChooseMerge(const Table& table,
                                      std::span<const std::shared_ptr<const ChunkView>> chunks,
                                      const MergeTask& task) const {
  std::vector<MergeCandidate> candidates;
  for (const auto& view : chunks) {
    const ChunkView::State& state = view->state();
    candidates.push_back({.rows = view->row_count(),
                          .live_rows = view->live_count(),
                          .disk_bytes = state.chunk->disk_bytes(),
                          .patched_values = state.overlay->patched_values(),
                          .busy = jobs_.IsBusy(table, state.chunk->header().id),
                          .fresh = state.chunk->header().id.value >= task.first_fresh});
  }
  switch (task.kind) {
    case MergeKind::kFull:
      return ChooseFullMerge(candidates, task.cutoff);
    case MergeKind::kRebuild:
      return ChooseRebuild(candidates);
    case MergeKind::kBackground:
      break;
  }
  return ChooseBackgroundMerge(candidates, task.cutoff, merge_settings_.Load()->chunks_per_job);
}

namespace {

// Adds those of the chunk that are not there yet.
void NoteQuantizers(const DiskChunk& chunk, TableQuantizers& quantizers) {
  for (const ColumnDefinition& column : chunk.header().definition.columns) {
    const VectorIndex* const index = chunk.vector_index(column.id);
    if (index != nullptr && index->quantizer() != nullptr && quantizers.Find(column.id) == nullptr) {
      quantizers.entries.push_back({column.id, index->quantizer()});
    }
  }
}

}  // namespace

// False when there is nothing to merge (now).
Result<bool> LocalCatalog::MergeOnce(const std::shared_ptr<Table>& table, const MergeTask& task) {
  const auto job = jobs_.Start({.table = table.get(),
                                .table_name = table->definition()->name,
                                .what = "merge",
                                .started = clock_.UnixSeconds(),
                                .wait = task.wait,
                                .cancel = task.cancel});
  if (job == nullptr) {
    return false;
  }
  // Only now: until here another statement may have replaced all chunks.
  const auto snapshot = table->Peek();
  if (table->maintenance_.frozen.load() > 0) {
    return InvalidError("table '{}' is frozen", snapshot->definition->name);
  }
  const auto chunks = ChunksOf(*snapshot);
  const MergeChoice choice = ChooseMerge(*table, chunks, task);
  if (choice.count == 0) {
    return false;
  }
  std::vector<std::shared_ptr<const TablePart>> inputs(
      chunks.begin() + static_cast<ptrdiff_t>(choice.first),
      chunks.begin() + static_cast<ptrdiff_t>(choice.first + choice.count));
  std::vector<ChunkId> taken;
  uint64_t live = 0;
  for (size_t i = choice.first; i < choice.first + choice.count; ++i) {
    taken.push_back(chunks[i]->state().chunk->header().id);
    live += chunks[i]->live_count();
  }
  const bool rebuild = task.kind == MergeKind::kRebuild;
  if (!job->Take(std::move(taken), rebuild ? std::string("rebuild of vector indexes")
                                           : fmt::format("merge of {} chunks", choice.count))) {
    return false;
  }
  std::shared_ptr<const DiskChunk> chunk;
  if (live > 0) {
    const NewChunk rows{inputs, *snapshot->definition, choice.count, rebuild, task.quantizers};
    ASSIGN_OR_RETURN(chunk, MakeChunk(table, rows, *job, task.cancel));
    if (rebuild) {
      NoteQuantizers(*chunk, *task.quantizers);
    }
  }
  RETURN_IF_ERROR(PublishMerge(table, inputs, chunk, *job, task));
  return true;
}

Status LocalCatalog::PublishMerge(const std::shared_ptr<Table>& table,
                                  std::span<const std::shared_ptr<const TablePart>> inputs,
                                  const std::shared_ptr<const DiskChunk>& chunk, JobRegistry::Job& job,
                                  const MergeTask& task) {
  Table::Maintenance& maintenance = table->maintenance_;
  Status published = WaitUntilFree(maintenance.files_mutex, {&job.cancel(), task.cancel});
  if (published.ok()) {
    MutexLock files_lock(maintenance.files_mutex);
    published = job.cancel().cancelled() ? job.cancel().Check() : PublishChunk(*table, inputs, chunk);
    if (published.ok()) {
      memory_freed_.store(true);
      maintenance.unsaved_merge.store(true);  // until a save, now or from the ticker
      return SaveTable(table, RamSave::kKeep, Lsn(0));
    }
  }
  if (chunk != nullptr) {
    RemoveChunk(*table, chunk->header().id);
  }
  return published;
}

Status LocalCatalog::MergeUntilDone(const std::shared_ptr<Table>& table, const MergeTask& task) {
  // Chunks that flushes add meanwhile must not make it endless.
  size_t passes_left = ChunksOf(*table->Peek()).size() + 1;
  while (passes_left > 0) {
    RETURN_IF_ERROR(CheckOpen());
    if (task.cancel != nullptr) {
      RETURN_IF_ERROR(task.cancel->Check());
    }
    const Result<bool> merged = MergeOnce(table, task);
    if (merged.status().code() == StatusCode::kCancelled) {
      continue;  // by a statement that got it out of its way; or by task.cancel, which is asked above
    }
    RETURN_IF_ERROR(merged.status());
    if (*merged) {
      --passes_left;
      continue;
    }
    // Chunks may be taken by a merge that runs in the background.
    if (!task.wait || !jobs_.HasMerge(*table)) {
      return Status::Ok();
    }
    jobs_.WaitForChange();
  }
  return Status::Ok();
}

void LocalCatalog::SetMaintenanceOptions(const StorageOptions& options) {
  merge_settings_.Store(std::make_shared<const MergeSettings>(MergeSettingsOf(options)));
}

uint64_t LocalCatalog::NextChunkId(const Table& table) const {
  MutexLock lock(registry_mutex_);
  const auto place = FindTable(entries_, table);
  return place != entries_.end() ? place->second.files.next_chunk_id : 0;
}

// A chunk at a time, as a merge of one: what happens to its rows meanwhile is carried over as ever.
Status LocalCatalog::RebuildVectorIndexes(std::string_view name, CancelToken* cancel) {
  RETURN_IF_ERROR(CheckOpen());
  ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindOpen(name));
  if (VectorIndexColumns(*table->definition()).empty()) {
    return InvalidError("table '{}' has no vector index", name);
  }
  MergeTask task;
  task.kind = MergeKind::kRebuild;
  task.first_fresh = NextChunkId(*table);
  task.cancel = cancel;
  task.wait = true;
  task.quantizers = std::make_shared<TableQuantizers>();
  return MergeUntilDone(table, task);
}

Status LocalCatalog::Optimize(std::string_view name, const OptimizeRequest& request) {
  RETURN_IF_ERROR(CheckOpen());
  ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindOpen(name));
  if (table->maintenance_.frozen.load() > 0) {
    return InvalidError("table '{}' is frozen", name);
  }
  MergeTask task;
  task.kind = MergeKind::kFull;
  task.first_fresh = NextChunkId(*table);
  task.cutoff = request.cutoff.value_or(CutoffOf(*table->definition(), *merge_settings_.Load()));
  task.wait = true;
  if (request.wait) {
    task.cancel = request.cancel;
    return MergeUntilDone(table, task);
  }
  workers_->Submit([this, table, task] {
    const Status status = CatchAll([&] { return MergeUntilDone(table, task); });
    if (!status.ok() && !closed_.load()) {
      LogWarning("table '{}' was not optimized: {}", table->definition()->name, status.ToString());
    }
  });
  return Status::Ok();
}

}  // namespace stoa::storage
