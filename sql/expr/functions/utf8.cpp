#include "sql/expr/functions/utf8.h"

namespace stoa::sql {
namespace {

bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (char byte : text) {
    count += Continues(byte) ? 0 : 1;
  }
  return count;
}

size_t CharacterOffset(std::string_view text, size_t index) {
  size_t at = 0;
  while (at < text.size() && Continues(text[at])) {
    ++at;
  }
  for (; at < text.size() && index > 0; --index) {
    ++at;
    while (at < text.size() && Continues(text[at])) {
      ++at;
    }
  }
  return at;
}

void DecodeCharacters(std::string_view text, std::vector<char32_t>& out) {
  out.clear();
  for (size_t at = 0; at < text.size();) {
    auto lead = static_cast<unsigned char>(text[at]);
    size_t length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t value = length == 1 ? lead : lead & (0x7fu >> length);
    size_t used = 1;
    while (used < length && at + used < text.size() && Continues(text[at + used])) {
      value = value << 6 | (static_cast<unsigned char>(text[at + used]) & 0x3fu);
      ++used;
    }
    out.push_back(value);
    at += used;
  }
}

}  // namespace stoa::sql
