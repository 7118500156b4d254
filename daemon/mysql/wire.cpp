#include "daemon/mysql/wire.h"

namespace stoa::daemon {

void AppendLengthInteger(uint64_t value, std::string& out) {
  if (value < 251) {
    out.push_back(static_cast<char>(value));
  } else if (value < 1ULL << 16) {
    out.push_back('\xfc');
    AppendFixed(static_cast<uint16_t>(value), out);
  } else if (value < 1ULL << 24) {
    out.push_back('\xfd');
    AppendFixed3(static_cast<uint32_t>(value), out);
  } else {
    out.push_back('\xfe');
    AppendFixed(value, out);
  }
}

void AppendLengthString(std::string_view bytes, std::string& out) {
  AppendLengthInteger(bytes.size(), out);
  out.append(bytes);
}

uint64_t PayloadReader::LengthInteger() {
  const uint8_t first = Fixed<uint8_t>();
  switch (first) {
    case 0xfb:  // NULL in a row: no length
    case 0xff:
      Fail();
      return 0;
    case 0xfc:
      return Fixed<uint16_t>();
    case 0xfd: {
      const uint32_t low = Fixed<uint16_t>();
      return low | uint32_t{Fixed<uint8_t>()} << 16;
    }
    case 0xfe:
      return Fixed<uint64_t>();
    default:
      return first;
  }
}

std::string_view PayloadReader::LengthString() {
  const uint64_t length = LengthInteger();
  return length > rest_.size() ? Fail() : Bytes(static_cast<size_t>(length));
}

std::string_view PayloadReader::NullTerminated() {
  const size_t end = rest_.find('\0');
  if (end == std::string_view::npos) {
    return Fail();
  }
  const std::string_view bytes = Bytes(end);
  rest_.remove_prefix(1);
  return bytes;
}

std::string_view PayloadReader::NullTerminatedOrRest() {
  return rest_.find('\0') == std::string_view::npos ? Rest() : NullTerminated();
}

std::string_view PayloadReader::Bytes(size_t count) {
  if (count > rest_.size()) {
    return Fail();
  }
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

std::string_view PayloadReader::Rest() { return Bytes(rest_.size()); }

}  // namespace stoa::daemon
