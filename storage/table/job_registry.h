#pragma once

#include <initializer_list>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/cancel_token.h"
#include "storage/base/ids.h"
#include "storage/base/mutex.h"
#include "storage/table/catalog.h"

namespace stoa::storage {

// Returns when nobody holds the mutex, perhaps not for long, or with the error of a token that was cancelled.
Status WaitUntilFree(Mutex& mutex, std::initializer_list<const CancelToken*> cancels);

// The flushes and merges that run: what they do, how far they are, which chunks they work on; and how a
// statement that changes or drops a table gets them out of its way. Safe to share.
class JobRegistry {
  struct State;

 public:
  // A running job, until it is destroyed.
  class Job {
   public:
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    CancelToken& cancel();
    // From now on no other job may work on these; false when one does already.
    bool Take(std::vector<ChunkId> chunks, std::string what);
    void SetProgress(uint64_t done, uint64_t total);

   private:
    friend class JobRegistry;
    Job(JobRegistry& registry, std::list<State>::iterator state) : registry_(registry), state_(state) {}

    JobRegistry& registry_;
    const std::list<State>::iterator state_;
  };

  // While it lives no job of the table runs: those that did were cancelled and have ended.
  class Pause {
   public:
    Pause(JobRegistry& registry, const Table& table);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    JobRegistry& registry_;
    const Table& table_;
  };

  struct Request {
    const Table* table = nullptr;
    std::string table_name;
    std::string what;
    int64_t started = 0;
    bool wait = false;                    // until the table is not paused any more; else nullptr
    const CancelToken* cancel = nullptr;  // ends the waiting
  };
  // nullptr: the table is paused, no job may start any more, or the waiting was cancelled.
  std::unique_ptr<Job> Start(Request request) EXCLUDES(mutex_);

  std::vector<MaintenanceJob> List() const EXCLUDES(mutex_);
  bool IsBusy(const Table& table, ChunkId chunk) const EXCLUDES(mutex_);
  bool HasMerge(const Table& table) const EXCLUDES(mutex_);
  size_t merges() const EXCLUDES(mutex_);  // running jobs that work on chunks
  void CancelAll() EXCLUDES(mutex_);       // and none may start until Allow()
  void Allow() EXCLUDES(mutex_);
  void WaitForChange() EXCLUDES(mutex_);  // a job ended, or a short time passed

 private:
  struct State {
    Request request;
    std::vector<ChunkId> chunks;
    MaintenanceJob shown;
    CancelToken cancel;
  };

  bool IsPaused(const Table& table) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t next_id_ GUARDED_BY(mutex_) = 1;
  std::list<State> jobs_ GUARDED_BY(mutex_);
  std::vector<const Table*> paused_ GUARDED_BY(mutex_);
  bool refusing_ GUARDED_BY(mutex_) = false;
};

}  // namespace stoa::storage
