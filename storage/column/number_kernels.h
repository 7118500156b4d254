#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::storage {

// Loops over packed numbers, compiled for several instruction sets and chosen at run time (Highway). The
// plain twins that tests believe are in number_kernels_reference.h.
//
// Packed: value i of `width` bits begins at bit i × width, counted from the low bit of the first byte. Widths
// are 0 … 57 and 64, so that a load of 8 bytes reaches every value.

// Bytes behind the last packed value that the loops may read (and ignore).
inline constexpr size_t kPackedSlack = 128;
// Outputs are written in whole steps: room for `count` rounded up to a multiple of this is needed.
inline constexpr size_t kUnpackStep = 32;

// Bits of each value when `range` is the largest one.
unsigned PackedWidth(uint64_t range);

// out[i] = base + value i, modulo 2^64.
void UnpackKeys(const char* packed, unsigned width, size_t count, uint64_t base, uint64_t* out);
// Widths 0 … 10.
void UnpackCodes(const char* packed, unsigned width, size_t count, uint16_t* out);
// Bit i of `mask` (ceil(count / 64) words, overwritten): low <= value i <= high. Bits from `count` on are
// undefined.
void SelectPacked(const char* packed, unsigned width, size_t count, uint64_t low, uint64_t high,
                  uint64_t* mask);
// out[i] = (keys[i] - 2^31) / 10^digits, rounded to float; keys below 2^32, digits 0 … 10.
void DecimalsToFloats(const uint64_t* keys, size_t count, unsigned digits, float* out);
// The floats whose order-preserving bits (OrderedBits) are keys[i].
void OrderedToFloats(const uint64_t* keys, size_t count, float* out);

// Name of the instruction set in use, for status and benchmarks.
const char* NumberKernelTarget();

}  // namespace stoa::storage
