#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/parser/number_list.h"

// Lists of numbers are read as the C library reads them, one by one; what is refused there is refused here.

namespace {

constexpr std::string_view kBlanks = " \t\n\r";

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

// One number: sign, digits, point, digits, exponent; nothing else that strtof takes.
bool IsNumber(std::string_view text) {
  size_t at = text.find_first_not_of("+-");
  if (at == std::string_view::npos || at > 1) {
    return false;
  }
  const size_t digits = at;
  at = text.find_first_not_of("0123456789.", at);
  const std::string_view mantissa =
      text.substr(digits, (at == std::string_view::npos ? text.size() : at) - digits);
  const size_t point = mantissa.find('.');
  if (mantissa.find_first_of("0123456789") == std::string_view::npos || point != mantissa.rfind('.')) {
    return false;
  }
  if (at == std::string_view::npos) {
    return true;
  }
  if (text[at] != 'e' && text[at] != 'E') {
    return false;
  }
  std::string_view exponent = text.substr(at + 1);
  if (!exponent.empty() && (exponent[0] == '+' || exponent[0] == '-')) {
    exponent.remove_prefix(1);
  }
  return !exponent.empty() && exponent.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::vector<float>> ReadPlainly(std::string_view text) {
  std::vector<float> floats;
  while (true) {
    const size_t comma = text.find(',');
    std::string_view piece = text.substr(0, comma);
    piece.remove_prefix(std::min(piece.find_first_not_of(kBlanks), piece.size()));
    piece = piece.substr(0, piece.find_last_not_of(kBlanks) + 1);
    if (!IsNumber(piece)) {
      return std::nullopt;
    }
    const float value = std::strtof(std::string(piece).c_str(), nullptr);
    if (!std::isfinite(value)) {
      return std::nullopt;
    }
    floats.push_back(value);
    if (comma == std::string_view::npos) {
      return floats;
    }
    text.remove_prefix(comma + 1);
  }
}

void Compare(std::string_view text, char close) {
  std::vector<float> floats;
  const std::optional<size_t> end = stoa::sql::ReadFloats(text, close, floats);
  const size_t closed = close == '\0' ? text.size() : text.find(close);
  if (closed == std::string_view::npos) {
    Require(!end.has_value());
    return;
  }
  const auto expected = ReadPlainly(text.substr(0, closed));
  Require(expected.has_value() == end.has_value());
  if (!end) {
    return;
  }
  Require(*end == closed && expected->size() == floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    Require((*expected)[i] == floats[i] && std::signbit((*expected)[i]) == std::signbit(floats[i]));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char close : {')', ']', '\0'}) {
    Compare(text, close);
  }
  return 0;
}
