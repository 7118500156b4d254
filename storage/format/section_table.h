#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// What frames the sections of a section file, and how it is read and checked; for the writer and the readers
// of such files. docs/format/section_file.md.
inline constexpr uint64_t kSectionHeaderSize = 32;
inline constexpr uint64_t kSectionTrailerSize = 32;

struct SectionTable {
  uint64_t owner = 0;
  uint32_t version = 0;
  uint64_t table_offset = 0;
  std::vector<SectionEntry> sections;  // ascending offsets; none overlaps another one or the table
};

std::string EncodeSectionHeader(const SectionFileKind& kind, uint64_t owner);
// Table and trailer of a file whose table starts at `table_offset`.
std::string EncodeSectionTable(const std::vector<SectionEntry>& sections, uint64_t table_offset);

// Exactly `length` bytes of the file at `offset`.
using ReadFilePart = std::function<Result<std::string>(uint64_t offset, uint64_t length)>;

// Header, trailer and table of the file `path` of `file_size` bytes; what the table says of the sections can
// be relied on then.
Result<SectionTable> ReadSectionTable(const std::string& path, uint64_t file_size,
                                      const SectionFileKind& kind, const ReadFilePart& read);

// Pages with a checksum of their own; a section without such pages has 0.
uint64_t PageCount(const SectionEntry& section);
// The section's bytes and the checksums behind them.
uint64_t StoredLength(const SectionEntry& section);

// The bytes of such a file, of any kind, that belong to no section are zero. For those that were read whole
// with SectionFileReader; OpenSectionFile::CheckAll looks there itself.
Status CheckZerosBetweenSections(Env& env, const std::string& path);

}  // namespace stoa::storage
