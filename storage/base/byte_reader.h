#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "storage/base/result.h"

namespace stoa {

// Bounds-checked little-endian decoding of bytes that came from disk or network. Every read past the end
// fails with kCorrupt and the offset; nothing is ever read outside the given bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, uint64_t base_offset = 0)
      : bytes_(bytes), base_offset_(base_offset) {}

  size_t remaining() const { return bytes_.size() - position_; }
  size_t position() const { return position_; }
  uint64_t offset() const { return base_offset_ + position_; }
  bool done() const { return remaining() == 0; }

  template <typename T>
    requires std::is_arithmetic_v<T>
  Result<T> Read() {
    if (remaining() < sizeof(T)) {
      return Short(sizeof(T));
    }
    T value;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }
  Result<uint64_t> ReadVarint();  // LEB128, at most 10 bytes
  Result<std::string_view> ReadBytes(size_t count);
  Result<std::string_view> ReadString();  // varint length, then bytes
  Status Skip(size_t count);

 private:
  Status Short(size_t wanted) const;

  std::string_view bytes_;
  size_t position_ = 0;
  uint64_t base_offset_ = 0;
};

}  // namespace stoa
