#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/chunk/disk_chunk.h"

namespace stoa::storage {

// What the page cache held of the chunks that are merged, before the merge reads them, so that it leaves the
// cache to the queries: pages that it brings in are given up again. It looks about every 32 MiB that the
// merge reads, and at the end; what is there at two looks in a row has been read, and goes: what was only
// asked for in advance stays until then. A page that comes back after it was given up twice is used by
// somebody else and stays. One thread at a time.
class InputCache {
 public:
  explicit InputCache(std::span<const std::shared_ptr<const TablePart>> parts);
  ~InputCache() { Look(true); }
  InputCache(const InputCache&) = delete;
  InputCache& operator=(const InputCache&) = delete;

  // Bytes of values: at least about as many as were read of the files.
  void NoteRead(uint64_t bytes);
  // At least half of the inputs' files with this suffix was in the cache: queries use such a file. True when
  // there is none, as for rows that were in RAM.
  bool WasUsed(const std::string& suffix) const;

 private:
  struct File {
    const OpenSectionFile* file = nullptr;
    CachedPages kept;            // before the merge, or given up twice
    std::vector<bool> seen;      // at the look before
    std::vector<bool> given_up;  // once
  };
  struct Share {
    uint64_t cached = 0;
    uint64_t pages = 0;
  };

  void Look(bool is_last);
  static void Look(File& file, bool is_last);

  std::vector<std::shared_ptr<const TablePart>> parts_;  // hold the files
  std::vector<File> files_;
  std::map<std::string, Share> shares_;
  uint64_t read_ = 0;  // since the last look
  uint64_t window_ = 0;
};

}  // namespace stoa::storage
