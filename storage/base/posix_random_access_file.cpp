#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "storage/base/batch_read.h"
#include "storage/base/posix_descriptor.h"
#include "storage/base/random_access_file.h"

namespace stoa {
namespace {

class PosixRandomAccessFile : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, Descriptor descriptor, uint64_t size)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(size) {}

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }

  Status Read(uint64_t offset, std::span<char> to) const override {
    ASSIGN_OR_RETURN(const size_t count, ReadFully(path_, descriptor_.get(), offset, to));
    return count == to.size() ? Status::Ok() : FileEndsEarly(path_, offset, to.size());
  }

  Status ReadBatch(std::span<const ReadRequest> requests) const override {
    return ReadBatchAt(path_, descriptor_.get(), requests);
  }

  void DropBehind(uint64_t offset, uint64_t length) const override {
    Advise(offset, length, POSIX_FADV_DONTNEED);
  }
  void WillNeed(uint64_t offset, uint64_t length) const override {
    Advise(offset, length, POSIX_FADV_WILLNEED);
  }

  // Only a mapping can be asked; this one is never touched, and small, so that it is gone at once.
  CachedPages Cached() const override {
    constexpr uint64_t kWindow = uint64_t{1} << 30;
    CachedPages cached{.page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)), .pages = {}};
    for (uint64_t at = 0; at < size_; at += kWindow) {
      const uint64_t length = std::min(kWindow, size_ - at);
      void* const window =
          ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor_.get(), static_cast<off_t>(at));
      if (window == MAP_FAILED) {
        return {};
      }
      AppendCachedPages(static_cast<char*>(window), length, cached);
      ::munmap(window, length);
    }
    return cached;
  }

 private:
  void Advise(uint64_t offset, uint64_t length, int advice) const {
    if (offset < size_ && length > 0) {
      static_cast<void>(::posix_fadvise(descriptor_.get(), static_cast<off_t>(offset),
                                        static_cast<off_t>(std::min(length, size_ - offset)), advice));
    }
  }

  const std::string path_;
  const Descriptor descriptor_;
  const uint64_t size_;
};

// Without a time of access to look at for each read, where the process may ask for that: it owns the file.
Result<Descriptor> OpenForReads(const std::string& path) {
  Result<Descriptor> opened = Descriptor::Open(path, O_RDONLY | O_NOATIME);
  return opened.ok() ? std::move(opened) : Descriptor::Open(path, O_RDONLY);
}

}  // namespace

Result<std::shared_ptr<const RandomAccessFile>> OpenPosixRandomAccess(const std::string& path) {
  ASSIGN_OR_RETURN(Descriptor descriptor, OpenForReads(path));
  ASSIGN_OR_RETURN(const uint64_t size, SizeOf(path, descriptor.get()));
  // Who reads says what comes next (WillNeed): the kernel's guess, for each of several places of a file that
  // are read in turn, takes memory from what queries use.
  static_cast<void>(::posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_RANDOM));
  return std::shared_ptr<const RandomAccessFile>(
      std::make_shared<PosixRandomAccessFile>(path, std::move(descriptor), size));
}

}  // namespace stoa
