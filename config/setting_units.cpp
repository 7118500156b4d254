#include "config/setting_units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>

namespace stoa::config {

namespace {

struct Suffix {
  std::string_view text;
  int64_t factor;
};

constexpr std::array kSizes = {Suffix{"t", int64_t{1} << 40}, Suffix{"g", int64_t{1} << 30},
                               Suffix{"m", int64_t{1} << 20}, Suffix{"k", int64_t{1} << 10}};
constexpr std::array kTimes = {Suffix{"w", 604'800'000'000},
                               Suffix{"d", 86'400'000'000},
                               Suffix{"h", 3'600'000'000},
                               Suffix{"m", 60'000'000},
                               Suffix{"s", 1'000'000},
                               Suffix{"ms", 1000},
                               Suffix{"us", 1}};

bool EqualIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) {
    return false;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != lower[i]) {
      return false;
    }
  }
  return true;
}

std::optional<int64_t> ParseWithSuffix(std::string_view text, std::span<const Suffix> suffixes,
                                       int64_t plain_factor) {
  size_t digits = text.starts_with('-') ? 1 : 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    ++digits;
  }
  const std::optional<int64_t> number = ParsePlainInteger(text.substr(0, digits));
  if (!number) {
    return std::nullopt;
  }
  int64_t factor = 0;
  if (digits == text.size()) {
    factor = plain_factor;
  }
  for (const Suffix& suffix : suffixes) {
    if (EqualIgnoringCase(text.substr(digits), suffix.text)) {
      factor = suffix.factor;
    }
  }
  int64_t product = 0;
  if (factor == 0 || __builtin_mul_overflow(*number, factor, &product)) {
    return std::nullopt;
  }
  return product;
}

std::string FormatWithSuffix(int64_t value, std::span<const Suffix> suffixes) {
  for (const Suffix& suffix : suffixes) {
    if (value % suffix.factor == 0) {
      return fmt::format("{}{}", value / suffix.factor, suffix.text);
    }
  }
  return std::to_string(value);
}

}  // namespace

std::optional<int64_t> ParsePlainInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> ParseSize(std::string_view text) { return ParseWithSuffix(text, kSizes, 1); }

std::optional<int64_t> ParseTime(std::string_view text, int64_t unit) {
  return ParseWithSuffix(text, kTimes, unit);
}

std::string FormatSize(int64_t bytes) { return bytes == 0 ? "0" : FormatWithSuffix(bytes, kSizes); }

std::string FormatTime(int64_t micros) { return micros == 0 ? "0" : FormatWithSuffix(micros, kTimes); }

}  // namespace stoa::config
