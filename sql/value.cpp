#include "sql/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace stoa::sql {
namespace {

constexpr int kMinDecimals = 6;
constexpr int kDoubleDigits = 15;
constexpr int kMaxDecimals = 30;
constexpr double kFixedBelow = 1e22;

// Appends nan and inf; false for ordinary numbers.
bool AppendUnusual(double value, std::string& out) {
  if (std::isnan(value)) {
    out.append("nan");
    return true;
  }
  if (std::isinf(value)) {
    out.append(value < 0 ? "-inf" : "inf");
    return true;
  }
  return false;
}

template <typename Number>
Number LoadItem(std::string_view bytes, size_t index) {
  Number value{};
  std::memcpy(&value, bytes.data() + index * sizeof(Number), sizeof(Number));
  return value;
}

template <typename Number>
void AppendIntegers(std::string_view bytes, std::string& out) {
  std::array<char, 24> buffer;
  for (size_t i = 0; i < bytes.size() / sizeof(Number); ++i) {
    if (i > 0) {
      out.push_back(',');
    }
    char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), LoadItem<Number>(bytes, i)).ptr;
    out.append(buffer.data(), end);
  }
}

// The 15 significant digits of a finite value, trailing zeros gone, and its decimal exponent (d.ddd ×
// 10^exponent).
struct Digits {
  std::array<char, kDoubleDigits> digits;
  int count = 1;
  int exponent = 0;
};

Digits SplitDigits(double size) {
  std::array<char, 32> buffer;
  char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), size, std::chars_format::scientific,
                            kDoubleDigits - 1)
                  .ptr;
  Digits result;
  result.digits[0] = buffer[0];
  for (int i = 1; i < kDoubleDigits; ++i) {
    result.digits[static_cast<size_t>(i)] = buffer[static_cast<size_t>(i) + 1];  // behind the point
    if (buffer[static_cast<size_t>(i) + 1] != '0') {
      result.count = i + 1;
    }
  }
  const char* exponent = buffer.data() + kDoubleDigits + 2;  // behind "d.dddde"
  if (*exponent == '+') {
    ++exponent;
  }
  std::from_chars(exponent, end, result.exponent);
  return result;
}

void AppendScientific(const Digits& number, std::string& out) {
  out.push_back(number.digits[0]);
  if (number.count > 1) {
    out.push_back('.');
    out.append(number.digits.data() + 1, static_cast<size_t>(number.count - 1));
  }
  out.append(number.exponent < 0 ? "e-" : "e+");
  const int size = std::abs(number.exponent);
  if (size < 10) {
    out.push_back('0');
  }
  out.append(std::to_string(size));
}

}  // namespace

void AppendFloatText(float value, std::string& out) {
  if (AppendUnusual(static_cast<double>(value), out)) {
    return;
  }
  // The shortest notation has more than six decimals exactly when six do not give the same float again.
  std::array<char, 256> buffer;
  char* end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed).ptr;
  const std::string_view shortest(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t point = shortest.find('.');
  if (point == std::string_view::npos || shortest.size() - point - 1 <= kMinDecimals) {
    end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<double>(value),
                        std::chars_format::fixed, kMinDecimals)
              .ptr;
  }
  out.append(buffer.data(), end);
}

void AppendDoubleText(double value, std::string& out) {
  if (AppendUnusual(value, out)) {
    return;
  }
  if (std::signbit(value)) {
    out.push_back('-');
  }
  const Digits number = SplitDigits(std::fabs(value));
  const int decimals = number.count - 1 - number.exponent;
  if (std::fabs(value) >= kFixedBelow || decimals > kMaxDecimals) {
    AppendScientific(number, out);
    return;
  }
  const auto digit = [&number](int index) {
    return index < 0 || index >= number.count ? '0' : number.digits[static_cast<size_t>(index)];
  };
  for (int i = 0; i <= number.exponent; ++i) {
    out.push_back(digit(i));
  }
  if (number.exponent < 0) {
    out.push_back('0');
  }
  out.push_back('.');
  for (int i = 1; i <= std::max(kMinDecimals, decimals); ++i) {
    out.push_back(digit(number.exponent + i));
  }
}

void AppendMultiText(std::string_view bytes, std::string& out) { AppendIntegers<uint32_t>(bytes, out); }

void AppendMulti64Text(std::string_view bytes, std::string& out) { AppendIntegers<int64_t>(bytes, out); }

void AppendVectorText(std::string_view bytes, std::string& out) {
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    if (i > 0) {
      out.push_back(',');
    }
    AppendFloatText(LoadItem<float>(bytes, i), out);
  }
}

void AppendVectorArrayText(std::string_view bytes, std::string& out) {
  out.push_back('[');
  if (bytes.size() >= sizeof(uint32_t)) {
    const size_t vector_bytes = size_t{LoadItem<uint32_t>(bytes, 0)} * sizeof(float);
    bytes.remove_prefix(sizeof(uint32_t));
    for (size_t begin = 0; vector_bytes > 0 && begin + vector_bytes <= bytes.size(); begin += vector_bytes) {
      out.append(begin > 0 ? ",[" : "[");
      AppendVectorText(bytes.substr(begin, vector_bytes), out);
      out.push_back(']');
    }
  }
  out.push_back(']');
}

}  // namespace stoa::sql
