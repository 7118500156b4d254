#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/column/column_reader.h"
#include "storage/format/page_cache.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// How the bytes of a chunk's file are reached (DESIGN 3, "Columnar"). The answers are the same.
enum class AccessMode : uint8_t {
  kMmap,  // the file is mapped: stable addresses
  kFile,  // positioned reads into buffers; nothing of the file is mapped
};

class OpenSectionFile;

// A page of a section in file mode: of the cache, or in memory of the reader's own.
struct PageView {
  static constexpr uint64_t kNone = ~uint64_t{0};
  uint64_t number = kNone;
  bool is_wanted = false;  // after Find: by the cache
  const char* bytes = nullptr;
  PageCache::Pin pin;
  std::vector<char> own;
};

// One section of an open file, as SectionBytes see it. Its pages are the units of its checksums
// (section_file.h); a section with one checksum is one page.
struct OpenSection {
  SectionEntry entry;
  const OpenSectionFile* file = nullptr;
  const MappedFile* mapping = nullptr;  // nullptr in file mode
  const char* address = nullptr;        // nullptr in file mode
  PageCache* cache = nullptr;           // file mode, pages of PageCache::kPageBytes; else nullptr
  PageKey first_page;                   // in the cache
  uint32_t page_shift = 0;
  uint64_t page_count = 0;
  // One bit a page: it had its checksum. Bits are only ever set.
  std::unique_ptr<std::atomic<uint64_t>[]> checked;
  // The checksums of the pages once one was needed.
  mutable std::atomic<const std::vector<uint32_t>*> page_crcs{nullptr};

  OpenSection() = default;
  OpenSection(const OpenSection&) = delete;
  OpenSection& operator=(const OpenSection&) = delete;
  ~OpenSection() { delete page_crcs.load(std::memory_order_acquire); }

  bool Has(uint64_t offset, uint64_t length) const {
    return offset <= entry.length && length <= entry.length - offset;
  }
  bool IsChecked(uint64_t page) const {
    return (checked[page / 64].load(std::memory_order_acquire) >> (page % 64) & 1) != 0;
  }
  // For a range of at least one byte that the section has.
  bool AreChecked(uint64_t offset, uint64_t length) const {
    const uint64_t last = (offset + length - 1) >> page_shift;
    for (uint64_t page = offset >> page_shift; page <= last; ++page) {
      if (!IsChecked(page)) {
        return false;
      }
    }
    return true;
  }
};

// One section of an open file. A small value; holds the file. Pages (section_file.h) are checked against
// their checksums when they are first read after the file was opened, and never again. Safe to share; errors
// name file, section and offset.
//
// A mapped page that cannot be read any more reads as zeros, whenever it is touched: who looks at bytes by
// address calls CheckReadable() after that and before anything is made of them.
class SectionBytes {
 public:
  SectionBytes() = default;

  uint64_t length() const { return section_->entry.length; }
  // Mapped: the stable address of the first byte; 64-byte aligned, and 64 bytes behind the end may be read.
  // nullptr in file mode.
  const char* address() const { return section_->address; }
  // Mapped only: the pages of [offset, offset + length) have been checked, and could be read. A bit test a
  // page when they were checked before.
  Status Verify(uint64_t offset, uint64_t length) const {
    if (length > 0 && section_->mapping != nullptr && section_->Has(offset, length) &&
        section_->AreChecked(offset, length)) {
      return CheckReadable();
    }
    return VerifySlowly(offset, length);
  }
  // kIo with the path when a part of the mapping could not be read; one load. Ok in file mode.
  Status CheckReadable() const {
    return section_->mapping == nullptr ? Status::Ok() : section_->mapping->CheckReadable();
  }

  // Either mode, verified. In file mode the bytes are in `buffer`, aligned to 64 bytes; the first read of any
  // byte of a page reads the page, or the whole section when it has one checksum.
  Result<std::string_view> Read(uint64_t offset, uint64_t length, ReadBuffer& buffer) const;
  // Either mode, verified; all at once: what is not in memory is asked of the disk together. `out` has one
  // entry a range. Ranges that touch or nearly touch are read as one; ascending ones cost least. In file mode
  // an address has the same remainder by 64 as its offset.
  Status ReadBatch(std::span<const ByteRange> ranges, std::span<std::string_view> out,
                   ReadBuffer& buffer) const;
  // File mode, when is_cached(): a whole page, verified, replaces the one of `view`. Find: if the cache has
  // it; else Fetch reads it.
  bool is_cached() const { return section_->cache != nullptr; }
  bool FindPage(uint64_t page, PageView& view) const;
  Status FetchPage(uint64_t page, PageView& view) const;
  // As Read, to memory of the caller.
  Status ReadTo(uint64_t offset, std::span<char> to) const;
  // Mapped only: asks for pages that have not been touched since the file was opened (or since faults showed
  // that the kernel took pages back), all together; costs a bit test a page when warm.
  void WillNeed(std::span<const ByteRange> ranges) const;
  // Mapped only: asks for what is not in memory, whatever was asked for before; a system call. The range is
  // cut to the section. Mapped: whether something was missing.
  bool ReadAhead(ByteRange range) const;
  // Mapped only: MappedFile::MapIn, the range cut to the section.
  void MapIn(ByteRange range) const;
  void Advise(AccessPattern pattern) const;
  const std::string& path() const;

