#include "storage/json/json_layout.h"

#include <cstring>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/json/json_value.h"

namespace stoa::storage::json_layout {
namespace {

uint32_t Load32(const char* from) {
  uint32_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

bool IsWellFormedContainer(std::string_view bytes) {
  if (bytes.size() < 1 + kCountBytes) {
    return false;
  }
  return ItemCount(bytes) <= (bytes.size() - 1 - kCountBytes) / kItemEndBytes;
}

}  // namespace

bool IsWellFormedHead(std::string_view bytes) {
  if (bytes.empty() || static_cast<uint8_t>(bytes[0]) > static_cast<uint8_t>(JsonKind::kObject)) {
    return false;
  }
  switch (static_cast<JsonKind>(bytes[0])) {
    case JsonKind::kInt:
    case JsonKind::kDouble:
      return bytes.size() >= 1 + sizeof(int64_t);
    case JsonKind::kArray:
    case JsonKind::kObject:
      return IsWellFormedContainer(bytes);
    default:
      return true;
  }
}

size_t ItemCount(std::string_view bytes) { return Load32(bytes.data() + bytes.size() - kCountBytes); }

std::string_view Item(std::string_view bytes, size_t index) {
  const size_t count = ItemCount(bytes);
  const size_t items_size = bytes.size() - 1 - kCountBytes - count * kItemEndBytes;
  const char* items = bytes.data() + 1;
  const char* ends = items + items_size;
  const size_t begin = index == 0 ? 0 : Load32(ends + (index - 1) * kItemEndBytes);
  const size_t end = Load32(ends + index * kItemEndBytes);
  if (begin > end || end > items_size) {
    return {};
  }
  return {items + begin, end - begin};
}

std::string_view SplitString(std::string_view bytes, std::string_view& text) {
  uint64_t length = 0;
  size_t position = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (position == bytes.size() || shift > 28) {
      text = {};
      return {};
    }
    const uint8_t byte = static_cast<uint8_t>(bytes[position++]);
    length |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      break;
    }
  }
  if (length > bytes.size() - position) {
    text = {};
    return {};
  }
  text = bytes.substr(position, length);
  return bytes.substr(position + length);
}

void AppendString(std::string_view text, std::string& out) { ByteWriter(out).WriteString(text); }

void AppendContainerEnd(const uint32_t* ends, size_t count, std::string& out) {
  ByteWriter writer(out);
  for (size_t i = 0; i < count; ++i) {
    writer.Write(ends[i]);
  }
  writer.Write(static_cast<uint32_t>(count));
}

}  // namespace stoa::storage::json_layout
