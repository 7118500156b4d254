#include "storage/format/section_table.h"

#include <algorithm>
#include <bit>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/crc32c.h"

namespace stoa::storage {
namespace {

constexpr std::string_view kMagic("\x89STOA\r\n\n", 8);
constexpr uint64_t kEntrySize = 32;
constexpr uint64_t kAlignment = 64;
constexpr uint32_t kMinPageBits = 12;
constexpr uint32_t kMaxPageBits = 30;

void AppendCrc(std::string& bytes) {
  const uint32_t crc = Crc32c(bytes);
  ByteWriter(bytes).Write<uint32_t>(crc);
}

// Header and trailer end with the CRC of what is before it.
Status CheckCrc(std::string_view bytes, const char* what, uint64_t offset, const std::string& path) {
  ByteReader reader(bytes.substr(bytes.size() - sizeof(uint32_t)));
  ASSIGN_OR_RETURN(const uint32_t crc, reader.Read<uint32_t>());
  return crc == Crc32c(bytes.substr(0, bytes.size() - sizeof(uint32_t)))
             ? Status::Ok()
             : CorruptError("{}: wrong checksum of the {} (offset {})", path, what, offset);
}

Status ReadHeader(const std::string& path, const SectionFileKind& kind, const ReadFilePart& read,
                  SectionTable& table) {
  ASSIGN_OR_RETURN(const std::string header, read(0, kSectionHeaderSize));
  ByteReader reader(header);
  ASSIGN_OR_RETURN(const std::string_view magic, reader.ReadBytes(kMagic.size()));
  ASSIGN_OR_RETURN(const std::string_view code, reader.ReadBytes(sizeof(kind.code)));
  if (magic != kMagic || code != std::string_view(kind.code, sizeof(kind.code))) {
    return CorruptError("{}: not a {} (offset 0)", path, kind.versions.kind);
  }
  RETURN_IF_ERROR(CheckCrc(header, "header", 0, path));
  ASSIGN_OR_RETURN(table.version, reader.Read<uint32_t>());
  RETURN_IF_ERROR(CheckVersion(kind.versions, table.version, path));
  ASSIGN_OR_RETURN(table.owner, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(const uint32_t reserved, reader.Read<uint32_t>());
  return reserved == 0 ? Status::Ok() : CorruptError("{}: reserved bits of the header are set", path);
}

struct Trailer {
  uint64_t table_offset = 0;
  uint32_t count = 0;
  uint32_t table_crc = 0;
};

Result<Trailer> ReadTrailer(const std::string& path, uint64_t file_size, const ReadFilePart& read) {
  ASSIGN_OR_RETURN(const std::string bytes, read(file_size - kSectionTrailerSize, kSectionTrailerSize));
  if (bytes.size() != kSectionTrailerSize) {
    return CorruptError("{}: the file ends before its trailer", path);
  }
  RETURN_IF_ERROR(CheckCrc(bytes, "trailer", file_size - kSectionTrailerSize, path));
  ByteReader reader(bytes);
  Trailer trailer;
  ASSIGN_OR_RETURN(trailer.table_offset, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t size, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(trailer.count, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(trailer.table_crc, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t reserved, reader.Read<uint32_t>());
  const uint64_t table_size = uint64_t{trailer.count} * kEntrySize;
  if (size != file_size || reserved != 0 ||
      table_size > file_size - kSectionHeaderSize - kSectionTrailerSize ||
      trailer.table_offset != file_size - kSectionTrailerSize - table_size) {
    return CorruptError("{}: the trailer does not fit a file of {} bytes", path, file_size);
  }
  return trailer;
}

Result<SectionEntry> ReadEntry(ByteReader& reader) {
  SectionEntry entry;
  ASSIGN_OR_RETURN(entry.kind, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(entry.key, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(entry.offset, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(entry.length, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(entry.crc, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t page_bits, reader.Read<uint32_t>());
  if (page_bits != 0 && (page_bits < kMinPageBits || page_bits > kMaxPageBits)) {
    return CorruptError("reserved bits are set, or pages of 2^{} bytes", page_bits);
  }
  entry.page_size = page_bits == 0 ? kWholeSection : uint32_t{1} << page_bits;
  return entry;
}

// Between `from` and the table.
bool Fits(const SectionEntry& entry, uint64_t from, uint64_t table_offset) {
  return entry.offset % kAlignment == 0 && entry.offset >= from && entry.offset <= table_offset &&
         entry.length <= table_offset - entry.offset && StoredLength(entry) <= table_offset - entry.offset;
}

}  // namespace

std::string EncodeSectionHeader(const SectionFileKind& kind, uint64_t owner) {
  std::string header;
  ByteWriter writer(header);
  writer.WriteBytes(kMagic);
  writer.WriteBytes(std::string_view(kind.code, sizeof(kind.code)));
  writer.Write<uint32_t>(kind.versions.current);
  writer.Write<uint64_t>(owner);
  writer.Write<uint32_t>(0);
  AppendCrc(header);
  return header;
}

std::string EncodeSectionTable(const std::vector<SectionEntry>& sections, uint64_t table_offset) {
  std::string table;
  ByteWriter writer(table);
  for (const SectionEntry& section : sections) {
    writer.Write<uint32_t>(section.kind);
    writer.Write<uint32_t>(section.key);
    writer.Write<uint64_t>(section.offset);
    writer.Write<uint64_t>(section.length);
    writer.Write<uint32_t>(section.crc);
    writer.Write<uint32_t>(
        section.page_size == kWholeSection ? 0 : static_cast<uint32_t>(std::countr_zero(section.page_size)));
  }
  std::string trailer;
  ByteWriter trailer_writer(trailer);
  trailer_writer.Write<uint64_t>(table_offset);
  trailer_writer.Write<uint64_t>(table_offset + table.size() + kSectionTrailerSize);
  trailer_writer.Write<uint32_t>(static_cast<uint32_t>(sections.size()));
  trailer_writer.Write<uint32_t>(Crc32c(table));
  trailer_writer.Write<uint32_t>(0);
  AppendCrc(trailer);
  return table + trailer;
}

Result<SectionTable> ReadSectionTable(const std::string& path, uint64_t file_size,
                                      const SectionFileKind& kind, const ReadFilePart& read) {
  if (file_size < kSectionHeaderSize + kSectionTrailerSize) {
    return CorruptError("{}: {} bytes are too few for a {}", path, file_size, kind.versions.kind);
  }
  SectionTable table;
  RETURN_IF_ERROR(ReadHeader(path, kind, read, table));
  ASSIGN_OR_RETURN(const Trailer trailer, ReadTrailer(path, file_size, read));
  table.table_offset = trailer.table_offset;
  ASSIGN_OR_RETURN(const std::string bytes, read(trailer.table_offset, trailer.count * kEntrySize));
  if (bytes.size() != trailer.count * kEntrySize || Crc32c(bytes) != trailer.table_crc) {
    return CorruptError("{}: wrong checksum of the section table (offset {})", path, trailer.table_offset);
  }
  ByteReader entries(bytes);
  uint64_t end = kSectionHeaderSize;
  for (uint32_t i = 0; i < trailer.count; ++i) {
    auto entry = ReadEntry(entries);
    if (!entry.ok()) {
      return entry.status().WithContext(fmt::format("{}: section {} of the table", path, i));
    }
    if (!Fits(*entry, end, trailer.table_offset)) {
      return CorruptError("{}: section {} crosses its neighbour or the section table (offset {})", path, i,
                          entry->offset);
    }
    end = entry->offset + StoredLength(*entry);
    table.sections.push_back(*entry);
  }
  return table;
}

uint64_t PageCount(const SectionEntry& section) {
  return section.page_size == kWholeSection || section.length == 0
             ? 0
             : (section.length - 1) / section.page_size + 1;
}

uint64_t StoredLength(const SectionEntry& section) {
  return section.length + PageCount(section) * sizeof(uint32_t);
}

Status CheckZerosBetweenSections(Env& env, const std::string& path) {
  constexpr uint64_t kCodeOffset = 8;
  SectionFileKind any{{}, {.kind = "file of sections", .oldest_readable = 0, .current = UINT32_MAX}};
  ASSIGN_OR_RETURN(const std::string code, env.ReadRange(path, kCodeOffset, sizeof(any.code)));
  std::copy(code.begin(), code.end(), any.code);
  const auto read = [&](uint64_t offset, uint64_t length) { return env.ReadRange(path, offset, length); };
  ASSIGN_OR_RETURN(const uint64_t size, env.FileSize(path));
  ASSIGN_OR_RETURN(const SectionTable table, ReadSectionTable(path, size, any, read));
  uint64_t end = kSectionHeaderSize;
  const auto check_until = [&](uint64_t next) -> Status {
    ASSIGN_OR_RETURN(const std::string gap, read(end, next - end));
    const size_t other = gap.find_first_not_of('\0');
    return other == std::string::npos
               ? Status::Ok()
               : CorruptError("{}: byte at offset {} between two sections is not zero", path, end + other);
  };
  for (const SectionEntry& section : table.sections) {
    RETURN_IF_ERROR(check_until(section.offset));
    end = section.offset + StoredLength(section);
  }
  return check_until(table.table_offset);
}

}  // namespace stoa::storage
