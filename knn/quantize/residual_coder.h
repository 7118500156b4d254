#pragma once

#include <cstdint>

#include "knn/quantize/quantizer.h"
#include "knn/quantize/vector_frame.h"

namespace stoa::knn {

// How many standard deviations the error of an estimate may reach: 96 % of a normal distribution are inside.
inline constexpr double kErrorDeviations = 2.1;
// The part of the error that comes from the encoding of the query, as tan of the angle between the query's
// residual and its code: what is usual, with 4 bits and with 8.
inline constexpr double kQueryTangent4 = 0.115;
inline constexpr double kQueryTangent8 = 0.01;
// π/2: the standard deviation of an angle's cosine taken from n signs is at most this / √n.
inline constexpr double kSignDeviation = 1.5707963267948966;

// A finite float.
float BoundedFloat(double value);
// How far levels lie from a value's code: about the best for normally distributed components.
float Step4(const RotatedResidual& residual, uint32_t padded_dims);
float Step8(const RotatedResidual& residual, const float* rotated, uint32_t padded_dims);
// tan of the angle between a vector and its code, from |v|², v·x and |x|².
double CodeTangent(double squared, double dot, double code_squared);

uint32_t PayloadBytes(CodeKind kind, uint32_t dims, uint32_t padded_dims);
// Writes head and payload of any kind but kFloat; the payload begins behind the head. Heads have:
//   add      the vector's own term of the distance
//   rescale  −f · |r|² / ⟨x, r⟩ with residual r, levels x and f = 2 (l2) or 1; kSign: −f · |r|
//   error    f · kErrorDeviations · |r| · t / √(padded_dims − 1), with t from the angle between r and x
//   spare    8 and 4 bits, kSign: |r|; 1 bit: number of bits set
void EncodeResidual(CodeKind kind, const VectorFrame& frame, const RotatedResidual& residual,
                    const float* rotated, uint8_t* code);

}  // namespace stoa::knn
