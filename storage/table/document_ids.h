#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/ids.h"
#include "storage/base/mutex.h"
#include "storage/table/table.h"

namespace stoa::storage {

// Automatic document ids: 7 bits server_id, 32 bits seconds since 2019-05-01 at start, 24 bits counter, which
// carries into the seconds when it is used up. Safe to share.
class DocumentIds {
 public:
  // Starts at the time `unix_seconds`, and not below `floor`.
  DocumentIds(uint32_t server_id, int64_t unix_seconds, uint64_t floor);

  // `count` ids, ascending, none of which a row of `tables` has.
  std::vector<DocId> Take(size_t count, std::span<const std::shared_ptr<Table>> tables) EXCLUDES(mutex_);
  // The floor for the next start of the server, even within the same second.
  uint64_t NextFloor() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  uint64_t next_ GUARDED_BY(mutex_);
};

}  // namespace stoa::storage
