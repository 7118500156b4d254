#include "storage/table/commit_pipeline.h"

#include <algorithm>

#include "storage/base/fault_point.h"
#include "storage/base/log.h"
#include "storage/table/head_builder.h"
#include "storage/table/table_options.h"
#include "storage/table/write_set_codec.h"

namespace stoa::storage {
namespace {

constexpr int kMostTries = 10;  // to make changes again whose record is in the log

// Between the log and the publish; a failure armed here comes too late to undo anything.
Status PassPublish() {
  STOA_FAULT_POINT("commit.publish");
  return Status::Ok();
}

struct Apply {
  HeadBuilder& builder;
  CommitResult& result;

  Status operator()(const InsertRows& change) {
    RETURN_IF_ERROR(builder.Insert(change));
    result.inserted += change.rows.size();
    return Status::Ok();
  }
  Status operator()(const DeleteRows& change) {
    ASSIGN_OR_RETURN(const uint64_t found, builder.Delete(change));
    result.deleted += found;
    return Status::Ok();
  }
  Status operator()(const UpdateRows& change) {
    ASSIGN_OR_RETURN(const uint64_t found, builder.Update(change));
    result.updated += found;
    return Status::Ok();
  }
};

}  // namespace

// What Build() made: the new heads of the tables that change, and the record of the log.
struct CommitPipeline::Built {
  CommitResult result;
  std::vector<Waiting::Head> heads;
  std::string payload;
  bool past_the_log = true;  // may go past it
};

WriterLocks::WriterLocks(const std::vector<std::shared_ptr<Table>>& tables) NO_THREAD_SAFETY_ANALYSIS
    : held_(tables) {
  std::sort(held_.begin(), held_.end(),
            [](const auto& a, const auto& b) { return a->lock_order_ < b->lock_order_; });
  held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
  for (const auto& table : held_) {
    table->writer_mutex_.Lock();
  }
}

void WriterLocks::Unlock() {
  for (const auto& table : held_) {
    table->writer_mutex_.Unlock();
  }
  held_.clear();
}

Result<CommitResult> CommitPipeline::Commit(const std::vector<std::shared_ptr<Table>>& tables,
                                            const Catalog::BuildWriteSet& build) {
  CommitResult result;
  std::shared_ptr<Waiting> waiting;
  {
    WriterLocks locks(tables);
    ASSIGN_OR_RETURN(Built built, Build(tables, build));
    result = built.result;
    if (!built.heads.empty()) {
      ASSIGN_OR_RETURN(waiting, HandOver(std::move(built)));
    }
  }
  if (waiting != nullptr) {
    RETURN_IF_ERROR(Settle(waiting));
  }
  return result;
}

// Under the writer mutexes of `tables`.
Result<CommitPipeline::Built> CommitPipeline::Build(const std::vector<std::shared_ptr<Table>>& tables,
                                                    const Catalog::BuildWriteSet& build)
    NO_THREAD_SAFETY_ANALYSIS {
  if (closed_.load()) {
    return InvalidError("the server is stopping");
  }
  std::vector<std::shared_ptr<const TableSnapshot>> heads;
  for (const auto& table : tables) {
    {
      MutexLock lock(mutex_);
      RestoreHeadLocked(*table);
    }
    const std::string& name = table->head_->definition->name;
    if (table->dropped_.load()) {
      return NotFoundError("table '{}' was dropped", name);
    }
    if (table->read_locked()) {
      return InvalidError("table '{}' is locked", name);
    }
    heads.push_back(table->head_);
  }
  ASSIGN_OR_RETURN(const WriteSet changes, build(heads));
  heads.clear();
  STOA_FAULT_POINT("commit.apply");

  Built built;
  WriteSetWriter writer;
  std::vector<std::pair<std::shared_ptr<Table>, std::unique_ptr<HeadBuilder>>> builders;
  for (const TableChange& change : changes) {
    if (std::find(tables.begin(), tables.end(), change.table) == tables.end()) {
      return InternalError("a write set changes a table that was not named");
    }
    auto place = std::find_if(builders.begin(), builders.end(),
                              [&](const auto& builder) { return builder.first == change.table; });
    if (place == builders.end()) {
      place = builders.insert(place, {change.table, std::make_unique<HeadBuilder>(change.table->head_)});
    }
    RETURN_IF_ERROR(std::visit(Apply{*place->second, built.result}, change.change));
    writer.Add(change.table->head_->definition->id, change.change);
  }
  for (auto& [table, builder] : builders) {
    if (builder->changed()) {
      ASSIGN_OR_RETURN(auto snapshot, builder->Finish());
      built.past_the_log = built.past_the_log && OptedOutOfLog(*snapshot->definition);
      built.heads.push_back({table, std::move(snapshot)});
    }
  }
  built.payload = std::move(writer).Finish();
  return built;
}

// Under the writer mutexes of the tables: the record goes to the log, the heads become the tables' heads.
// Nullptr when the commit went past the log and is published.
Result<std::shared_ptr<CommitPipeline::Waiting>> CommitPipeline::HandOver(Built built)
    NO_THREAD_SAFETY_ANALYSIS {
  MutexLock lock(mutex_);
  const bool in_order = std::all_of(built.heads.begin(), built.heads.end(), [](const Waiting::Head& head) {
    return head.table->pipeline_.pending == 0;
  });
  if (log_ == nullptr || (built.past_the_log && in_order)) {
    for (const Waiting::Head& head : built.heads) {
      // On both sides of the publish: a save that comes between sees one of them.
      head.table->maintenance_.unlogged.store(true);
      head.table->head_ = head.snapshot;
      Publish(*head.table, head.snapshot);
      head.table->maintenance_.unlogged.store(true);
    }
    commits_.fetch_add(1, std::memory_order_relaxed);
    return std::shared_ptr<Waiting>();
  }
  STOA_FAULT_POINT("commit.append");
  Result<Lsn> lsn = log_->Append(built.payload);
  if (!lsn.ok()) {
    return IoError("the changes were not written to the log: {}", lsn.status().text());
  }
  auto waiting = std::make_shared<Waiting>();
  waiting->lsn = *lsn;
  waiting->payload = std::move(built.payload);
  waiting->heads = std::move(built.heads);
  for (const Waiting::Head& head : waiting->heads) {
    head.table->head_ = head.snapshot;
    ++head.table->pipeline_.pending;
  }
  queue_.push_back(waiting);
  return waiting;
}

// Waits until the record is durable and the commit published, or given up.
Status CommitPipeline::Settle(const std::shared_ptr<Waiting>& waiting) {
  Status durable;
  {
    const WaitRecorder::Scope wait(log_waits_);
    durable = log_->MakeDurable(waiting->lsn);
  }
  const Status fault = durable.ok() ? PassPublish() : Status::Ok();
  {
    MutexLock lock(mutex_);
    if (waiting->state == Waiting::State::kPending) {
      waiting->state = durable.ok() ? Waiting::State::kDurable : Waiting::State::kGivenUp;
    }
    WorkOff();
    while (!waiting->settled) {
      settled_.Wait(mutex_);
    }
  }
  if (durable.ok() && waiting->failure.ok()) {
    return fault;
  }
  for (const Waiting::Head& head : waiting->heads) {
    RestoreHead(*head.table);
  }
  if (!durable.ok()) {
    return IoError("the changes were not written to the log: {}", durable.text());
  }
  return IoError(
      "the changes could not be made after an earlier commit failed; the next start may find them in the "
      "log: {}",
      waiting->failure.text());
}

// Settles commits from the front of the queue as far as their fate is known.
void CommitPipeline::WorkOff() {
  const auto lost = [](const Waiting::Head& head) { return head.table->pipeline_.head_lost; };
  while (!queue_.empty()) {
    const std::shared_ptr<Waiting> front = queue_.front();
    if (front->state == Waiting::State::kPending) {
      break;
    }
    if (front->state == Waiting::State::kDurable &&
        std::any_of(front->heads.begin(), front->heads.end(), lost)) {
      break;
    }
    for (const Waiting::Head& head : front->heads) {
      --head.table->pipeline_.pending;
      if (front->state == Waiting::State::kGivenUp) {
        head.table->pipeline_.head_lost = true;
      } else {
        head.table->pipeline_.last_lsn = front->lsn;
        Publish(*head.table, head.snapshot);
      }
    }
    if (front->state == Waiting::State::kDurable) {
      commits_.fetch_add(1, std::memory_order_relaxed);
    }
    front->settled = true;
    queue_.pop_front();
  }
  settled_.NotifyAll();
}

void CommitPipeline::Publish(Table& table, const std::shared_ptr<const TableSnapshot>& snapshot) {
  ++table.pipeline_.version;
  table.published_.Store(snapshot);
}

void CommitPipeline::RestoreHead(Table& table) {
  MutexLock writer_lock(table.writer_mutex_);
  MutexLock lock(mutex_);
  RestoreHeadLocked(table);
}

// Under the table's writer mutex as well: makes a lost head again.
void CommitPipeline::RestoreHeadLocked(Table& table) NO_THREAD_SAFETY_ANALYSIS {
  while (table.pipeline_.head_lost) {
    std::shared_ptr<const TableSnapshot> head = table.published_.Load();
    for (const auto& waiting : queue_) {
      if (waiting->state != Waiting::State::kGivenUp) {
        Reapply(table, *waiting, head);
      }
    }
    table.head_ = std::move(head);
    table.pipeline_.head_lost = false;
    WorkOff();
  }
}

// `head` with the changes of a commit that stays. When they cannot be made again (a chunk cannot be read),
// the commit is given up, too, in all its tables: its client hears of it.
void CommitPipeline::Reapply(const Table& table, Waiting& waiting,
                             std::shared_ptr<const TableSnapshot>& head) {
  for (Waiting::Head& waiting_head : waiting.heads) {
    if (waiting_head.table.get() != &table) {
      continue;
    }
    Result<std::shared_ptr<const TableSnapshot>> next = ReplayPayload(head, waiting.payload);
    for (int tries = 1; !next.ok() && tries < kMostTries; ++tries) {
      next = ReplayPayload(head, waiting.payload);
    }
    if (!next.ok()) {
      LogError("table '{}': commit {} cannot be applied again and is given up: {}", head->definition->name,
               waiting.lsn.value, next.status().ToString());
      waiting.state = Waiting::State::kGivenUp;
      waiting.failure = next.status();
      return;
    }
    head = *next;
    waiting_head.snapshot = head;
  }
}

Result<std::shared_ptr<const TableSnapshot>> CommitPipeline::ReplayPayload(
    const std::shared_ptr<const TableSnapshot>& base, std::string_view payload) {
  ASSIGN_OR_RETURN(std::vector<LoggedChange> changes, DecodeWriteSet(payload));
  return Replay(base, changes);
}

Result<std::shared_ptr<const TableSnapshot>> CommitPipeline::Replay(std::shared_ptr<const TableSnapshot> base,
                                                                    std::vector<LoggedChange>& changes) {
  HeadBuilder builder(base);
  CommitResult result;
  for (LoggedChange& change : changes) {
    if (change.table != base->definition->id) {
      continue;
    }
    if (auto* insert = std::get_if<InsertRows>(&change.change)) {
      insert->replace = true;  // the row may be there already
    }
    RETURN_IF_ERROR(std::visit(Apply{builder, result}, change.change));
  }
  return builder.Finish();
}

void CommitPipeline::WaitUntilQuiet(Table& table) {
  MutexLock lock(mutex_);
  while (table.pipeline_.pending > 0 || table.pipeline_.head_lost) {
    if (table.pipeline_.head_lost) {
      RestoreHeadLocked(table);
    } else {
      settled_.Wait(mutex_);
    }
  }
}

void CommitPipeline::PublishNow(Table& table, std::shared_ptr<const TableSnapshot> snapshot) {
  MutexLock lock(mutex_);
  table.head_ = snapshot;
  Publish(table, snapshot);
}

void CommitPipeline::SetLoaded(Table& table, Lsn lsn, uint64_t version) {
  MutexLock lock(mutex_);
  table.pipeline_.last_lsn = lsn;
  table.pipeline_.version = version;
}

CommitPipeline::Published CommitPipeline::PublishedState(const Table& table) const {
  MutexLock lock(mutex_);
  return {table.published_.Load(), table.pipeline_.last_lsn, table.pipeline_.version,
          table.pipeline_.pending > 0};
}

}  // namespace stoa::storage
