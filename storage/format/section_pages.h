#pragma once

#include <cstdint>
#include <span>

#include "storage/base/env.h"
#include "storage/format/open_section_file.h"

namespace stoa::storage {

// The bytes of an open file, whatever the mode. One of the two is set.
struct FileBytes {
  std::shared_ptr<const MappedFile> mapping;
  std::shared_ptr<const RandomAccessFile> file;

  uint64_t size() const { return mapping != nullptr ? mapping->bytes().size() : file->size(); }
  const std::string& path() const { return mapping != nullptr ? mapping->path() : file->path(); }
  // Copies; for small parts when mapped. kCorrupt behind the end.
  Status Read(uint64_t offset, std::span<char> to) const;
  void DropBehind(uint64_t offset, uint64_t length) const;
};

// Checks pages of one section against their checksums and marks them. Any number of threads may do the same.
class SectionPages {
 public:
  SectionPages(const FileBytes& bytes, const OpenSection& section) : bytes_(bytes), section_(section) {}

  uint64_t PageOf(uint64_t offset) const { return offset >> section_.page_shift; }
  uint64_t PageStart(uint64_t page) const { return page == 0 ? 0 : page << section_.page_shift; }
  uint64_t PageEnd(uint64_t page) const;

  // Pages first to last; those with a mark are left out.
  Status Check(uint64_t first, uint64_t last) const;
  // One page whose bytes the caller has.
  Status CheckBytes(uint64_t page, std::string_view page_bytes) const;
  // One page, read piece by piece although it may have a mark.
  Status CheckPage(uint64_t page, bool drop_behind) const;
  // In file mode: pages without a mark, ascending, read together.
  Status CheckTogether(std::span<const uint64_t> pages) const;

  Status WrongChecksum(uint64_t offset) const;

 private:
  Result<uint32_t> CrcOf(uint64_t page) const;
  Status LoadCrcs() const;
  Status Finish(uint64_t page, uint32_t crc) const;

  const FileBytes& bytes_;
  const OpenSection& section_;
};

}  // namespace stoa::storage
