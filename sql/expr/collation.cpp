#include "sql/expr/collation.h"

#include <unicode/uchar.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

constexpr std::array<unsigned char, 128> MakeLowerTable() {
  std::array<unsigned char, 128> table{};
  for (size_t c = 0; c < table.size(); ++c) {
    table[c] = static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  }
  return table;
}

constexpr std::array<unsigned char, 128> kLower = MakeLowerTable();
constexpr uint32_t kRawByte = 0x110000;  // above all code points: a byte that is no UTF-8

unsigned char ByteAt(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

// Length of the UTF-8 sequence that starts with `lead`; 0 when none does.
size_t SequenceLength(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) {
    return 2;
  }
  if (lead >= 0xe0 && lead <= 0xef) {
    return 3;
  }
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

// The code point at `at`, which moves behind it; a broken byte is kRawByte + byte.
uint32_t NextCodePoint(std::string_view text, size_t& at) {
  const unsigned char lead = ByteAt(text, at);
  if (lead < 0x80) {
    ++at;
    return lead;
  }
  const size_t length = SequenceLength(lead);
  if (length == 0 || at + length > text.size()) {
    ++at;
    return kRawByte + lead;
  }
  uint32_t code = lead & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    const unsigned char next = ByteAt(text, at + i);
    if ((next & 0xc0) != 0x80) {
      ++at;
      return kRawByte + lead;
    }
    code = (code << 6) | (next & 0x3fU);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code >= kRawByte || (code >= 0xd800 && code < 0xe000)) {
    ++at;
    return kRawByte + lead;
  }
  at += length;
  return code;
}

uint32_t NextFolded(std::string_view text, size_t& at) {
  const uint32_t code = NextCodePoint(text, at);
  if (code < 0x80) {
    return kLower[code];
  }
  if (code >= kRawByte) {
    return code;
  }
  return static_cast<uint32_t>(u_foldCase(static_cast<UChar32>(code), U_FOLD_CASE_DEFAULT));
}

char LowByte(uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); }

void AppendCodePoint(uint32_t code, std::string& out) {
  if (code >= kRawByte) {
    out.push_back(LowByte(code - kRawByte));
  } else if (code < 0x80) {
    out.push_back(LowByte(code));
  } else if (code < 0x800) {
    out.push_back(LowByte(0xc0 | (code >> 6)));
    out.push_back(LowByte(0x80 | (code & 0x3f)));
  } else if (code < 0x10000) {
    out.push_back(LowByte(0xe0 | (code >> 12)));
    out.push_back(LowByte(0x80 | ((code >> 6) & 0x3f)));
    out.push_back(LowByte(0x80 | (code & 0x3f)));
  } else {
    out.push_back(LowByte(0xf0 | (code >> 18)));
    out.push_back(LowByte(0x80 | ((code >> 12) & 0x3f)));
    out.push_back(LowByte(0x80 | ((code >> 6) & 0x3f)));
    out.push_back(LowByte(0x80 | (code & 0x3f)));
  }
}

// Both texts from a common border of code points on.
int CompareFoldedFrom(std::string_view a, std::string_view b, size_t start) {
  size_t at_a = start;
  size_t at_b = start;
  while (at_a < a.size() && at_b < b.size()) {
    const uint32_t x = NextFolded(a, at_a);
    const uint32_t y = NextFolded(b, at_b);
    if (x != y) {
      return x < y ? -1 : 1;
    }
  }
  return static_cast<int>(at_a < a.size()) - static_cast<int>(at_b < b.size());
}

int CompareFolded(std::string_view a, std::string_view b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    const unsigned char x = ByteAt(a, i);
    const unsigned char y = ByteAt(b, i);
    if ((x | y) >= 0x80) {
      return CompareFoldedFrom(a, b, i);
    }
    if (kLower[x] != kLower[y]) {
      return kLower[x] < kLower[y] ? -1 : 1;
    }
  }
  return static_cast<int>(a.size() > b.size()) - static_cast<int>(a.size() < b.size());
}

}  // namespace

bool FoldsCase(Collation collation) {
  return collation == Collation::kLibcCi || collation == Collation::kUtf8GeneralCi;
}

int CompareStrings(Collation collation, std::string_view a, std::string_view b) {
  return FoldsCase(collation) ? CompareFolded(a, b) : a.compare(b);
}

bool EqualStrings(Collation collation, std::string_view a, std::string_view b) {
  return FoldsCase(collation) ? CompareFolded(a, b) == 0 : a == b;
}

uint64_t HashString(Collation collation, std::string_view text) {
  if (!FoldsCase(collation)) {
    return XXH3_64bits(text.data(), text.size());
  }
  std::array<char, 64> folded;
  if (text.size() <= folded.size()) {
    size_t i = 0;
    while (i < text.size() && ByteAt(text, i) < 0x80) {
      folded[i] = static_cast<char>(kLower[ByteAt(text, i)]);
      ++i;
    }
    if (i == text.size()) {
      return XXH3_64bits(folded.data(), i);
    }
  }
  const std::string key = FoldKey(collation, text);
  return XXH3_64bits(key.data(), key.size());
}

std::string FoldKey(Collation collation, std::string_view text) {
  std::string out;
  AppendFoldKey(collation, text, out);
  return out;
}

void AppendFoldKey(Collation collation, std::string_view text, std::string& out) {
  if (!FoldsCase(collation)) {
    out.append(text);
    return;
  }
  for (size_t at = 0; at < text.size();) {
    const unsigned char c = ByteAt(text, at);
    if (c < 0x80) {
      out.push_back(static_cast<char>(kLower[c]));
      ++at;
    } else {
      AppendCodePoint(NextFolded(text, at), out);
    }
  }
}

Result<Collation> ParseCollation(std::string_view name) {
  std::string lower;
  AppendFoldKey(Collation::kLibcCi, name, lower);
  if (lower == "libc_ci") {
    return Collation::kLibcCi;
  }
  if (lower == "libc_cs") {
    return Collation::kLibcCs;
  }
  if (lower == "binary" || lower.ends_with("_bin")) {
    return Collation::kBinary;
  }
  // What connectors name: utf8mb4_general_ci, utf8mb3_unicode_ci, latin1_swedish_ci, …
  if (lower.ends_with("_ci")) {
    return Collation::kUtf8GeneralCi;
  }
  if (lower.ends_with("_cs")) {
    return Collation::kLibcCs;
  }
  return SyntaxError(fmt::format("unknown collation: '{}'", name));
}

}  // namespace stoa::sql
