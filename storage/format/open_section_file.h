#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/column/column_reader.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// How the bytes of a chunk's file are reached (DESIGN 3, "Columnar"). The answers are the same.
enum class AccessMode : uint8_t {
  kMmap,  // the file is mapped: stable addresses
  kFile,  // positioned reads into buffers; nothing of the file is mapped
};

class OpenSectionFile;

// One section of an open file. A small value; holds the file. Pages (section_file.h) are checked against
// their checksums when they are first read after the file was opened, and never again. Safe to share; errors
// name file, section and offset.
class SectionBytes {
 public:
  SectionBytes() = default;

  uint64_t length() const;
  // Mapped: the stable address of the first byte; 64-byte aligned, and 64 bytes behind the end may be read.
  // nullptr in file mode.
  const char* address() const;
  // Mapped only: the pages of [offset, offset + length) have been checked, and could be read. A bit test a
  // page when they were checked before.
  Status Verify(uint64_t offset, uint64_t length) const;

  // Either mode, verified. In file mode the bytes are in `buffer`, aligned to 64 bytes.
  Result<std::string_view> Read(uint64_t offset, uint64_t length, ReadBuffer& buffer) const;
  // Either mode, verified; all at once: what is not in memory is asked of the disk together. `out` has one
  // entry a range. Ranges that touch or nearly touch are read as one.
  Status ReadBatch(std::span<const ByteRange> ranges, std::span<std::string_view> out,
                   ReadBuffer& buffer) const;
  // Mapped only: asks for pages that have not been touched since the file was opened (or since faults showed
  // that the kernel took pages back), all together; costs a bit test a page when warm.
  void WillNeed(std::span<const ByteRange> ranges) const;
  void Advise(AccessPattern pattern) const;
  const std::string& path() const;

 private:
  friend class OpenSectionFile;
  SectionBytes(std::shared_ptr<const OpenSectionFile> file, size_t index)
      : file_(std::move(file)), index_(index) {}

  std::shared_ptr<const OpenSectionFile> file_;
  size_t index_ = 0;
};

// Sequential reading of a section in file mode without a system call a block: a window of bytes that moves on
// (256 KiB at a time). Mapped: the address itself. One thread at a time.
class SectionCursor {
 public:
  explicit SectionCursor(SectionBytes section) : section_(std::move(section)) {}
  // Verified bytes; they live until the next call.
  Result<std::string_view> At(uint64_t offset, uint64_t length);

 private:
  SectionBytes section_;
  ReadBuffer window_;
  uint64_t window_offset_ = 0;
  std::string_view window_bytes_;
};

// A section file (section_file.h) that stays open, for chunks. Header, trailer and table are checked when it
// is opened. Immutable but for the marks of checked pages; safe to share.
class OpenSectionFile : public std::enable_shared_from_this<OpenSectionFile> {
 public:
  static Result<std::shared_ptr<const OpenSectionFile>> Open(Env& env, const std::string& path,
                                                             const SectionFileKind& kind, AccessMode mode);

  uint64_t owner() const;
  uint32_t version() const;
  uint64_t size() const;
  AccessMode mode() const;
  const std::string& path() const;
  const std::vector<SectionEntry>& sections() const;
  // kCorrupt "…: section K.N is missing" when the file has no such section.
  Result<SectionBytes> Section(uint32_t kind, uint32_t key) const;
  bool Has(uint32_t kind, uint32_t key) const;
  uint64_t ResidentBytes() const;  // of the mapping; 0 in file mode
  // Every page of every section. With `drop_behind` the page cache is left as it was.
  Status CheckAll(bool drop_behind) const;

 private:
  friend class SectionBytes;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoa::storage
