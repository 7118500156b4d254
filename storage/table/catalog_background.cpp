#include <algorithm>
#include <chrono>

#include "storage/base/log.h"
#include "storage/base/release_memory.h"
#include "storage/chunk/segment_codes.h"
#include "storage/table/local_catalog.h"
#include "storage/table/table_options.h"

namespace stoa::storage {
namespace {

constexpr size_t kMostWorkers = 64;  // merges are limited by their setting, flushes by the tables
constexpr auto kTick = std::chrono::seconds(1);
constexpr uint64_t kRowsWorthAnIdleFlush = 8192;
constexpr uint64_t kLogSegmentsKept = 4;  // beyond them tables that hold the log back are written
constexpr uint64_t kMostOfLimit = 4;
constexpr uint64_t kAlwaysTaken = 64u << 20;  // bytes in memory that are no danger, however low the limit
constexpr auto kLongestThrottle = std::chrono::milliseconds(40);

uint64_t RamRows(const TableSnapshot& snapshot) {
  uint64_t rows = 0;
  for (const auto& part : snapshot.parts) {
    rows += part->is_disk_chunk() ? 0 : part->live_count();
  }
  return rows;
}

}  // namespace

void LocalCatalog::StartBackground() {
  workers_ = std::make_unique<ThreadPool>(1, kMostWorkers);
  ticker_ = std::thread(&LocalCatalog::RunTicker, this);
}

void LocalCatalog::StopBackground() {
  {
    MutexLock lock(ticker_mutex_);
    stopping_ = true;
  }
  stop_.NotifyAll();
  if (ticker_.joinable()) {
    ticker_.join();
  }
  closed_.store(true);
  jobs_.CancelAll();
  if (workers_ != nullptr) {
    workers_->Stop();
  }
  jobs_.Allow();  // what is written at the stop itself
}

void LocalCatalog::RunTicker() {
  const auto period = std::chrono::seconds(options_.rt_flush_period_seconds);
  auto next_save = std::chrono::steady_clock::now() + period;
  MutexLock lock(ticker_mutex_);
  while (!stopping_) {
    stop_.WaitFor(ticker_mutex_, kTick);
    if (stopping_) {
      return;
    }
    ticker_mutex_.Unlock();
    const Status ticked = CatchAll([this] {
      Tick();
      return Status::Ok();
    });
    if (!ticked.ok()) {
      LogError("maintenance of the tables: {}", ticked.text());
    }
    if (period.count() > 0 && std::chrono::steady_clock::now() >= next_save) {
      next_save += period;
      for (const std::shared_ptr<Table>& table : List()) {
        if (const Status status = CatchAll([&] { return SaveWithRam(table); }); !status.ok()) {
          LogWarning("table '{}' was not written: {}", table->definition()->name, status.ToString());
        }
      }
    }
    ticker_mutex_.Lock();
  }
}

void LocalCatalog::Tick() {
  const int64_t now = SteadySeconds();
  for (const std::shared_ptr<Table>& table : List()) {
    Table::Maintenance& maintenance = table->maintenance_;
    if (table->read_.exchange(false)) {
      maintenance.last_read.store(now);
    }
    const uint64_t version = pipeline_->PublishedState(*table).version;
    if (version != maintenance.ticked_version) {
      maintenance.ticked_version = version;
      maintenance.last_write.store(now);
    }
    ConsiderCodes(table);
    ConsiderFlush(table);
    ConsiderIdleFlush(table, now);
    ConsiderMerge(table);
    RetrySave(table);
    ReopenUnreadable(table);
  }
  TrimLog();
  {
    MutexLock lock(registry_mutex_);
    KeepReserve();
  }
  if (memory_freed_.exchange(false)) {
    ReleaseFreeMemory();
  }
}

// After each commit: a RAM part near its limit becomes a chunk; writers that are faster than that are slowed
// down, a little at each commit.
std::chrono::milliseconds LocalCatalog::ConsiderFlush(const std::shared_ptr<Table>& table) {
  const auto snapshot = table->Peek();
  const uint64_t limit = MemLimitOf(*snapshot->definition, options_);
  const uint64_t bytes = RamBytesOf(*snapshot);
  if (static_cast<double>(bytes) < static_cast<double>(limit) * table->maintenance_.mem_limit_rate.load()) {
    return {};
  }
  ScheduleFlush(table);
  if (bytes <= 2 * limit) {
    return {};
  }
  return std::min<std::chrono::milliseconds>(kLongestThrottle,
                                             std::chrono::milliseconds(1 + 10 * (bytes - 2 * limit) / limit));
}

void LocalCatalog::Throttle(std::chrono::milliseconds pause) {
  if (pause.count() > 0) {
    const WaitRecorder::Scope wait(waits_);
    std::this_thread::sleep_for(pause);
  }
}

// What cannot be written to disk must not fill the memory.
Status LocalCatalog::CheckMemory(const Table& table) const {
  const Table::Maintenance& maintenance = table.maintenance_;
  const bool is_stuck = maintenance.frozen.load() > 0 || !maintenance.flush_retry.IsDue(SteadySeconds());
  if (!is_stuck) {
    return Status::Ok();
  }
  const auto snapshot = table.Peek();
  const uint64_t limit = MemLimitOf(*snapshot->definition, options_);
  const uint64_t bytes = RamBytesOf(*snapshot);
  if (bytes <= std::max(kMostOfLimit * limit, kAlwaysTaken)) {
    return Status::Ok();
  }
  return LimitError(
      "table '{}': {} bytes in memory, {} times rt_mem_limit, and they cannot become a disk chunk "
      "now (frozen, or see the log)",
      snapshot->definition->name, bytes, bytes / limit);
}

// features ST-05: nobody writes, somebody searches, and it is worth it.
void LocalCatalog::ConsiderIdleFlush(const std::shared_ptr<Table>& table, int64_t now) {
  const auto snapshot = table->Peek();
  const IdleFlush idle = IdleFlushOf(*snapshot->definition);
  const Table::Maintenance& maintenance = table->maintenance_;
  if (idle.without_write < 0 || idle.since_search < 0 ||
      now - maintenance.last_write.load() < idle.without_write || maintenance.last_read.load() == 0 ||
      now - maintenance.last_read.load() > idle.since_search || RamRows(*snapshot) < kRowsWorthAnIdleFlush) {
    return;
  }
  if (ChunksOf(*snapshot).size() < CutoffOf(*snapshot->definition, *merge_settings_.Load())) {
    ScheduleFlush(table);
  }
}

// Codes of vectors in memory that their commit could not make. A search that comes first makes its own.
void LocalCatalog::ConsiderCodes(const std::shared_ptr<Table>& table) {
  if (closed_.load() || !MissCodes(*table->Peek()) || table->maintenance_.coding_scheduled.exchange(true)) {
    return;
  }
  workers_->Submit([this, table] {
    MakeCodes(*table->Peek(), [this] { return !closed_.load(); });
    table->maintenance_.coding_scheduled.store(false);
  });
}

void LocalCatalog::ScheduleFlush(const std::shared_ptr<Table>& table) {
  if (closed_.load() || table->maintenance_.frozen.load() > 0 ||
      !table->maintenance_.flush_retry.IsDue(SteadySeconds()) ||
      table->maintenance_.flush_scheduled.exchange(true)) {
    return;
  }
  workers_->Submit([this, table] {
    Table::Maintenance& maintenance = table->maintenance_;
    const Status status = CatchAll([&] { return FlushRamPart(table, false); });
    maintenance.flush_scheduled.store(false);
    if (status.ok()) {
      maintenance.flush_retry.Succeeded();
    } else if (status.code() != StatusCode::kCancelled && !closed_.load() &&
               maintenance.flush_retry.Failed(SteadySeconds(), status.code())) {
      LogWarning("the RAM part of table '{}' stays in memory, and is tried again: {}",
                 table->definition()->name, status.ToString());
    }
    ConsiderMerge(table);
  });
}

void LocalCatalog::ConsiderMerge(const std::shared_ptr<Table>& table) {
  const auto settings = merge_settings_.Load();
  if (settings->auto_optimize == 0 || closed_.load() || table->maintenance_.frozen.load() > 0 ||
      !table->maintenance_.merge_retry.IsDue(SteadySeconds()) || jobs_.merges() >= settings->parallel) {
    return;
  }
  const auto snapshot = table->Peek();
  MergeTask task;
  task.cutoff = size_t{CutoffOf(*snapshot->definition, *settings)} * settings->auto_optimize;
  if (ChooseMerge(*table, ChunksOf(*snapshot), task).count == 0 ||
      table->maintenance_.merge_scheduled.exchange(true)) {
    return;
  }
  workers_->Submit([this, table, task] {
    const bool may_run = !closed_.load() && jobs_.merges() < merge_settings_.Load()->parallel;
    Table::Maintenance& maintenance = table->maintenance_;
    bool merged = false;
    const Status status = CatchAll([&]() -> Status {
      if (may_run) {
        ASSIGN_OR_RETURN(merged, MergeOnce(table, task));
      }
      return Status::Ok();
    });
    maintenance.merge_scheduled.store(false);
    if (merged) {
      maintenance.merge_retry.Succeeded();
      ConsiderMerge(table);
    } else if (!status.ok() && status.code() != StatusCode::kCancelled && !closed_.load() &&
               maintenance.merge_retry.Failed(SteadySeconds(), status.code())) {
      LogWarning("chunks of table '{}' were not merged, which is tried again: {}", table->definition()->name,
                 status.ToString());
    }
  });
}

// What the old manifest names stays until then, and would be what the next start has.
void LocalCatalog::RetrySave(const std::shared_ptr<Table>& table) {
  Table::Maintenance& maintenance = table->maintenance_;
  const auto is_needed = [&] {
    return (maintenance.unsaved_merge.load() || maintenance.unsaved_flush.load()) &&
           maintenance.frozen.load() == 0;
  };
  if (!is_needed() || !maintenance.save_retry.IsDue(SteadySeconds()) || !maintenance.files_mutex.TryLock()) {
    return;  // else, or now, whoever holds the mutex saves the table
  }
  const Status status =
      is_needed() ? CatchAll([&] { return SaveTable(table, RamSave::kKeep, Lsn(0)); }) : Status::Ok();
  maintenance.files_mutex.Unlock();
  if (status.ok()) {
    maintenance.save_retry.Succeeded();
  } else if (maintenance.save_retry.Failed(SteadySeconds(), status.code())) {
    LogWarning("merged chunks of table '{}' stay until it can be written, which is tried again: {}",
               table->definition()->name, status.text());
  }
}

void LocalCatalog::ReopenUnreadable(const std::shared_ptr<Table>& table) {
  RetryDelay& retry = table->maintenance_.reopen_retry;
  const auto chunks = ChunksOf(*table->Peek());
  const auto has_failed = [](const auto& view) { return view->state().chunk->has_failed(); };
  if (std::none_of(chunks.begin(), chunks.end(), has_failed) || !retry.IsDue(SteadySeconds())) {
    return;
  }
  const Status status = Reopen(*table);
  const std::string name = table->definition()->name;
  if (status.ok()) {
    retry.Succeeded();
    LogInfo("table '{}': files of which a part could not be read were opened again", name);
  } else if (retry.Failed(SteadySeconds(), StatusCode::kIo)) {  // as often as for a disk, whatever it is
    LogError("table '{}': a part of a file cannot be read, nor can it be opened again: {}", name,
             status.text());
  }
}

Status LocalCatalog::Reopen(Table& table) {
  const auto before = table.Peek();
  const DiskChunk::Options options = ChunkOptions(*before->definition);
  std::map<const DiskChunk*, std::shared_ptr<const DiskChunk>> opened;
  for (const auto& view : ChunksOf(*before)) {
    const DiskChunk& chunk = *view->state().chunk;
    if (chunk.has_failed()) {
      ASSIGN_OR_RETURN(opened[&chunk], DiskChunk::Open(env_, chunk.folder(), chunk.header().id, options));
    }
  }
  MutexLock writer_lock(table.writer_mutex_);
  const WaitRecorder::Scope wait(waits_);
  pipeline_->WaitUntilQuiet(table);
  auto next = std::make_shared<TableSnapshot>(*table.head_);
  for (auto& part : next->parts) {
    if (!part->is_disk_chunk()) {
      continue;
    }
    ChunkView::State state = static_cast<const ChunkView&>(*part).state();
    if (const auto place = opened.find(state.chunk.get()); place != opened.end()) {
      state.chunk = place->second;
      part = std::make_shared<const ChunkView>(std::move(state));
    }
  }
  RETURN_IF_ERROR(SwitchAccess(*next));
  pipeline_->PublishNow(table, std::move(next));
  return Status::Ok();
}

// A table that nobody writes to any more must not keep the log of all others.
void LocalCatalog::TrimLog() {
  if (pipeline_->log() == nullptr || pipeline_->log()->retained_segments() <= kLogSegmentsKept) {
    return;
  }
  std::shared_ptr<Table> oldest;
  {
    MutexLock lock(registry_mutex_);
    Lsn lowest(UINT64_MAX);
    for (const auto& [name, entry] : entries_) {
      if (entry.table == nullptr) {
        return;  // a damaged table needs its records, whatever the others do
      }
      if (entry.files.flushed < lowest && entry.table->maintenance_.frozen.load() == 0 &&
          pipeline_->PublishedState(*entry.table).lsn > entry.files.flushed) {
        lowest = entry.files.flushed;
        oldest = entry.table;
      }
    }
  }
  if (oldest == nullptr) {
    return;
  }
  if (const Status status = SaveWithRam(oldest); !status.ok()) {
    LogWarning("table '{}' holds the log back and was not written: {}", oldest->definition()->name,
               status.ToString());
  }
}

}  // namespace stoa::storage
