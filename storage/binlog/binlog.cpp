#include "storage/binlog/binlog.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/crc32c.h"
#include "storage/base/fault_point.h"
#include "storage/base/log.h"
#include "storage/base/mutex.h"
#include "storage/binlog/binlog_format.h"
#include "storage/binlog/binlog_replay.h"
#include "storage/binlog/binlog_writer.h"

namespace stoa::storage {
namespace {

// With flush 0 and 2, this much is written and synced before the second is over.
constexpr uint64_t kMaxUnsynced = 64u << 20;

// Group commit. Records wait in queue_. One thread at a time leads (busy_): it takes the whole queue, and
// without the mutex writes and syncs it with writer_. The others wait for it and then find their record
// durable, or given up, or lead themselves.
class GroupCommitBinlog : public Binlog {
 public:
  GroupCommitBinlog(const BinlogOptions& options, Env& env, const ReplayEnd& replayed)
      : options_(options),
        env_(env),
        writer_(env, options, replayed.end),
        segments_(replayed.segments),
        appended_(replayed.last_lsn),
        durable_(replayed.last_lsn),
        forgotten_(replayed.forgotten) {}
  ~GroupCommitBinlog() override { StopBackground(); }

  // Makes the first segment; before any other method.
  Status Start();

  Result<Lsn> Append(std::string_view payload) override;
  Status MakeDurable(Lsn lsn) override;
  Lsn last_appended() const override;
  Lsn last_durable() const override;
  Status Forget(Lsn lsn) override;
  Status Close() override;
  size_t retained_segments() const override;
  BinlogCounters counters() const override;

 private:
  struct GivenUp {
    uint64_t last_lsn;
    Status reason;
  };

  void Enter() REQUIRES(mutex_);  // waits until nobody leads, then leads
  void Leave() REQUIRES(mutex_);
  // Writes the queue. Called while nobody leads.
  Status Lead(bool sync) REQUIRES(mutex_);
  void Fail(const Status& reason) REQUIRES(mutex_);
  void GiveUpRest(const Status& reason) REQUIRES(mutex_);
  const GivenUp* FindGivenUp(uint64_t lsn) const REQUIRES(mutex_);
  // Makes the new segment that a failure asks for. Called while this thread does not lead.
  Status Recover() REQUIRES(mutex_);
  // These two are for the leader.
  Status StartNext() REQUIRES(mutex_);
  Status Rotate() REQUIRES(mutex_);
  void NoteWriter() REQUIRES(mutex_);

  bool HasForgettable(uint64_t lsn) const REQUIRES(mutex_);
  Status RemoveForgotten(uint64_t lsn) EXCLUDES(mutex_);
  Status RemoveFiles(std::vector<SegmentEnd>& segments);

  void RunBackground() EXCLUDES(mutex_);
  void StopBackground() EXCLUDES(mutex_);

  const BinlogOptions options_;
  Env& env_;
  BinlogWriter writer_;  // of the leader; read under the mutex while nobody leads
  std::thread background_;

