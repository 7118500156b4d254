#include "storage/binlog/binlog_reader.h"

#include <algorithm>

namespace stoa::storage {
namespace {

constexpr uint64_t kReadSize = 1 << 20;

}  // namespace

Result<std::optional<BinlogRecord>> BinlogReader::Read() {
  ASSIGN_OR_RETURN(const std::optional<BinlogRecord> record, ReadAt(offset_));
  if (record) {
    offset_ += kRecordHeaderSize + record->payload.size();
  }
  return record;
}

Result<std::optional<uint64_t>> BinlogReader::FindNext(uint64_t from, uint64_t to) {
  for (uint64_t offset = offset_ + 1; offset + kRecordHeaderSize <= end_; ++offset) {
    ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(offset, kRecordHeaderSize));
    const uint64_t lsn = RecordHeader::Decode(bytes).lsn;
    // LSNs are contiguous and a record has a least size: a number out of this range is no LSN.
    const uint64_t most = from + (offset - offset_) / kRecordHeaderSize + 1;
    if (lsn < from || lsn > std::min(to, most)) {
      continue;
    }
    ASSIGN_OR_RETURN(const std::optional<BinlogRecord> record, ReadAt(offset));
    if (record) {
      offset_ = offset;
      return std::optional<uint64_t>(lsn);
    }
  }
  return std::optional<uint64_t>();
}

Result<std::optional<BinlogRecord>> BinlogReader::ReadAt(uint64_t offset) {
  if (offset > end_ || end_ - offset < kRecordHeaderSize) {
    return std::optional<BinlogRecord>();
  }
  ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(offset, kRecordHeaderSize));
  const RecordHeader header = RecordHeader::Decode(bytes);
  if (header.lsn == 0 || header.lsn > kMaxLsn || header.length > kMaxRecordPayload ||
      header.length > end_ - offset - kRecordHeaderSize) {
    return std::optional<BinlogRecord>();
  }
  ASSIGN_OR_RETURN(const std::string_view whole, Bytes(offset, kRecordHeaderSize + header.length));
  const std::string_view payload = whole.substr(kRecordHeaderSize);
  if (!header.Matches(payload)) {
    return std::optional<BinlogRecord>();
  }
  return std::optional<BinlogRecord>({.lsn = header.lsn, .payload = payload});
}

Result<std::string_view> BinlogReader::Bytes(uint64_t offset, size_t length) {
  const bool there = offset >= buffer_offset_ && offset + length <= buffer_offset_ + buffer_.size();
  if (!there) {
    const uint64_t count = std::min(std::max<uint64_t>(length, kReadSize), end_ - offset);
    ASSIGN_OR_RETURN(buffer_, env_.ReadRange(path_, offset, count));
    buffer_offset_ = offset;
  }
  return std::string_view(buffer_).substr(offset - buffer_offset_, length);
}

}  // namespace stoa::storage
