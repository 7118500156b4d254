#include "sql/parser/number_list.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
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

// Returns the end of the number at `at`, nullptr when there is none that fits.
const char* ReadFloat(const char* at, const char* end, float& value) {
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
