#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::knn {

// Sums between one encoded query and many codes. Codes may lie anywhere; each has `dims` components, a
// multiple of 64 (quantisers pad). Several codes are worked on at a time, and the lines of the codes that
// come next are prefetched: pass the codes in the order in which they shall be read. Results are exact
// integers.

// Codes of 8 bits without sign, query of 8 bits with sign: out[i] = Σⱼ query[j] · codes[i][j].
// |query[j]| ≤ 127, dims ≤ 65,536.
void DotCodes8(const int8_t* query, const uint8_t* const* codes, size_t count, size_t dims, int32_t* out);
// Codes of 4 bits: byte b of each group of 32 bytes holds component b of the group of 64 in its low half and
// component b + 32 in its high half. The query is not packed.
void DotCodes4(const int8_t* query, const uint8_t* const* codes, size_t count, size_t dims, int32_t* out);
// Codes of 1 bit (bit j % 64 of word j / 64) and a query of 4 bits without sign in four bit planes, plane p
// at planes + p · dims / 64: out[i] = Σₚ 2ᵖ · |plane p and codes[i]|.
void DotCodes1(const uint64_t* planes, const uint8_t* const* codes, size_t count, size_t dims, int32_t* out);
// Codes and query of 1 bit: out[i] = number of bits that differ.
void HammingDistances(const uint64_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                      int32_t* out);

// Plain forms, the oracle of the tests.
int32_t PlainDotCodes8(const int8_t* query, const uint8_t* code, size_t dims);
int32_t PlainDotCodes4(const int8_t* query, const uint8_t* code, size_t dims);
int32_t PlainDotCodes1(const uint64_t* planes, const uint8_t* code, size_t dims);
int32_t PlainHammingDistance(const uint64_t* query, const uint8_t* code, size_t dims);

}  // namespace stoa::knn
