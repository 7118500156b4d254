#include "storage/column/text_format.h"

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"

namespace stoa::storage {

std::string TextInfo::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write<uint8_t>(static_cast<uint8_t>(form));
  writer.Write<uint8_t>(hashes ? 1 : 0);
  writer.Write<uint16_t>(0);
  writer.Write<uint32_t>(rows);
  return bytes;
}

Result<TextInfo> TextInfo::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  TextInfo info;
  ASSIGN_OR_RETURN(const uint8_t form, reader.Read<uint8_t>());
  ASSIGN_OR_RETURN(const uint8_t hashes, reader.Read<uint8_t>());
  ASSIGN_OR_RETURN(const uint16_t reserved, reader.Read<uint16_t>());
  ASSIGN_OR_RETURN(info.rows, reader.Read<uint32_t>());
  if (form > 1 || hashes > 1 - form || reserved != 0 || !reader.done()) {
    return CorruptError("unknown form of a text column: {}, {}, {}", form, hashes, reserved);
  }
  info.form = static_cast<TextForm>(form);
  info.hashes = hashes == 1;
  return info;
}

}  // namespace stoa::storage
