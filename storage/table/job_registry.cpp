#include "storage/table/job_registry.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace stoa::storage {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);

}  // namespace

Status WaitUntilFree(Mutex& mutex, std::initializer_list<const CancelToken*> cancels) {
  while (!mutex.TryLock()) {
    for (const CancelToken* cancel : cancels) {
      if (cancel != nullptr) {
        RETURN_IF_ERROR(cancel->Check());
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  mutex.Unlock();
  return Status::Ok();
}

JobRegistry::Job::~Job() {
  MutexLock lock(registry_.mutex_);
  registry_.jobs_.erase(state_);
  registry_.changed_.NotifyAll();
}

CancelToken& JobRegistry::Job::cancel() { return state_->cancel; }

bool JobRegistry::Job::Take(std::vector<ChunkId> chunks, std::string what) {
  MutexLock lock(registry_.mutex_);
  for (const State& other : registry_.jobs_) {
    for (const ChunkId chunk : chunks) {
      if (other.request.table == state_->request.table &&
          std::find(other.chunks.begin(), other.chunks.end(), chunk) != other.chunks.end()) {
        return false;
      }
    }
  }
  state_->chunks = std::move(chunks);
  state_->shown.what = std::move(what);
  return true;
}

void JobRegistry::Job::SetProgress(uint64_t done, uint64_t total) {
  MutexLock lock(registry_.mutex_);
  state_->shown.done = done;
  state_->shown.total = total;
}

JobRegistry::Pause::Pause(JobRegistry& registry, const Table& table) : registry_(registry), table_(table) {
  MutexLock lock(registry_.mutex_);
  registry_.paused_.push_back(&table);
  const auto is_of_table = [&](const State& job) { return job.request.table == &table; };
  for (State& job : registry_.jobs_) {
    if (is_of_table(job)) {
      job.cancel.Cancel();
    }
  }
  while (std::any_of(registry_.jobs_.begin(), registry_.jobs_.end(), is_of_table)) {
    registry_.changed_.Wait(registry_.mutex_);
  }
}

JobRegistry::Pause::~Pause() {
  MutexLock lock(registry_.mutex_);
  registry_.paused_.erase(std::find(registry_.paused_.begin(), registry_.paused_.end(), &table_));
  registry_.changed_.NotifyAll();
}

bool JobRegistry::IsPaused(const Table& table) const {
  return std::find(paused_.begin(), paused_.end(), &table) != paused_.end();
}

std::unique_ptr<JobRegistry::Job> JobRegistry::Start(Request request) {
  MutexLock lock(mutex_);
  while (IsPaused(*request.table) && !refusing_) {
    if (!request.wait || (request.cancel != nullptr && request.cancel->cancelled())) {
      return nullptr;
    }
    changed_.WaitFor(mutex_, kPoll);
  }
  if (refusing_) {
    return nullptr;
  }
  State& job = jobs_.emplace_back();
  job.shown.id = next_id_++;
  job.shown.table = request.table_name;
  job.shown.what = request.what;
  job.shown.started = request.started;
  job.request = std::move(request);
  return std::unique_ptr<Job>(new Job(*this, std::prev(jobs_.end())));
}

std::vector<MaintenanceJob> JobRegistry::List() const {
  MutexLock lock(mutex_);
  std::vector<MaintenanceJob> list;
  for (const State& job : jobs_) {
    list.push_back(job.shown);
  }
  return list;
}

bool JobRegistry::IsBusy(const Table& table, ChunkId chunk) const {
  MutexLock lock(mutex_);
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const State& job) {
    return job.request.table == &table &&
           std::find(job.chunks.begin(), job.chunks.end(), chunk) != job.chunks.end();
  });
}

bool JobRegistry::HasMerge(const Table& table) const {
  MutexLock lock(mutex_);
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const State& job) { return job.request.table == &table && !job.chunks.empty(); });
}

size_t JobRegistry::merges() const {
  MutexLock lock(mutex_);
  return static_cast<size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [](const State& job) { return !job.chunks.empty(); }));
}

void JobRegistry::CancelAll() {
  MutexLock lock(mutex_);
  refusing_ = true;
  for (State& job : jobs_) {
    job.cancel.Cancel();
  }
  changed_.NotifyAll();
}

void JobRegistry::Allow() {
  MutexLock lock(mutex_);
  refusing_ = false;
}

void JobRegistry::WaitForChange() {
  MutexLock lock(mutex_);
  changed_.WaitFor(mutex_, kPoll);
}

}  // namespace stoa::storage
