#include "sql/parser/number_list.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace stoa::sql {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

const char* SkipBlanks(const char* at, const char* end) {
  while (at != end && IsBlank(*at)) {
    ++at;
  }
  return at;
}

// The eight bytes at `at` as a number, if all are digits.
bool ReadEightDigits(const char* at, uint64_t& number) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof(bytes));
  bytes -= 0x3030303030303030;
  // A byte above 9 has a bit of its upper half set, now or 6 further on.
  if (((bytes | (bytes + 0x0606060606060606)) & 0xf0f0f0f0f0f0f0f0) != 0) {
    return false;
  }
  bytes = bytes * 10 + (bytes >> 8);  // pairs, in every other byte
  constexpr uint64_t kPairs = 0x000000ff000000ff;
  number = ((bytes & kPairs) * (100 + (uint64_t{1000000} << 32)) +
            (bytes >> 16 & kPairs) * (1 + (uint64_t{10000} << 32))) >>
           32;
  return true;
}

// Digits with or without a point, few enough for arithmetic that is exact until the last step (Clinger, "How
// to Read Floating Point Numbers Accurately", PLDI 1990, section 4): most numbers of most vectors, in two
// thirds of the time. Returns the end, nullptr for anything else.
const char* ReadPlainFloat(const char* at, const char* end, float& value) {
  constexpr uint64_t kMostExact = uint64_t{1} << 53;
  constexpr ptrdiff_t kMostDigits = 18;  // fit 64 bits
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  const bool is_negative = *at == '-';
  at += is_negative ? 1 : 0;
  uint64_t mantissa = 0;
  // One digit more than `most` tells that there are too many.
  const auto read_digits = [&](ptrdiff_t most) {
    const char* const first = at;
    for (uint64_t eight = 0; end - at >= 8 && at - first + 8 <= most && ReadEightDigits(at, eight); at += 8) {
      mantissa = mantissa * 100000000 + eight;
    }
    for (; at != end && at - first <= most && *at >= '0' && *at <= '9'; ++at) {
      mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
    }
    return at - first;
  };
  const ptrdiff_t whole = read_digits(kMostDigits);
  ptrdiff_t decimals = 0;
  if (at != end && *at == '.') {
    ++at;
    decimals = read_digits(kMostDigits - whole);
  }
  const ptrdiff_t digits = whole + decimals;
  if (digits == 0 || digits > kMostDigits || (at != end && (*at | 0x20) == 'e') || mantissa > kMostExact) {
    return nullptr;
  }
  const double exact = static_cast<double>(mantissa) / kPowers[decimals];  // rounded once
  // Half way between two floats it might have been rounded to there.
  constexpr uint64_t kBelowFloat = (uint64_t{1} << 29) - 1;
  if ((std::bit_cast<uint64_t>(exact) & kBelowFloat) == (kBelowFloat + 1) / 2) {
    return nullptr;
  }
  value = static_cast<float>(is_negative ? -exact : exact);
  return at;
}

// Returns the end of the number at `at`, nullptr when there is none that fits.
const char* ReadFloat(const char* at, const char* end, float& value) {
  if (const char* const stop = ReadPlainFloat(at, end, value)) {
    return stop;
  }
  const char* digits = at + (*at == '-' || *at == '+' ? 1 : 0);
  if (digits == end || !((*digits >= '0' && *digits <= '9') || *digits == '.')) {  // no inf, no nan
    return nullptr;
  }
  const char* const begin = *at == '+' ? digits : at;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc() && std::isfinite(value)) {
    return stop;
  }
  if (error != std::errc::result_out_of_range) {
    return nullptr;
  }
  value = std::strtof(std::string(begin, stop).c_str(), nullptr);  // too small: 0 or nearly; or too large
  return std::isfinite(value) ? stop : nullptr;
}

}  // namespace

std::optional<size_t> ReadFloats(std::string_view text, char close, std::vector<float>& floats) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    at = SkipBlanks(at, end);
    float value = 0;
    at = at == end ? nullptr : ReadFloat(at, end, value);
    if (at == nullptr) {
      return std::nullopt;
    }
    floats.push_back(value);
    at = SkipBlanks(at, end);
    const char next = at == end ? '\0' : *at;
    if (next == close && (at != end) == (close != '\0')) {
      return static_cast<size_t>(at - text.data());
    }
    if (next != ',') {
      return std::nullopt;
    }
    ++at;
  }
}

}  // namespace stoa::sql
