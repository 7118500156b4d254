#include "storage/format/section_file.h"

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/crc32c.h"

namespace stoa::storage {
namespace {

constexpr std::string_view kMagic("\x89STOA\r\n\n", 8);
constexpr size_t kHeaderSize = 32;
constexpr size_t kTrailerSize = 32;
constexpr size_t kEntrySize = 32;
constexpr size_t kAlignment = 64;

void AppendCrc(std::string& bytes) {
  const uint32_t crc = Crc32c(bytes);
  ByteWriter(bytes).Write<uint32_t>(crc);
}

// Header and trailer end with the CRC of what is before it.
Status CheckCrc(std::string_view bytes, const char* what, const std::string& path) {
  ByteReader reader(bytes.substr(bytes.size() - sizeof(uint32_t)));
  ASSIGN_OR_RETURN(const uint32_t crc, reader.Read<uint32_t>());
  return crc == Crc32c(bytes.substr(0, bytes.size() - sizeof(uint32_t)))
             ? Status::Ok()
             : CorruptError("{}: wrong checksum of the {}", path, what);
}

Result<SectionEntry> ReadEntry(ByteReader& reader) {
  SectionEntry entry;
  ASSIGN_OR_RETURN(entry.kind, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(entry.key, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(entry.offset, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(entry.length, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(entry.crc, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t reserved, reader.Read<uint32_t>());
  return reserved == 0 ? Result<SectionEntry>(entry) : CorruptError("reserved bits of a section are set");
}

}  // namespace

SectionFileWriter::SectionFileWriter(WritableFile& file, const SectionFileKind& kind, uint64_t owner)
    : file_(file) {
  ByteWriter writer(header_);
  writer.WriteBytes(kMagic);
  writer.WriteBytes(std::string_view(kind.code, sizeof(kind.code)));
  writer.Write<uint32_t>(kind.versions.current);
  writer.Write<uint64_t>(owner);
  writer.Write<uint32_t>(0);
  AppendCrc(header_);
}

Status SectionFileWriter::Append(std::string_view bytes) {
  if (!header_.empty()) {
    RETURN_IF_ERROR(file_.Append(header_));
    size_ = header_.size();
    header_.clear();
  }
  size_ += bytes.size();
  return file_.Append(bytes);
}

Status SectionFileWriter::AddSection(uint32_t kind, uint32_t key, std::string_view bytes,
                                     const SectionLayout&) {
  const uint64_t start = header_.empty() ? size_ : header_.size();
  const size_t padding = (kAlignment - start % kAlignment) % kAlignment;
  RETURN_IF_ERROR(Append(std::string(padding, '\0')));
  sections_.push_back(
      {.kind = kind, .key = key, .offset = size_, .length = bytes.size(), .crc = Crc32c(bytes)});
  return Append(bytes);
}

Status SectionFileWriter::Finish() {
  std::string table;
  ByteWriter writer(table);
  for (const SectionEntry& section : sections_) {
    writer.Write<uint32_t>(section.kind);
    writer.Write<uint32_t>(section.key);
    writer.Write<uint64_t>(section.offset);
    writer.Write<uint64_t>(section.length);
    writer.Write<uint32_t>(section.crc);
    writer.Write<uint32_t>(0);
  }
  const uint64_t table_offset = header_.empty() ? size_ : header_.size();
  RETURN_IF_ERROR(Append(table));
  std::string trailer;
  ByteWriter trailer_writer(trailer);
  trailer_writer.Write<uint64_t>(table_offset);
  trailer_writer.Write<uint64_t>(size_ + kTrailerSize);
  trailer_writer.Write<uint32_t>(static_cast<uint32_t>(sections_.size()));
  trailer_writer.Write<uint32_t>(Crc32c(table));
  trailer_writer.Write<uint32_t>(0);
  AppendCrc(trailer);
  return Append(trailer);
}

Result<SectionFileReader> SectionFileReader::Open(Env& env, const std::string& path,
                                                  const SectionFileKind& kind) {
  ASSIGN_OR_RETURN(const uint64_t size, env.FileSize(path));
  if (size < kHeaderSize + kTrailerSize) {
    return CorruptError("{}: {} bytes are too few for a {}", path, size, kind.versions.kind);
  }
  SectionFileReader reader(env, path);
  RETURN_IF_ERROR(reader.ReadHeader(kind));
  RETURN_IF_ERROR(reader.ReadTable(size));
  return reader;
}

Status SectionFileReader::ReadHeader(const SectionFileKind& kind) {
  ASSIGN_OR_RETURN(const std::string header, env_->ReadRange(path_, 0, kHeaderSize));
  ByteReader reader(header);
  ASSIGN_OR_RETURN(const std::string_view magic, reader.ReadBytes(kMagic.size()));
  ASSIGN_OR_RETURN(const std::string_view code, reader.ReadBytes(sizeof(kind.code)));
  if (magic != kMagic || code != std::string_view(kind.code, sizeof(kind.code))) {
    return CorruptError("{}: not a {}", path_, kind.versions.kind);
  }
  RETURN_IF_ERROR(CheckCrc(header, "header", path_));
  ASSIGN_OR_RETURN(version_, reader.Read<uint32_t>());
  RETURN_IF_ERROR(CheckVersion(kind.versions, version_, path_));
  ASSIGN_OR_RETURN(owner_, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(const uint32_t reserved, reader.Read<uint32_t>());
  return reserved == 0 ? Status::Ok() : CorruptError("{}: reserved bits of the header are set", path_);
}

Status SectionFileReader::ReadTable(uint64_t file_size) {
  ASSIGN_OR_RETURN(const std::string trailer, env_->ReadRange(path_, file_size - kTrailerSize, kTrailerSize));
  if (trailer.size() != kTrailerSize) {
    return CorruptError("{}: the file ends before its trailer", path_);
  }
  RETURN_IF_ERROR(CheckCrc(trailer, "trailer", path_));
  ByteReader reader(trailer);
  ASSIGN_OR_RETURN(const uint64_t table_offset, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t size, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(const uint32_t count, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t table_crc, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t reserved, reader.Read<uint32_t>());
  const uint64_t table_size = uint64_t{count} * kEntrySize;
  if (size != file_size || reserved != 0 || table_size > file_size - kHeaderSize - kTrailerSize ||
      table_offset != file_size - kTrailerSize - table_size) {
    return CorruptError("{}: the trailer does not fit a file of {} bytes", path_, file_size);
  }
  ASSIGN_OR_RETURN(const std::string table, env_->ReadRange(path_, table_offset, table_size));
  if (table.size() != table_size || Crc32c(table) != table_crc) {
    return CorruptError("{}: wrong checksum of the section table (offset {})", path_, table_offset);
  }
  ByteReader entries(table);
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const SectionEntry entry, ReadEntry(entries));
    if (entry.offset % kAlignment != 0 || entry.offset < kHeaderSize || entry.offset > table_offset ||
        entry.length > table_offset - entry.offset) {
      return CorruptError("{}: section {} crosses the section table (offset {})", path_, i, entry.offset);
    }
    sections_.push_back(entry);
  }
  return Status::Ok();
}

Result<std::string> SectionFileReader::Read(const SectionEntry& section) const {
  ASSIGN_OR_RETURN(std::string bytes, env_->ReadRange(path_, section.offset, section.length));
  if (bytes.size() != section.length || Crc32c(bytes) != section.crc) {
    return CorruptError("{}: wrong checksum of section {}.{} (offset {})", path_, section.kind, section.key,
                        section.offset);
  }
  return bytes;
}

}  // namespace stoa::storage
