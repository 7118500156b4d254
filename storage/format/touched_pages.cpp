#include "storage/format/touched_pages.h"

#include <sys/resource.h>

#include <algorithm>

namespace stoa::storage {
namespace {

constexpr uint64_t kPageBits = 12;
constexpr uint64_t kPageBytes = uint64_t{1} << kPageBits;
// So many ranges between two looks at the thread's faults, which are a system call.
constexpr int64_t kRangesBetweenLooks = 256;
// A batch of so many ranges is worth a look at some of its pages, one of every kRangesASample.
constexpr size_t kBatchRanges = 16;
constexpr size_t kRangesASample = 16;

uint64_t NextId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

uint64_t MajorFaults() {
  struct rusage usage {};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<uint64_t>(usage.ru_majflt) : 0;
}

// What a thread knows of a file. Two files may share an entry; then a look is lost now and then.
struct Seen {
  uint64_t id = 0;
  uint64_t faults = 0;
  uint64_t asked = 0;  // pages since; each may be waited for once, which counts as a fault
  int64_t until_look = kRangesBetweenLooks;
};

Seen& SeenBy(uint64_t id) {
  thread_local Seen seen[16];
  return seen[id % std::size(seen)];
}

}  // namespace

TouchedPages::TouchedPages(uint64_t file_size)
    : id_(NextId()),
      words_((file_size >> (kPageBits + 6)) + 1),
      touched_(std::make_unique<std::atomic<uint64_t>[]>(words_)) {}

void TouchedPages::WillNeed(const MappedFile& mapping, uint64_t base, uint64_t limit,
                            std::span<const ByteRange> ranges) {
  const bool all = ranges.size() >= kBatchRanges && IsAnyGone(mapping, base, ranges);
  std::vector<ByteRange> runs;  // without a mark
  std::vector<ByteRange> whole;
  uint64_t asked = 0;
  for (const ByteRange& range : ranges) {
    if (range.length > 0 && range.offset < limit) {
      const ByteRange in_file{base + range.offset, std::min(range.length, limit - range.offset)};
      asked += Mark(in_file.offset, in_file.offset + in_file.length, runs);
      if (all) {
        whole.push_back(in_file);
      }
    }
  }
  if (!runs.empty() || all) {
    mapping.WillNeed(all ? whole : runs);
  }
  ForgetAfterFaults(ranges.size(), asked);
}

bool TouchedPages::IsAnyGone(const MappedFile& mapping, uint64_t base, std::span<const ByteRange> ranges) {
  for (size_t i = 0; i < ranges.size(); i += kRangesASample) {
    if (!mapping.IsResident(base + ranges[i].offset)) {
      return true;
    }
  }
  return false;
}

void TouchedPages::ForgetAfterFaults(size_t ranges, uint64_t asked) {
  Seen& seen = SeenBy(id_);
  if (seen.id != id_) {
    seen = {.id = id_, .faults = MajorFaults(), .asked = asked};
    return;
  }
  seen.asked += asked;
  seen.until_look -= static_cast<int64_t>(ranges) + 1;
  if (seen.until_look > 0) {
    return;
  }
  const uint64_t faults = MajorFaults();
  if (faults - seen.faults > seen.asked) {
    for (uint64_t i = 0; i < words_; ++i) {
      touched_[i].store(0, std::memory_order_relaxed);
    }
  }
  seen = {.id = id_, .faults = faults};
}

uint64_t TouchedPages::Mark(uint64_t begin, uint64_t end, std::vector<ByteRange>& runs) {
  uint64_t marked = 0;
  const uint64_t last = (end - 1) >> kPageBits;
  for (uint64_t page = begin >> kPageBits; page <= last; ++page) {
    std::atomic<uint64_t>& word = touched_[page / 64];
    const uint64_t bit = uint64_t{1} << (page % 64);
    if ((word.load(std::memory_order_relaxed) & bit) != 0) {
      continue;
    }
    word.fetch_or(bit, std::memory_order_relaxed);
    ++marked;
    const uint64_t offset = page << kPageBits;
    if (!runs.empty() && runs.back().offset + runs.back().length == offset) {
      runs.back().length += kPageBytes;
    } else {
      runs.push_back({offset, kPageBytes});
    }
  }
  return marked;
}

}  // namespace stoa::storage
