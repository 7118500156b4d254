#include "knn/kernels/code_distance.h"

#include <bit>
#include <cstring>

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/kernels/code_distance.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoa::knn {
namespace {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

int32_t DotCode8(const int8_t* query, const uint8_t* code, size_t dims) {
  return PlainDotCodes8(query, code, dims);
}
int32_t DotCode4(const int8_t* query, const uint8_t* code, size_t dims) {
  return PlainDotCodes4(query, code, dims);
}
int32_t DotCode1(const uint64_t* planes, const uint8_t* code, size_t dims) {
  return PlainDotCodes1(planes, code, dims);
}
int32_t HammingOf(const uint64_t* query, const uint8_t* code, size_t dims) {
  return PlainHammingDistance(query, code, dims);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<uint8_t, 32>;
using Sums = hn::Repartition<int32_t, Bytes>;
using Words = hn::CappedTag<uint64_t, 8>;

// Adds products of code and query bytes to the pair of sums.
HWY_INLINE void AddProducts(hn::Vec<Bytes> code, hn::Vec<hn::RebindToSigned<Bytes> > query,
                            hn::Vec<Sums>& sum0, hn::Vec<Sums>& sum1) {
  const hn::Repartition<int16_t, Bytes> d16;
  const hn::RebindToUnsigned<decltype(d16)> u16;
  const auto code16 = hn::BitCast(d16, code);
  const auto query16 = hn::BitCast(d16, query);
  const auto even = hn::And(code16, hn::Set(d16, int16_t{0xff}));
  const auto odd = hn::BitCast(d16, hn::ShiftRight<8>(hn::BitCast(u16, code)));
  const auto query_even = hn::ShiftRight<8>(hn::ShiftLeft<8>(query16));
  sum0 = hn::ReorderWidenMulAccumulate(Sums(), even, query_even, sum0, sum1);
  sum0 = hn::ReorderWidenMulAccumulate(Sums(), odd, hn::ShiftRight<8>(query16), sum0, sum1);
}

HWY_INLINE int32_t Total(hn::Vec<Sums> sum0, hn::Vec<Sums> sum1) {
  return hn::GetLane(hn::SumOfLanes(Sums(), hn::Add(sum0, sum1)));
}

HWY_INLINE int32_t DotCode8(const int8_t* query, const uint8_t* code, size_t dims) {
  auto sum0 = hn::Zero(Sums());
  auto sum1 = hn::Zero(Sums());
  for (size_t i = 0; i < dims; i += hn::Lanes(Bytes())) {
    AddProducts(hn::LoadU(Bytes(), code + i), hn::LoadU(hn::RebindToSigned<Bytes>(), query + i), sum0, sum1);
  }
  return Total(sum0, sum1);
}

HWY_INLINE int32_t DotCode4(const int8_t* query, const uint8_t* code, size_t dims) {
  const hn::RebindToSigned<Bytes> d;
  auto sum0 = hn::Zero(Sums());
  auto sum1 = hn::Zero(Sums());
  for (size_t i = 0; i < dims; i += 64) {
    for (size_t j = 0; j < 32; j += hn::Lanes(Bytes())) {
      const auto both = hn::LoadU(Bytes(), code + i / 2 + j);
      const auto low = hn::And(both, hn::Set(Bytes(), uint8_t{15}));
      AddProducts(low, hn::LoadU(d, query + i + j), sum0, sum1);
      AddProducts(hn::ShiftRight<4>(both), hn::LoadU(d, query + i + 32 + j), sum0, sum1);
    }
  }
  return Total(sum0, sum1);
}

int32_t DotCode1(const uint64_t* planes, const uint8_t* code, size_t dims) {
  return PlainDotCodes1(planes, code, dims);
}
int32_t HammingOf(const uint64_t* query, const uint8_t* code, size_t dims) {
  return PlainHammingDistance(query, code, dims);
}

#endif  // HWY_TARGET == HWY_SCALAR

void DotCodes8Here(const int8_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                   int32_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = DotCode8(query, codes[i], dims);
  }
}
void DotCodes4Here(const int8_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                   int32_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = DotCode4(query, codes[i], dims);
  }
}
void DotCodes1Here(const uint64_t* planes, const uint8_t* const* codes, size_t count, size_t dims,
                   int32_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = DotCode1(planes, codes[i], dims);
  }
}
void HammingDistancesHere(const uint64_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                          int32_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = HammingOf(query, codes[i], dims);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace stoa::knn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoa::knn {
namespace {
HWY_EXPORT(DotCodes8Here);
HWY_EXPORT(DotCodes4Here);
HWY_EXPORT(DotCodes1Here);
HWY_EXPORT(HammingDistancesHere);

uint64_t WordAt(const uint8_t* code, size_t i) {
  uint64_t word = 0;
  std::memcpy(&word, code + i * sizeof(word), sizeof(word));
  return word;
}
}  // namespace

void DotCodes8(const int8_t* query, const uint8_t* const* codes, size_t count, size_t dims, int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotCodes8Here)(query, codes, count, dims, out);
}

void DotCodes4(const int8_t* query, const uint8_t* const* codes, size_t count, size_t dims, int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotCodes4Here)(query, codes, count, dims, out);
}

void DotCodes1(const uint64_t* planes, const uint8_t* const* codes, size_t count, size_t dims, int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotCodes1Here)(planes, codes, count, dims, out);
}

void HammingDistances(const uint64_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                      int32_t* out) {
  HWY_DYNAMIC_DISPATCH(HammingDistancesHere)(query, codes, count, dims, out);
}

int32_t PlainDotCodes8(const int8_t* query, const uint8_t* code, size_t dims) {
  int32_t sum = 0;
  for (size_t i = 0; i < dims; ++i) {
    sum += query[i] * code[i];
  }
  return sum;
}

int32_t PlainDotCodes4(const int8_t* query, const uint8_t* code, size_t dims) {
  int32_t sum = 0;
  for (size_t i = 0; i < dims; ++i) {
    const uint8_t both = code[i / 64 * 32 + i % 32];
    sum += query[i] * (i % 64 < 32 ? both & 15 : both >> 4);
  }
  return sum;
}

int32_t PlainDotCodes1(const uint64_t* planes, const uint8_t* code, size_t dims) {
  const size_t words = dims / 64;
  int32_t sum = 0;
  for (size_t plane = 0; plane < 4; ++plane) {
    for (size_t i = 0; i < words; ++i) {
      sum += std::popcount(planes[plane * words + i] & WordAt(code, i)) << plane;
    }
  }
  return sum;
}

int32_t PlainHammingDistance(const uint64_t* query, const uint8_t* code, size_t dims) {
  int32_t sum = 0;
  for (size_t i = 0; i < dims / 64; ++i) {
    sum += std::popcount(query[i] ^ WordAt(code, i));
  }
  return sum;
}

}  // namespace stoa::knn
#endif  // HWY_ONCE
