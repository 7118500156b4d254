#include "storage/base/batch_read.h"

#include <fcntl.h>
#include <liburing.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <memory>
#include <vector>

#include "storage/base/disk_reads.h"
#include "storage/base/mutex.h"
#include "storage/base/posix_descriptor.h"

namespace stoa {
namespace {

constexpr unsigned kRingEntries = 128;
constexpr size_t kIdleRings = 16;
constexpr size_t kMaxReadBytes = 1u << 30;  // of one system call

class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (open_) {
      ::io_uring_queue_exit(&ring_);
    }
  }
  bool Open() {
    open_ = ::io_uring_queue_init(kRingEntries, &ring_, 0) == 0;
    return open_;
  }
  io_uring& get() { return ring_; }

 private:
  io_uring ring_{};
  bool open_ = false;
};

// Rings that no read uses. A pool instead of one a thread: as many as there are cold reads at a time, and
// nothing to tidy up when a thread ends.
class RingPool {
 public:
  // nullptr when the kernel gives no ring now.
  std::unique_ptr<Ring> Take() {
    {
      MutexLock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Ring> ring = std::move(idle_.back());
        idle_.pop_back();
        return ring;
      }
    }
    auto ring = std::make_unique<Ring>();
    return ring->Open() ? std::move(ring) : nullptr;
  }
  void PutBack(std::unique_ptr<Ring> ring) {
    MutexLock lock(mutex_);
    if (idle_.size() < kIdleRings) {
      idle_.push_back(std::move(ring));
    }
  }

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<Ring>> idle_ GUARDED_BY(mutex_);
};

RingPool& Pool() {
  static RingPool* const pool = new RingPool;  // never destroyed: threads may read at exit
  return *pool;
}

std::atomic<BatchReadMode>& Mode() {
  static std::atomic<BatchReadMode> mode = [] {
    std::unique_ptr<Ring> ring = Pool().Take();
    if (ring == nullptr) {
      return BatchReadMode::kReadahead;
    }
    Pool().PutBack(std::move(ring));
    return BatchReadMode::kRing;
  }();
  return mode;
}

// What is still missing of a request.
ReadRequest Rest(const ReadRequest& request, size_t done) {
  return {request.offset + done, request.to.subspan(done)};
}

Status ReadWhole(const std::string& path, int descriptor, const ReadRequest& request) {
  ASSIGN_OR_RETURN(const size_t count, ReadFully(path, descriptor, request.offset, request.to));
  return count == request.to.size() ? Status::Ok() : FileEndsEarly(path, request.offset, request.to.size());
}

Status ReadOneByOne(const std::string& path, int descriptor, std::span<const ReadRequest> requests) {
  for (const ReadRequest& request : requests) {
    RETURN_IF_ERROR(ReadWhole(path, descriptor, request));
  }
  return Status::Ok();
}

Status ReadAhead(const std::string& path, int descriptor, std::span<const ReadRequest> requests) {
  for (const ReadRequest& request : requests) {
    static_cast<void>(::posix_fadvise(descriptor, static_cast<off_t>(request.offset),
                                      static_cast<off_t>(request.to.size()), POSIX_FADV_WILLNEED));
  }
  return ReadOneByOne(path, descriptor, requests);
}

// One batch on a ring. Buffers belong to the kernel while a read is in flight, so Run() never returns before
// all have ended, whatever fails.
class RingRead {
 public:
  RingRead(io_uring& ring, const std::string& path, int descriptor, std::span<ReadRequest> requests)
      : ring_(ring), path_(path), descriptor_(descriptor), requests_(requests) {}

  Status Run() {
    while (in_flight_ > 0 || (status_.ok() && !AllQueued())) {
      Queue();
      Wait();
      Reap();
    }
    return status_;
  }

  // The kernel refused a submission: the ring holds reads that never started and is of no more use.
  bool broken() const { return broken_; }

 private:
  bool AllQueued() const { return next_ == requests_.size() && again_.empty(); }

  void Queue() {
    while (status_.ok() && !AllQueued() && in_flight_ < kRingEntries) {
      io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
      if (entry == nullptr) {
        return;
      }
      size_t index = next_;
      if (again_.empty()) {
        ++next_;
      } else {
        index = again_.back();
        again_.pop_back();
      }
      const ReadRequest& request = requests_[index];
      const auto length = static_cast<unsigned>(std::min(request.to.size(), kMaxReadBytes));
      ::io_uring_prep_read(entry, descriptor_, request.to.data(), length, request.offset);
      ::io_uring_sqe_set_data64(entry, index);
      ++in_flight_;
    }
  }

