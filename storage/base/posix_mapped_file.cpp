#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "storage/base/disk_reads.h"
#include "storage/base/mapped_file.h"
#include "storage/base/posix_descriptor.h"
#include "storage/base/sigbus_guard.h"

namespace stoa {
namespace {

constexpr uint64_t kReadableBehind = 64;

uint64_t PageBytes() {
  static const auto bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

uint64_t RoundUp(uint64_t value) { return (value + PageBytes() - 1) / PageBytes() * PageBytes(); }

// The file's pages at the front of a reservation that ends at least kReadableBehind bytes behind the file.
class PosixMappedFile : public MappedFile {
 public:
  PosixMappedFile(std::string path, char* base, uint64_t reserved, uint64_t size)
      : path_(std::move(path)), base_(base), reserved_(reserved), size_(size) {
    if (size > 0) {
      guard_.emplace(base, RoundUp(size));
    }
  }
  ~PosixMappedFile() override {
    guard_.reset();
    ::munmap(base_, reserved_);
  }

  const std::string& path() const override { return path_; }
  std::span<const char> bytes() const override { return {base_, size_}; }
  Status CheckReadable() const override {
    return !has_failed() ? Status::Ok()
                         : IoError("{}: cannot read a part that was in the file when it was opened", path_);
  }

  bool has_failed() const override { return guard_ && guard_->failed(); }

  void Advise(ByteRange range, AccessPattern pattern) const override {
    int advice = MADV_NORMAL;
    if (pattern == AccessPattern::kSequential) {
      advice = MADV_SEQUENTIAL;
    } else if (pattern == AccessPattern::kRandom) {
      advice = MADV_RANDOM;
    }
    Give(Pages(range), advice);
  }

  bool WillNeed(std::span<const ByteRange> ranges) const override {
    bool missing = false;
    std::vector<ByteRange> pages;
    pages.reserve(ranges.size());
    for (const ByteRange& range : ranges) {
      pages.push_back(Pages(range));
    }
    std::sort(pages.begin(), pages.end(),
              [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
    ByteRange run;
    for (const ByteRange& next : pages) {
      if (next.offset <= run.offset + run.length) {
        run.length = std::max(run.offset + run.length, next.offset + next.length) - run.offset;
      } else {
        missing |= AskFor(run);
        run = next;
      }
    }
    missing |= AskFor(run);
    ThreadDiskReads().batches += missing ? 1 : 0;
    return missing;
  }

  // Not MADV_DONTNEED, which keeps the page cache, and not a forced eviction, which would take pages that
  // queries use: the pages become the first that the kernel takes when it needs memory.
  void DropBehind(ByteRange range) const override {
#ifdef MADV_COLD
    Give(Pages(range), MADV_COLD);
#else
    static_cast<void>(range);
#endif
  }

  void MapIn(ByteRange range) const override {
#ifdef MADV_POPULATE_READ
    Give(Pages(range), MADV_POPULATE_READ);
#else
    static_cast<void>(range);
#endif
  }

  bool IsResident(uint64_t offset) const override {
    unsigned char present = 1;
    const uint64_t page = std::min(offset, size_) / PageBytes() * PageBytes();
    return page >= size_ || ::mincore(base_ + page, 1, &present) != 0 || (present & 1) != 0;
  }

  uint64_t ResidentBytes() const override {
    const CachedPages cached = Cached();
    return static_cast<uint64_t>(std::count(cached.pages.begin(), cached.pages.end(), true)) * PageBytes();
  }

  CachedPages Cached() const override {
    CachedPages cached{.page_bytes = PageBytes(), .pages = {}};
    AppendCachedPages(base_, size_, cached);
    return cached;
  }

  // The page cache keeps what is mapped: first the pages leave the mapping.
  void GiveUp(std::span<const ByteRange> ranges) const override {
    const auto descriptor = Descriptor::Open(path_, O_RDONLY);
    for (const ByteRange& range : ranges) {
      const ByteRange pages = Pages(range);
      Give(pages, MADV_DONTNEED);
      if (descriptor.ok() && pages.length > 0) {
        static_cast<void>(::posix_fadvise(descriptor->get(), static_cast<off_t>(pages.offset),
                                          static_cast<off_t>(pages.length), POSIX_FADV_DONTNEED));
      }
    }
  }

 private:
  // The pages of a range, cut to the file.
  ByteRange Pages(ByteRange range) const {
    const uint64_t begin = std::min(range.offset, size_);
    const uint64_t end = begin + std::min(range.length, size_ - begin);
    const uint64_t first = begin / PageBytes() * PageBytes();
    return {first, begin == end ? 0 : RoundUp(end) - first};
  }

  // That all of a run is in memory is seen much faster than the advice is taken.
  bool AskFor(ByteRange pages) const {
    constexpr uint64_t kPagesAtOnce = 512;
    unsigned char present[kPagesAtOnce];
    const uint64_t count = pages.length / PageBytes();
    uint64_t missing = count;
    if (count <= kPagesAtOnce && ::mincore(base_ + pages.offset, pages.length, present) == 0) {
      missing = static_cast<uint64_t>(
          std::count_if(present, present + count, [](unsigned char page) { return (page & 1) == 0; }));
    }
    if (missing == 0) {
      return false;
    }
    Give(pages, MADV_WILLNEED);
    ThreadDiskReads().bytes += missing * PageBytes();
    return true;
  }

  // Advice is a hint: that the kernel does not take it is no error.
  void Give(ByteRange pages, int advice) const {
    if (pages.length > 0) {
      static_cast<void>(::madvise(base_ + pages.offset, pages.length, advice));
    }
  }

  const std::string path_;
  char* const base_;
  const uint64_t reserved_;
  const uint64_t size_;
  std::optional<SigbusGuard> guard_;
};

}  // namespace

void AppendCachedPages(char* address, uint64_t length, CachedPages& cached) {
  constexpr uint64_t kPagesAtOnce = 1 << 16;
  std::vector<unsigned char> present(kPagesAtOnce);
  for (uint64_t at = 0; at < length; at += kPagesAtOnce * PageBytes()) {
    const uint64_t part = std::min(RoundUp(length) - at, kPagesAtOnce * PageBytes());
    const bool is_known = ::mincore(address + at, part, present.data()) == 0;
    for (uint64_t page = 0; page < part / PageBytes(); ++page) {
      cached.pages.push_back(is_known && (present[page] & 1) != 0);
    }
  }
}

Result<std::shared_ptr<const MappedFile>> MapPosixFile(const std::string& path) {
  ASSIGN_OR_RETURN(const Descriptor descriptor, Descriptor::Open(path, O_RDONLY));
  ASSIGN_OR_RETURN(const uint64_t size, SizeOf(path, descriptor.get()));
  const uint64_t reserved = RoundUp(size + kReadableBehind);
  void* const base = ::mmap(nullptr, reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return PosixError(path, "reserve addresses to map", errno);
  }
  if (size > 0 && ::mmap(base, size, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor.get(), 0) == MAP_FAILED) {
    const int error = errno;
    ::munmap(base, reserved);
    return PosixError(path, "map", error);
  }
  static_cast<void>(::madvise(base, reserved, MADV_DONTDUMP));
  // The kernel reads megabytes around a fault otherwise, beginning with the first look at the end of the
  // file.
  static_cast<void>(::madvise(base, reserved, MADV_RANDOM));
  return std::shared_ptr<const MappedFile>(
      std::make_shared<PosixMappedFile>(path, static_cast<char*>(base), reserved, size));
}

}  // namespace stoa
