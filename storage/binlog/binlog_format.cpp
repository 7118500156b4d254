#include "storage/binlog/binlog_format.h"

#include <charconv>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/crc32c.h"
#include "storage/format/versions.h"

namespace stoa::storage {
namespace {

constexpr std::string_view kMagic = "STOABLOG";
constexpr std::string_view kNamePrefix = "binlog.";

// Payload first, so that it can be summed before the LSN is known.
uint32_t RecordCrc(uint32_t payload_crc, uint64_t lsn, uint32_t length) {
  std::string numbers;
  ByteWriter writer(numbers);
  writer.Write(lsn);
  writer.Write(length);
  return Crc32c(numbers, payload_crc);
}

}  // namespace

std::string SegmentHeader::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.WriteBytes(kMagic);
  writer.Write(kBinlogFormat.current);
  writer.Write(number);
  writer.Write(first_lsn);
  writer.Write(previous_lsn);
  writer.Write(previous_end);
  writer.Write(forgotten);
  writer.Write(Crc32c(bytes));
  STOA_CHECK(bytes.size() == kSegmentHeaderSize);
  return bytes;
}

Result<SegmentHeader> SegmentHeader::Decode(std::string_view bytes, std::string_view path) {
  if (bytes.size() < kSegmentHeaderSize) {
    return CorruptError("{}: offset 0: {} bytes are no segment header", path, bytes.size());
  }
  ByteReader reader(bytes.substr(0, kSegmentHeaderSize));
  ASSIGN_OR_RETURN(const std::string_view magic, reader.ReadBytes(kMagic.size()));
  if (magic != kMagic) {
    return CorruptError("{}: offset 0: not a binlog segment (wrong magic)", path);
  }
  ASSIGN_OR_RETURN(const uint32_t version, reader.Read<uint32_t>());
  RETURN_IF_ERROR(CheckVersion(kBinlogFormat, version, path));
  SegmentHeader header;
  for (uint64_t* field :
       {&header.number, &header.first_lsn, &header.previous_lsn, &header.previous_end, &header.forgotten}) {
    ASSIGN_OR_RETURN(*field, reader.Read<uint64_t>());
  }
  const uint32_t expected = Crc32c(bytes.substr(0, reader.position()));
  ASSIGN_OR_RETURN(const uint32_t crc, reader.Read<uint32_t>());
  if (crc != expected) {
    return CorruptError("{}: offset 0: wrong checksum of the segment header", path);
  }
  return header;
}

RecordHeader RecordHeader::Decode(std::string_view bytes) {
  RecordHeader header;
  ByteReader reader(bytes);
  header.length = reader.Read<uint32_t>().value();
  header.crc = reader.Read<uint32_t>().value();
  header.lsn = reader.Read<uint64_t>().value();
  return header;
}

bool RecordHeader::Matches(std::string_view payload) const {
  return payload.size() == length && RecordCrc(Crc32c(payload), lsn, length) == crc;
}

void RecordBatch::Add(uint64_t lsn, std::string_view payload, uint32_t payload_crc) {
  const uint32_t length = static_cast<uint32_t>(payload.size());
  ByteWriter writer(bytes);
  writer.Write(length);
  writer.Write(RecordCrc(payload_crc, lsn, length));
  writer.Write(lsn);
  writer.WriteBytes(payload);
  if (first_lsn == 0) {
    first_lsn = lsn;
  }
  last_lsn = lsn;
}

std::string SegmentName(uint64_t number) { return fmt::format("{}{:04}", kNamePrefix, number); }

std::optional<uint64_t> ParseSegmentName(std::string_view name) {
  uint64_t number = 0;
  if (!name.starts_with(kNamePrefix)) {
    return std::nullopt;
  }
  std::from_chars(name.data() + kNamePrefix.size(), name.data() + name.size(), number);
  return number != 0 && number <= kMaxSegmentNumber && SegmentName(number) == name ? std::optional(number)
                                                                                   : std::nullopt;
}

}  // namespace stoa::storage
