#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "storage/base/cached_pages.h"
#include "storage/base/status.h"

namespace stoa {

struct ReadRequest {
  uint64_t offset = 0;
  std::span<char> to;
};

// A file open for positioned reads, its descriptor held until the last owner lets go: it can be read after it
// was removed by name. Nothing of it is mapped. Safe to share between threads. Errors name the path and the
// offset; kCorrupt when the file ends before the bytes that were asked for.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;

  virtual const std::string& path() const = 0;
  virtual uint64_t size() const = 0;  // when it was opened
  virtual Status Read(uint64_t offset, std::span<char> to) const = 0;
  // All of them or an error. What is not in the page cache is asked of the disk together, never one after the
  // other (storage/base/batch_read.h says how).
  virtual Status ReadBatch(std::span<const ReadRequest> requests) const = 0;
  // The pages are not needed again soon: merges read with it, so that they do not evict what queries use.
  virtual void DropBehind(uint64_t offset, uint64_t length) const = 0;
  // The bytes are going to be read soon: what is not in the page cache is asked of the disk. A hint; returns
  // at once. Nothing else is read ahead.
  virtual void WillNeed(uint64_t, uint64_t) const {}
  virtual CachedPages Cached() const { return {}; }
};

}  // namespace stoa
