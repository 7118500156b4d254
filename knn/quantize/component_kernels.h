#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::knn {

// Loops over the components of one vector; the instruction set is chosen at run time. `dims` is a multiple of
// 64 where nothing else is said. Levels of a code are numbers x around zero: −127…127 with 8 bits,
// −7.5, −6.5 … 7.5 with 4 bits, −1 and 1 with 1 bit; a value v gets the level nearest to v · inverse_step.

struct ResidualSums {
  float squared;     // Σ (vector[j] − center[j])²
  float center_dot;  // Σ vector[j] · center[j]
};

struct LevelSums {
  float dot;      // Σ v · x
  float squared;  // Σ x²
  int32_t total;  // 1 bit: how many are positive. 4 bits: Σ (x + 7.5). 8 bits: Σ x
};

// residual[j] = vector[j] − center[j]. Any dims.
ResidualSums Subtract(const float* vector, const float* center, size_t dims, float* residual);
float LargestMagnitude(const float* values, size_t dims);

// Bits of kernels/code_distance.h: 1 for a value that is not negative.
LevelSums EncodeSigns(const float* values, size_t dims, uint8_t* code);
// What Encode4 gives, without the code.
LevelSums Measure4(const float* values, size_t dims, float inverse_step);
// Packed as DotCodes4 wants it: x + 7.5.
LevelSums Encode4(const float* values, size_t dims, float inverse_step, uint8_t* code);
// Four bit planes of x + 7.5 as DotCodes1 wants them.
LevelSums EncodePlanes(const float* values, size_t dims, float inverse_step, uint64_t* planes);
// Bytes of x as a number with sign, combined with `flip` by XOR: 0x80 makes it x + 128.
LevelSums Encode8(const float* values, size_t dims, float inverse_step, uint8_t flip, uint8_t* code);

// Codes in the role of a query: levels x of an 8-bit code, 2x of a 4-bit code. Returns their sum.
int32_t LevelsOf8(const uint8_t* code, size_t dims, int8_t* levels);
int32_t LevelsOf4(const uint8_t* code, size_t dims, int8_t* levels);

}  // namespace stoa::knn