 private:
  friend class OpenSectionFile;
  ByteRange InFile(ByteRange range) const;
  SectionBytes(std::shared_ptr<const OpenSectionFile> file, const OpenSection& section)
      : file_(std::move(file)), section_(&section) {}
  Status VerifySlowly(uint64_t offset, uint64_t length) const;
  Status NotThere(uint64_t offset, uint64_t length) const;
  Status ReadFromFile(uint64_t offset, std::span<char> to) const;
  bool CopyCached(const ReadRequest& request) const;
  void ReadAheadUncached(ByteRange range) const;
  Status ReadBatchFromFile(std::span<const ByteRange> ranges, std::span<std::string_view> out,
                           ReadBuffer& buffer) const;

  std::shared_ptr<const OpenSectionFile> file_;
  const OpenSection* section_ = nullptr;
};

// Sequential reading of a section without a system call or a page fault a block. In file mode the bytes are
// pages of the cache, or a window that moves on (64 to 256 KiB); mapped, the bytes are where they are. In
// both modes what follows is asked of the disk before it is needed, 64 KiB at first and up to 1 MiB as long
// as the reading goes on. One thread at a time.
class SectionCursor {
 public:
  // So many bytes behind what At() gives may be read, up to 64 behind the end of the section.
  static constexpr uint64_t kReadableBehind = PageCache::kReadableBehind;

  explicit SectionCursor(SectionBytes section) : section_(std::move(section)) {}
  // Verified bytes; in file mode they live until the next call.
  Result<std::string_view> At(uint64_t offset, uint64_t length);
  // Whether At() would copy, to put parts of two pages together.
  bool Copies(uint64_t offset, uint64_t length) const {
    return section_.is_cached() && offset % PageCache::kPageBytes + length > PageCache::kPageBytes;
  }

 private:
  void AskAhead(uint64_t offset, uint64_t length);
  Result<std::string_view> InPages(uint64_t offset, uint64_t length);
  Status MoveToPage(uint64_t page);
  Status MoveWindow(uint64_t offset, uint64_t length);

  SectionBytes section_;
  uint64_t asked_begin_ = 0;
  uint64_t asked_end_ = 0;  // may be behind the end of the section
  uint64_t step_ = 0;
  bool was_missing_ = false;  // mapped: something of the last step
  // File mode only. With a cache the window has what lies in more than one page.
  PageView page_;
  std::vector<char> window_;
  uint64_t window_offset_ = 0;
  uint64_t window_length_ = 0;
};

// A section file (section_file.h) that stays open, for chunks. Header, trailer and table are checked when it
// is opened. Immutable but for the marks of checked pages; safe to share.
class OpenSectionFile : public std::enable_shared_from_this<OpenSectionFile> {
 public:
  // `cache`: for the pages of what is read in file mode through cursors.
  static Result<std::shared_ptr<const OpenSectionFile>> Open(Env& env, const std::string& path,
                                                             const SectionFileKind& kind, AccessMode mode,
                                                             std::shared_ptr<PageCache> cache = nullptr);
  ~OpenSectionFile();

  uint64_t owner() const;
  uint32_t version() const;
  uint64_t size() const;
  AccessMode mode() const;
  const std::string& path() const;
  const std::vector<SectionEntry>& sections() const;
  // kCorrupt "…: section K.N is missing" when the file has no such section.
  Result<SectionBytes> Section(uint32_t kind, uint32_t key) const;
  bool Has(uint32_t kind, uint32_t key) const;
  uint64_t ResidentBytes() const;                        // of the mapping; 0 in file mode
  bool has_failed() const;                               // MappedFile::has_failed; false in file mode
  CachedPages Cached() const;                            // of the file, in either mode
  void GiveUp(std::span<const ByteRange> ranges) const;  // MappedFile::GiveUp, in either mode
  // Every byte: the pages of every section, checked before or not, and the zeros between them. With
  // `drop_behind` the page cache forgets what was read (file mode), or gives it up first when the kernel
  // needs memory (mapped).
  Status CheckAll(bool drop_behind) const;

 private:
  friend class SectionBytes;
  struct State;

  explicit OpenSectionFile(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stoa::storage