  mutable Mutex mutex_;
  CondVar changed_;
  CondVar stop_;
  RecordBatch queue_ GUARDED_BY(mutex_);
  std::vector<SegmentEnd> segments_ GUARDED_BY(mutex_);      // ended ones, oldest first
  std::map<uint64_t, GivenUp> given_up_ GUARDED_BY(mutex_);  // by first LSN
  uint64_t appended_ GUARDED_BY(mutex_);
  uint64_t durable_ GUARDED_BY(mutex_);
  uint64_t forgotten_ GUARDED_BY(mutex_);
  BinlogCounters counters_ GUARDED_BY(mutex_);
  Status broken_ GUARDED_BY(mutex_);  // why a new segment is needed before anything is written
  bool busy_ GUARDED_BY(mutex_) = false;
  bool recovering_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
};

Status GroupCommitBinlog::Start() {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(StartNext());
  if (options_.flush != 1) {
    background_ = std::thread(&GroupCommitBinlog::RunBackground, this);
  }
  return Status::Ok();
}

Result<Lsn> GroupCommitBinlog::Append(std::string_view payload) {
  STOA_FAULT_POINT("binlog.append");
  if (payload.size() > kMaxRecordPayload) {
    return LimitError("transaction of {} bytes, the log takes {} at most", payload.size(), kMaxRecordPayload);
  }
  const uint32_t crc = Crc32c(payload);
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(Recover());
  if (closed_) {
    return IoError("{}: the log is closed", options_.folder);
  }
  ++appended_;
  queue_.Add(appended_, payload, crc);
  return Lsn(appended_);
}

Status GroupCommitBinlog::MakeDurable(Lsn lsn) {
  MutexLock lock(mutex_);
  if (lsn.value > appended_) {
    return InternalError("transaction {} is not in the log, the last one is {}", lsn.value, appended_);
  }
  for (;;) {
    if (const GivenUp* given_up = FindGivenUp(lsn.value)) {
      const Status reason = given_up->reason;
      while (recovering_) {
        changed_.Wait(mutex_);
      }
      return reason;
    }
    if (lsn.value <= durable_ || (options_.flush == 0 && queue_.bytes.size() < kMaxUnsynced)) {
      return Status::Ok();
    }
    if (busy_) {
      changed_.Wait(mutex_);
      continue;
    }
    const Status status = Lead(options_.flush == 1 || writer_.unsynced_bytes() >= kMaxUnsynced);
    if (!status.ok() && options_.flush == 0) {
      return Status::Ok();  // nothing is given up: it is tried again
    }
  }
}

void GroupCommitBinlog::Enter() {
  while (busy_) {
    changed_.Wait(mutex_);
  }
  busy_ = true;
}

void GroupCommitBinlog::Leave() {
  busy_ = false;
  changed_.NotifyAll();
}

Status GroupCommitBinlog::Lead(bool sync) {
  Enter();
  Status status = broken_.ok() ? Status::Ok() : StartNext();
  if (!status.ok()) {
    GiveUpRest(status);
    Leave();
    return status;
  }
  RecordBatch batch = std::exchange(queue_, {});
  const uint64_t last_lsn = batch.last_lsn;
  mutex_.Unlock();
  status = writer_.Write(std::move(batch));
  const bool written = status.ok();
  if (written && sync) {
    status = writer_.Sync();
  }
  mutex_.Lock();
  NoteWriter();
  if (written && (status.ok() || options_.flush != 1)) {
    durable_ = std::max(durable_, last_lsn);
  }
  if (!status.ok()) {
    Fail(status);
  } else if (writer_.has_records() && writer_.size() >= options_.max_segment_size) {
    changed_.NotifyAll();
    if (const Status rotated = Rotate(); !rotated.ok()) {
      LogError("binlog: {}", rotated.text());
    }
  }
  Leave();
  return status;
}

void GroupCommitBinlog::Fail(const Status& reason) {
  LogError("binlog: {}", reason.text());
  broken_ = reason;
  GiveUpRest(reason);
  // Callers hear of it once the new segment makes sure that nothing of it is ever replayed, or cannot be
  // made.
  recovering_ = true;
  if (const Status status = StartNext(); !status.ok()) {
    LogError("binlog: cannot start a new segment: {}", status.text());
  }
  recovering_ = false;
}

// With flush 0 everything appended was acknowledged: it stays in the queue.
void GroupCommitBinlog::GiveUpRest(const Status& reason) {
  if (options_.flush == 0) {
    return;
  }
  queue_ = {};
  uint64_t first = durable_ + 1;
  if (!given_up_.empty()) {
    first = std::max(first, given_up_.rbegin()->second.last_lsn + 1);
  }
  if (first <= appended_) {
    LogError("binlog: transactions {} to {} are given up", first, appended_);
    given_up_.emplace(first, GivenUp{.last_lsn = appended_, .reason = reason});
  }
}

const GroupCommitBinlog::GivenUp* GroupCommitBinlog::FindGivenUp(uint64_t lsn) const {
  auto range = given_up_.upper_bound(lsn);
  if (range == given_up_.begin()) {
    return nullptr;
  }
  --range;
  return lsn <= range->second.last_lsn ? &range->second : nullptr;
}

Status GroupCommitBinlog::Recover() {
  if (broken_.ok()) {
    return Status::Ok();
  }
  Enter();
  const Status status = broken_.ok() ? Status::Ok() : StartNext();
  Leave();
  return status;
}

Status GroupCommitBinlog::StartNext() {
  // While broken_ nothing is appended, so the queue cannot change meanwhile.
  const uint64_t first_lsn = queue_.empty() ? appended_ + 1 : queue_.first_lsn;
  const uint64_t forgotten = forgotten_;
  mutex_.Unlock();
  const Status status = writer_.StartNext(first_lsn, forgotten);
  mutex_.Lock();
  NoteWriter();
  broken_ = status;
  return status;
}

Status GroupCommitBinlog::Rotate() {
  const uint64_t forgotten = forgotten_;
  mutex_.Unlock();
  const Status status = writer_.Rotate(forgotten);
  mutex_.Lock();
  NoteWriter();
  broken_ = status;
  return status;
}

void GroupCommitBinlog::NoteWriter() {
  counters_ = writer_.counters();
  const std::vector<SegmentEnd> ended = writer_.TakeEnded();
  segments_.insert(segments_.end(), ended.begin(), ended.end());
}

Lsn GroupCommitBinlog::last_appended() const {
  MutexLock lock(mutex_);
  return Lsn(appended_);
}

Lsn GroupCommitBinlog::last_durable() const {
  MutexLock lock(mutex_);
  return Lsn(options_.flush == 0 ? appended_ : durable_);
}

size_t GroupCommitBinlog::retained_segments() const {
  MutexLock lock(mutex_);
  return segments_.size() + 1;
}

BinlogCounters GroupCommitBinlog::counters() const {
  MutexLock lock(mutex_);
  return counters_;
}

Status GroupCommitBinlog::Forget(Lsn lsn) {
  {
    MutexLock lock(mutex_);
    Enter();
    const uint64_t up_to = std::min(lsn.value, appended_);
    const bool current = broken_.ok() && writer_.has_records() && writer_.next_lsn() - 1 <= up_to;
    if (!current && !HasForgettable(up_to)) {
      Leave();
      return Status::Ok();
    }
    // A new segment notes durably that what goes now is not missing. If it cannot be made, files are removed
    // all the same (that may be the room it needs) and it is tried again.
    forgotten_ = std::max(forgotten_, up_to);
    const Status status = broken_.ok() ? Rotate() : StartNext();
    Leave();
    if (!status.ok()) {
      LogWarning("binlog: {}", status.text());
    }
  }
  RETURN_IF_ERROR(RemoveForgotten(lsn.value));
  MutexLock lock(mutex_);
  return Recover();
}

bool GroupCommitBinlog::HasForgettable(uint64_t lsn) const {
  return !segments_.empty() && segments_.front().last_lsn <= lsn;
}

Status GroupCommitBinlog::RemoveForgotten(uint64_t lsn) {
  std::vector<SegmentEnd> segments;
  {
    MutexLock lock(mutex_);
    const auto kept = std::find_if(segments_.begin(), segments_.end(),
                                   [&](const SegmentEnd& segment) { return segment.last_lsn > lsn; });
    segments.assign(segments_.begin(), kept);
    segments_.erase(segments_.begin(), kept);
  }
  const Status status = RemoveFiles(segments);
  MutexLock lock(mutex_);
  segments_.insert(segments_.begin(), segments.begin(), segments.end());
  return status;
}

// Oldest first. Takes what it removed out of `segments`.
Status GroupCommitBinlog::RemoveFiles(std::vector<SegmentEnd>& segments) {
  while (!segments.empty()) {
    STOA_FAULT_POINT("binlog.forget");
    const Status status = env_.Remove(options_.folder + "/" + SegmentName(segments.front().number));
    if (!status.ok() && status.code() != StatusCode::kNotFound) {
      return status;
    }
    segments.erase(segments.begin());
  }
  return env_.SyncFolder(options_.folder);
}

Status GroupCommitBinlog::Close() {
  StopBackground();
  MutexLock lock(mutex_);
  if (closed_) {
    return Status::Ok();
  }
  closed_ = true;
  const Status status = Lead(true);
  Enter();
  mutex_.Unlock();
  const Status closed = writer_.Close();
  mutex_.Lock();
  Leave();
  return status.ok() ? closed : status;
}

void GroupCommitBinlog::RunBackground() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    stop_.WaitFor(mutex_, options_.sync_interval);
    while (busy_) {
      changed_.Wait(mutex_);
    }
    if (!stopping_ && (!queue_.empty() || writer_.unsynced_bytes() > 0 || !broken_.ok())) {
      static_cast<void>(Lead(true));  // logged; whoever waits for a record hears of it
    }
  }
}

void GroupCommitBinlog::StopBackground() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  if (background_.joinable()) {
    background_.join();
  }
}

}  // namespace

Result<std::unique_ptr<Binlog>> Binlog::Open(const BinlogOptions& options, Env& env, Lsn after,
                                             const Replay& replay) {
  if (options.flush < 0 || options.flush > 2) {
    return InvalidError("binlog_flush is {}, it must be 0, 1 or 2", options.flush);
  }
  RETURN_IF_ERROR(env.MakeFolder(options.folder));
  ASSIGN_OR_RETURN(const ReplayEnd replayed, BinlogReplay(options, env, after, replay).Run());
  auto binlog = std::make_unique<GroupCommitBinlog>(options, env, replayed);
  RETURN_IF_ERROR(binlog->Start());
  return std::unique_ptr<Binlog>(std::move(binlog));
}

}  // namespace stoa::storage