  void Wait() {
    io_uring_cqe* entry = nullptr;
    const int result = broken_ ? ::io_uring_wait_cqe(&ring_, &entry) : ::io_uring_submit_and_wait(&ring_, 1);
    if (result < 0 && result != -EINTR && result != -EAGAIN && result != -EBUSY && !broken_) {
      Fail(PosixError(path_, "submit reads", -result));
      broken_ = true;
      in_flight_ -= ::io_uring_sq_ready(&ring_);
    }
  }

  void Reap() {
    io_uring_cqe* entry = nullptr;
    while (::io_uring_peek_cqe(&ring_, &entry) == 0 && entry != nullptr) {
      const size_t index = ::io_uring_cqe_get_data64(entry);
      const int result = entry->res;
      ::io_uring_cqe_seen(&ring_, entry);
      --in_flight_;
      Note(index, result);
    }
  }

  void Note(size_t index, int result) {
    ReadRequest& request = requests_[index];
    if (result == -EINTR || result == -EAGAIN) {
      again_.push_back(index);
    } else if (result < 0) {
      Fail(PosixError(path_, fmt::format("read at offset {}", request.offset).c_str(), -result));
    } else if (result == 0) {
      Fail(FileEndsEarly(path_, request.offset, request.to.size()));
    } else if (static_cast<size_t>(result) < request.to.size()) {
      request = Rest(request, static_cast<size_t>(result));
      again_.push_back(index);
    }
  }

  void Fail(Status status) {
    if (status_.ok()) {
      status_ = std::move(status);
    }
  }

  io_uring& ring_;
  const std::string& path_;
  const int descriptor_;
  const std::span<ReadRequest> requests_;
  size_t next_ = 0;
  std::vector<size_t> again_;
  unsigned in_flight_ = 0;  // queued and not yet ended
  bool broken_ = false;
  Status status_;
};

Status ReadFromDisk(const std::string& path, int descriptor, std::span<ReadRequest> requests) {
  const BatchReadMode mode = CurrentBatchReadMode();
  if (mode == BatchReadMode::kPlain || requests.size() == 1) {
    return ReadOneByOne(path, descriptor, requests);
  }
  std::unique_ptr<Ring> ring = mode == BatchReadMode::kRing ? Pool().Take() : nullptr;
  if (ring == nullptr) {
    return ReadAhead(path, descriptor, requests);
  }
  RingRead read(ring->get(), path, descriptor, requests);
  Status status = read.Run();
  if (!read.broken()) {
    Pool().PutBack(std::move(ring));
  }
  return status;
}

// Copies what the page cache has; how many bytes of `to` are done, at the front. 0 when it cannot be known.
size_t ReadCached(int descriptor, const ReadRequest& request) {
  iovec to{request.to.data(), std::min(request.to.size(), kMaxReadBytes)};
  const ssize_t count = ::preadv2(descriptor, &to, 1, static_cast<off_t>(request.offset), RWF_NOWAIT);
  return count > 0 ? static_cast<size_t>(count) : 0;
}

}  // namespace

BatchReadMode CurrentBatchReadMode() { return Mode().load(std::memory_order_relaxed); }

void SetBatchReadMode(BatchReadMode mode) { Mode().store(mode, std::memory_order_relaxed); }

const char* BatchReadModeName(BatchReadMode mode) {
  switch (mode) {
    case BatchReadMode::kRing:
      return "io_uring";
    case BatchReadMode::kReadahead:
      return "readahead";
    case BatchReadMode::kPlain:
      return "plain";
  }
  return "unknown";
}

Status ReadBatchAt(const std::string& path, int descriptor, std::span<const ReadRequest> requests) {
  constexpr uint64_t kMaxOffset = std::numeric_limits<off_t>::max();
  std::vector<ReadRequest> missing;
  for (const ReadRequest& request : requests) {
    if (request.offset > kMaxOffset || request.to.size() > kMaxOffset - request.offset) {
      return FileEndsEarly(path, request.offset, request.to.size());
    }
    if (request.to.empty()) {
      continue;
    }
    if (const size_t done = ReadCached(descriptor, request); done < request.to.size()) {
      missing.push_back(Rest(request, done));
      ThreadDiskReads().bytes += request.to.size() - done;
    }
  }
  if (missing.empty()) {
    return Status::Ok();
  }
  ++ThreadDiskReads().batches;
  return ReadFromDisk(path, descriptor, missing);
}

}  // namespace stoa
