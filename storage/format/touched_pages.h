#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/base/mapped_file.h"

namespace stoa::storage {

// Which pages of a mapping were asked for by MADV_WILLNEED, so that a warm page costs a bit test instead of a
// system call. The kernel may take pages back. Of a larger batch some pages are looked at: when one is gone,
// the whole batch is asked for. Of small ones: when a thread has had more page faults with disk reads than it
// asked for pages, the marks are forgotten. Safe to share.
class TouchedPages {
 public:
  explicit TouchedPages(uint64_t file_size);

  // `ranges` count from `base` and lie in the file, as [base, base + limit) does.
  void WillNeed(const MappedFile& mapping, uint64_t base, uint64_t limit, std::span<const ByteRange> ranges);

 private:
  void ForgetAfterFaults(size_t ranges, uint64_t asked);
  // Whether a page of the batch's sample is not in memory.
  static bool IsAnyGone(const MappedFile& mapping, uint64_t base, std::span<const ByteRange> ranges);
  // Marks the pages of [begin, end) and appends the runs of those that had no mark; how many they are.
  uint64_t Mark(uint64_t begin, uint64_t end, std::vector<ByteRange>& runs);

  const uint64_t id_;  // of this object, never used again
  const uint64_t words_;
  const std::unique_ptr<std::atomic<uint64_t>[]> touched_;
};

}  // namespace stoa::storage
