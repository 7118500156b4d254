#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/format/versions.h"

namespace stoa::storage {

// The frame of Stoa's files that are written once: header, sections with CRC32C, table of the sections,
// trailer. docs/format/section_file.md.
struct SectionFileKind {
  char code[4];  // first bytes of the file after the magic
  FormatVersions versions;
};

inline constexpr uint32_t kWholeSection = 0;
inline constexpr uint32_t kDefaultPage = 64u << 10;

// How a section lies in the file.
struct SectionLayout {
  uint32_t alignment = 64;  // of its first byte; a power of two from 64 to 4,096
  // Bytes that share a checksum, so that a reader of some pages does not read all; a power of two from 4 KiB.
  // The checksums are an array behind the section's bytes; `crc` of the table is the array's. kWholeSection:
  // one checksum, in the table.
  uint32_t page_size = kWholeSection;
};

struct SectionEntry {
  uint32_t kind = 0;  // what the section is; numbers of the file's kind
  uint32_t key = 0;   // which one of its kind
  uint64_t offset = 0;
  uint64_t length = 0;
  uint32_t crc = 0;  // of the bytes, or of the checksums of the pages
  uint32_t page_size = kWholeSection;
};

// Writes a file from front to end, in large pieces: the file is complete after Finish(), and of no use
// without it. One thread at a time.
class SectionFileWriter {
 public:
  // `owner` is the number of the table or chunk the file belongs to.
  SectionFileWriter(WritableFile& file, const SectionFileKind& kind, uint64_t owner);

  Status AddSection(uint32_t kind, uint32_t key, std::string_view bytes, const SectionLayout& layout = {});
  // A section whose bytes come piece by piece.
  Status BeginSection(uint32_t kind, uint32_t key, const SectionLayout& layout = {});
  Status AppendToSection(std::string_view bytes);
  uint64_t section_length() const;  // of the section that is open
  Status EndSection();
  Status Finish();  // table and trailer; syncing is the caller's
  uint64_t size() const { return size_; }

 private:
  Status Append(std::string_view bytes);
  Status Flush();
  void EndPage();

  WritableFile& file_;
  std::string buffer_;  // not yet written
  std::vector<SectionEntry> sections_;
  uint64_t size_;  // written or in the buffer
  bool in_section_ = false;
  uint32_t crc_ = 0;       // of the open section or its open page
  std::string page_crcs_;  // of the open section's finished pages
};

// Opens such a file: header, trailer and table are checked, sections are read when asked for. Errors name the
// file.
class SectionFileReader {
 public:
  // kCorrupt also when a byte between two sections is not zero: what is read with it is read whole.
  static Result<SectionFileReader> Open(Env& env, const std::string& path, const SectionFileKind& kind);

  uint64_t owner() const { return owner_; }
  uint32_t version() const { return version_; }
  const std::vector<SectionEntry>& sections() const { return sections_; }
  // kCorrupt when the bytes do not have the CRC of the table.
  Result<std::string> Read(const SectionEntry& section) const;
  const std::string& path() const { return path_; }

 private:
  SectionFileReader(Env& env, std::string path) : env_(&env), path_(std::move(path)) {}
  Status WrongChecksum(const SectionEntry& section, uint64_t offset) const;
  Status CheckZeros(uint64_t from, uint64_t to) const;
  Status CheckGaps(uint64_t table_offset) const;
  Status CheckPages(const SectionEntry& section, std::string_view stored) const;

  Env* env_;
  std::string path_;
  uint64_t owner_ = 0;
  uint32_t version_ = 0;
  std::vector<SectionEntry> sections_;
};

}  // namespace stoa::storage
