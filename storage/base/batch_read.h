#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "storage/base/random_access_file.h"
#include "storage/base/status.h"

namespace stoa {

// How reads that the page cache cannot answer reach the disk together.
enum class BatchReadMode : uint8_t {
  kRing,       // io_uring: all are in flight at once
  kReadahead,  // where io_uring is not allowed: posix_fadvise(WILLNEED) for all, then one read after the
               // other
  kPlain,      // one read after the other
};

// The best that this process may do; asked of the kernel once.
BatchReadMode CurrentBatchReadMode();
const char* BatchReadModeName(BatchReadMode mode);
// For tests: a mode from now on, in all threads.
void SetBatchReadMode(BatchReadMode mode);

// RandomAccessFile::ReadBatch on a descriptor. What is in the page cache is copied by positioned reads that
// do not wait (RWF_NOWAIT), so a warm batch costs what single reads cost; only what is missing is asked of
// the disk, together. Safe from any thread.
Status ReadBatchAt(const std::string& path, int descriptor, std::span<const ReadRequest> requests);

}  // namespace stoa
