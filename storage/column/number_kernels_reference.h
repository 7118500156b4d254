#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stoa::storage {

inline constexpr unsigned kMaxDecimalDigits = 10;
inline constexpr double kPowersOfTen[kMaxDecimalDigits + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5,
                                                               1e6, 1e7, 1e8, 1e9, 1e10};

// Value `index` of packed ones, in the 8 bytes it begins in.
inline uint64_t PackedIn(uint64_t word, unsigned width, size_t index) {
  return width == 64 ? word : (word >> (index * width % 8)) & ((uint64_t{1} << width) - 1);
}
// Reads 8 bytes.
inline uint64_t PackedAt(const char* packed, unsigned width, size_t index) {
  uint64_t word;
  std::memcpy(&word, packed + index * width / 8, sizeof(word));
  return PackedIn(word, width, index);
}

// Floats in an order that unsigned integers share: -NaN, -inf, …, -0.0, 0.0, …, inf, NaN.
inline uint32_t OrderedBits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
inline float FloatOfOrderedBits(uint32_t key) {
  return std::bit_cast<float>((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key);
}

// A float that is an integer divided by a power of ten. The division is exact arithmetic followed by two
// roundings that IEEE 754 fixes, so all machines agree.
inline float FloatOfDecimal(int64_t decimal, unsigned digits) {
  return static_cast<float>(static_cast<double>(decimal) / kPowersOfTen[digits]);
}
inline constexpr uint64_t kDecimalBias = uint64_t{1} << 31;  // key = decimal + bias
inline float FloatOfDecimalKey(uint64_t key, unsigned digits) {
  return FloatOfDecimal(static_cast<int64_t>(key - kDecimalBias), digits);
}

}  // namespace stoa::storage
