#include "storage/base/byte_reader.h"

namespace stoa {

Result<uint64_t> ByteReader::ReadVarint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    ASSIGN_OR_RETURN(const uint8_t byte, Read<uint8_t>());
    if (shift == 63 && byte > 1) {
      break;
    }
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      return value;
    }
  }
  return CorruptError("varint of more than 64 bits before offset {}", offset());
}

Result<std::string_view> ByteReader::ReadBytes(size_t count) {
  if (remaining() < count) {
    return Short(count);
  }
  const std::string_view bytes = bytes_.substr(position_, count);
  position_ += count;
  return bytes;
}

Result<std::string_view> ByteReader::ReadString() {
  ASSIGN_OR_RETURN(const uint64_t length, ReadVarint());
  if (length > remaining()) {
    return Short(length);
  }
  return ReadBytes(length);
}

Status ByteReader::Skip(size_t count) { return ReadBytes(count).status(); }

Status ByteReader::Short(size_t wanted) const {
  return CorruptError("{} bytes wanted at offset {}, {} left", wanted, offset(), remaining());
}

}  // namespace stoa
