#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace stoa::storage {

// The bytes of a binlog segment: docs/format/binlog.md. LSNs are plain numbers here, 0 means none.

inline constexpr size_t kSegmentHeaderSize = 56;
inline constexpr size_t kRecordHeaderSize = 16;
inline constexpr size_t kMaxRecordPayload = size_t{1} << 30;
// A larger number is damage, so that counting on from one that was read never overflows.
inline constexpr uint64_t kMaxLsn = uint64_t{1} << 62;
inline constexpr uint64_t kMaxSegmentNumber = uint64_t{1} << 62;

struct SegmentHeader {
  uint64_t number = 0;        // of the file's name
  uint64_t first_lsn = 0;     // of the first record of this segment, if it gets one
  uint64_t previous_lsn = 0;  // of the last record before this segment that counts; 0: there was none
  uint64_t previous_end = 0;  // segment number - 1 counts up to this offset
  uint64_t forgotten = 0;     // records up to this LSN were not needed any more when this segment was made

  std::string Encode() const;
  // kCorrupt, or kUnsupported for another format version; the text starts with `path`.
  static Result<SegmentHeader> Decode(std::string_view bytes, std::string_view path);
};

struct RecordHeader {
  uint32_t length = 0;  // of the payload
  uint32_t crc = 0;
  uint64_t lsn = 0;

  // `bytes` has at least kRecordHeaderSize bytes.
  static RecordHeader Decode(std::string_view bytes);
  bool Matches(std::string_view payload) const;
};

// Records in a row, ready to be written.
struct RecordBatch {
  std::string bytes;
  uint64_t first_lsn = 0;
  uint64_t last_lsn = 0;

  bool empty() const { return bytes.empty(); }
  // `payload_crc` is Crc32c(payload), which a caller can compute before it takes a lock.
  void Add(uint64_t lsn, std::string_view payload, uint32_t payload_crc);
};

std::string SegmentName(uint64_t number);
std::optional<uint64_t> ParseSegmentName(std::string_view name);

}  // namespace stoa::storage
