#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::knn {

// Exact distances from one query to many vectors of `dims` floats, any dims from 1. Vectors may lie anywhere
// (aligned to 4 bytes); several are worked on at a time and the next ones are prefetched. The instruction set
// is chosen once, at run time (Highway); sums are in another order on each, so last bits differ.

// out[i] = Σⱼ (query[j] − vectors[i][j])²
void SquaredDistances(const float* query, const float* const* vectors, size_t count, size_t dims, float* out);
// out[i] = Σⱼ query[j] · vectors[i][j]
void DotProducts(const float* query, const float* const* vectors, size_t count, size_t dims, float* out);

// The same over vectors in bfloat16: the upper 16 bits of a float.
void SquaredDistancesBf16(const float* query, const uint16_t* const* vectors, size_t count, size_t dims,
                          float* out);
void DotProductsBf16(const float* query, const uint16_t* const* vectors, size_t count, size_t dims,
                     float* out);

// What the fast ones are tested against: one value after the other, in double.
double PlainSquaredDistance(const float* a, const float* b, size_t dims);
double PlainDotProduct(const float* a, const float* b, size_t dims);

}  // namespace stoa::knn
