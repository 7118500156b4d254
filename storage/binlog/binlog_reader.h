#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/env.h"
#include "storage/binlog/binlog_format.h"

namespace stoa::storage {

struct BinlogRecord {
  uint64_t lsn = 0;
  std::string_view payload;  // until the next call of the reader
};

// Reads the records of one segment from its header up to `end`, which must not be behind the end of the file.
// One thread at a time.
class BinlogReader {
 public:
  BinlogReader(Env& env, std::string path, uint64_t end)
      : env_(env), path_(std::move(path)), end_(end), offset_(kSegmentHeaderSize) {}

  // The record at offset(), which then moves behind it. None at the end, or when there is no whole record
  // there.
  Result<std::optional<BinlogRecord>> Read();
  // Moves to the next whole record behind offset() with an LSN of `from` up to `to`, and returns that LSN;
  // none if there is none: offset() stays.
  Result<std::optional<uint64_t>> FindNext(uint64_t from, uint64_t to);

  bool done() const { return offset_ >= end_; }
  uint64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }

 private:
  Result<std::optional<BinlogRecord>> ReadAt(uint64_t offset);
  // `length` bytes, which must end at or before end_.
  Result<std::string_view> Bytes(uint64_t offset, size_t length);

  Env& env_;
  const std::string path_;
  const uint64_t end_;
  uint64_t offset_;
  std::string buffer_;
  uint64_t buffer_offset_ = 0;
};

}  // namespace stoa::storage
