#include "storage/format/section_file.h"

#include <algorithm>
#include <bit>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/crc32c.h"
#include "storage/format/section_table.h"

namespace stoa::storage {
namespace {

constexpr size_t kBufferSize = 256 << 10;
constexpr size_t kDirectSize = 64 << 10;  // so much at once goes to the file without a copy

bool Valid(const SectionLayout& layout) {
  const bool alignment =
      std::has_single_bit(layout.alignment) && layout.alignment >= 64 && layout.alignment <= 4096;
  const bool page =
      layout.page_size == kWholeSection ||
      (std::has_single_bit(layout.page_size) && layout.page_size >= 4096 && layout.page_size <= 1u << 30);
  return alignment && page;
}

}  // namespace

SectionFileWriter::SectionFileWriter(WritableFile& file, const SectionFileKind& kind, uint64_t owner)
    : file_(file), buffer_(EncodeSectionHeader(kind, owner)), size_(buffer_.size()) {}

Status SectionFileWriter::Flush() {
  if (buffer_.empty()) {
    return Status::Ok();
  }
  Status status = file_.Append(buffer_);
  buffer_.clear();
  return status;
}

Status SectionFileWriter::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() <= kBufferSize) {
    buffer_.append(bytes);
    return Status::Ok();
  }
  if (bytes.size() < kDirectSize) {
    const size_t room = kBufferSize - buffer_.size();
    buffer_.append(bytes.substr(0, room));
    RETURN_IF_ERROR(Flush());
    buffer_.append(bytes.substr(room));
    return Status::Ok();
  }
  RETURN_IF_ERROR(Flush());
  return file_.Append(bytes);
}

Status SectionFileWriter::AddSection(uint32_t kind, uint32_t key, std::string_view bytes,
                                     const SectionLayout& layout) {
  RETURN_IF_ERROR(BeginSection(kind, key, layout));
  RETURN_IF_ERROR(AppendToSection(bytes));
  return EndSection();
}

Status SectionFileWriter::BeginSection(uint32_t kind, uint32_t key, const SectionLayout& layout) {
  STOA_CHECK(!in_section_ && Valid(layout));
  in_section_ = true;
  const size_t padding = (layout.alignment - size_ % layout.alignment) % layout.alignment;
  RETURN_IF_ERROR(Append(std::string(padding, '\0')));
  sections_.push_back({.kind = kind, .key = key, .offset = size_, .page_size = layout.page_size});
  crc_ = 0;
  page_crcs_.clear();
  return Status::Ok();
}

Status SectionFileWriter::AppendToSection(std::string_view bytes) {
  STOA_CHECK(in_section_);
  SectionEntry& section = sections_.back();
  if (section.page_size == kWholeSection) {
    crc_ = Crc32c(bytes, crc_);
    section.length += bytes.size();
    return Append(bytes);
  }
  for (std::string_view rest = bytes; !rest.empty();) {
    const uint64_t in_page = section.length % section.page_size;
    const std::string_view part = rest.substr(0, section.page_size - in_page);
    crc_ = Crc32c(part, crc_);
    section.length += part.size();
    rest.remove_prefix(part.size());
    if (section.length % section.page_size == 0) {
      EndPage();
    }
  }
  return Append(bytes);
}

void SectionFileWriter::EndPage() {
  ByteWriter(page_crcs_).Write<uint32_t>(crc_);
  crc_ = 0;
}

uint64_t SectionFileWriter::section_length() const {
  STOA_CHECK(in_section_);
  return sections_.back().length;
}

Status SectionFileWriter::EndSection() {
  STOA_CHECK(in_section_);
  in_section_ = false;
  SectionEntry& section = sections_.back();
  if (section.page_size == kWholeSection) {
    section.crc = crc_;
    return Status::Ok();
  }
  if (section.length % section.page_size != 0) {
    EndPage();
  }
  section.crc = Crc32c(page_crcs_);
  return Append(page_crcs_);
}

Status SectionFileWriter::Finish() {
  STOA_CHECK(!in_section_);
  RETURN_IF_ERROR(Append(EncodeSectionTable(sections_, size_)));
  return Flush();
}

Result<SectionFileReader> SectionFileReader::Open(Env& env, const std::string& path,
                                                  const SectionFileKind& kind) {
  ASSIGN_OR_RETURN(const uint64_t size, env.FileSize(path));
  SectionFileReader reader(env, path);
  ASSIGN_OR_RETURN(SectionTable table,
                   ReadSectionTable(path, size, kind, [&](uint64_t offset, uint64_t length) {
                     return env.ReadRange(path, offset, length);
                   }));
  reader.owner_ = table.owner;
  reader.version_ = table.version;
  reader.sections_ = std::move(table.sections);
  RETURN_IF_ERROR(reader.CheckGaps(table.table_offset));
  return reader;
}

Status SectionFileReader::CheckZeros(uint64_t from, uint64_t to) const {
  constexpr uint64_t kPiece = 65'536;  // a gap is short, unless the file is not one of ours
  for (uint64_t offset = from; offset < to; offset += kPiece) {
    ASSIGN_OR_RETURN(const std::string gap, env_->ReadRange(path_, offset, std::min(kPiece, to - offset)));
    const size_t other = gap.find_first_not_of('\0');
    if (other != std::string::npos) {
      return CorruptError("{}: byte at offset {} between two sections is not zero", path_, offset + other);
    }
  }
  return Status::Ok();
}

Status SectionFileReader::CheckGaps(uint64_t table_offset) const {
  uint64_t end = kSectionHeaderSize;
  for (const SectionEntry& section : sections_) {
    RETURN_IF_ERROR(CheckZeros(end, section.offset));
    end = section.offset + StoredLength(section);
  }
  return CheckZeros(end, table_offset);
}

Status SectionFileReader::WrongChecksum(const SectionEntry& section, uint64_t offset) const {
  return CorruptError("{}: wrong checksum of section {}.{} (offset {})", path_, section.kind, section.key,
                      section.offset + offset);
}

Result<std::string> SectionFileReader::Read(const SectionEntry& section) const {
  const uint64_t stored = StoredLength(section);
  ASSIGN_OR_RETURN(std::string bytes, env_->ReadRange(path_, section.offset, stored));
  if (bytes.size() != stored) {
    return WrongChecksum(section, 0);
  }
  const std::string_view checked =
      std::string_view(bytes).substr(section.page_size == kWholeSection ? 0 : section.length);
  if (Crc32c(checked) != section.crc) {
    return WrongChecksum(section, section.page_size == kWholeSection ? 0 : section.length);
  }
  if (section.page_size != kWholeSection) {
    RETURN_IF_ERROR(CheckPages(section, bytes));
  }
  bytes.resize(section.length);
  return bytes;
}

Status SectionFileReader::CheckPages(const SectionEntry& section, std::string_view stored) const {
  const std::string_view pages = stored.substr(0, section.length);
  ByteReader crcs(stored.substr(section.length));
  for (uint64_t offset = 0; offset < section.length; offset += section.page_size) {
    ASSIGN_OR_RETURN(const uint32_t crc, crcs.Read<uint32_t>());
    if (Crc32c(pages.substr(offset, section.page_size)) != crc) {
      return WrongChecksum(section, offset);
    }
  }
  return Status::Ok();
}

}  // namespace stoa::storage
