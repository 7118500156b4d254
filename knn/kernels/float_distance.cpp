#include "knn/kernels/float_distance.h"

#include <cstring>
#include <utility>

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/kernels/float_distance.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoa::knn {
namespace {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

float FloatAt(const float* vector, size_t i) { return vector[i]; }
float FloatAt(const uint16_t* vector, size_t i) {
  const uint32_t bits = uint32_t{vector[i]} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

struct SquaredDifference {
  static float Of(float a, float b) { return (a - b) * (a - b); }
};
struct Product {
  static float Of(float a, float b) { return a * b; }
};

template <typename Term, typename T>
void SumAll(const float* query, const T* const* vectors, size_t count, size_t dims, float* out) {
  for (size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (size_t j = 0; j < dims; ++j) {
      sum += Term::Of(query[j], FloatAt(vectors[i], j));
    }
    out[i] = sum;
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using FloatVector = hn::Vec<Floats>;
constexpr size_t kLanes = hn::MaxLanes(Floats());

struct SquaredDifference {
  static HWY_INLINE FloatVector Add(FloatVector sum, FloatVector a, FloatVector b) {
    const FloatVector difference = hn::Sub(a, b);
    return hn::MulAdd(difference, difference, sum);
  }
};
struct Product {
  static HWY_INLINE FloatVector Add(FloatVector sum, FloatVector a, FloatVector b) {
    return hn::MulAdd(a, b, sum);
  }
};

HWY_INLINE FloatVector LoadFloats(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE FloatVector LoadFloats(const uint16_t* from) {
  const hn::RebindToUnsigned<Floats> wide;
  const auto bits = hn::PromoteTo(wide, hn::LoadU(hn::Rebind<uint16_t, Floats>(), from));
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(bits));
}

// The first `count` < kLanes floats and zeros; nothing behind them is read.
template <typename T>
HWY_INLINE FloatVector LoadFirst(const T* from, size_t count) {
#if HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) == sizeof(float)) {
    return hn::MaskedLoad(hn::FirstN(Floats(), count), Floats(), from);
  }
#endif
  T first[kLanes] = {};
  std::memcpy(first, from, count * sizeof(T));
  return LoadFloats(first);
}

template <size_t kVectors, typename T>
struct Pointers {
  const T* at[kVectors];
};

// Adds the terms of the kLanes components from `i` on to `sums`.
template <typename Term, typename T, size_t... kVector>
HWY_INLINE void AddLanes(const float* query, const T* const* vectors, size_t i, FloatVector* sums,
                         std::index_sequence<kVector...>) {
  const FloatVector q = LoadFloats(query + i);
  ((sums[kVector] = Term::Add(sums[kVector], q, LoadFloats(vectors[kVector] + i))), ...);
}
template <typename Term, typename T, size_t... kVector>
HWY_INLINE void AddFirst(const float* query, const T* const* vectors, size_t i, size_t count,
                         FloatVector* sums, std::index_sequence<kVector...>) {
  const FloatVector q = LoadFirst(query + i, count);
  ((sums[kVector] = Term::Add(sums[kVector], q, LoadFirst(vectors[kVector] + i, count))), ...);
}

template <typename Term, size_t kVectors, typename T, size_t... kVector>
HWY_INLINE void SumGroup(const float* query, const T* const* vectors, const T* const* next, size_t dims,
                         float* out, std::index_sequence<kVector...> all) {
  const T* const from[kVectors] = {vectors[kVector]...};
  const T* const ahead[kVectors] = {next[kVector]...};
  FloatVector even[kVectors] = {((void)kVector, hn::Zero(Floats()))...};
  FloatVector odd[kVectors] = {((void)kVector, hn::Zero(Floats()))...};
  size_t i = 0;
  for (; i + 2 * kLanes <= dims; i += 2 * kLanes) {
    AddLanes<Term>(query, from, i, even, all);
    AddLanes<Term>(query, from, i + kLanes, odd, all);
    (__builtin_prefetch(ahead[kVector] + i), ...);
    (__builtin_prefetch(ahead[kVector] + i + kLanes), ...);
  }
  if (i + kLanes <= dims) {
    AddLanes<Term>(query, from, i, even, all);
    i += kLanes;
  }
  if (i < dims) {
    AddFirst<Term>(query, from, i, dims - i, odd, all);
  }
  ((out[kVector] = hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(even[kVector], odd[kVector])))), ...);
}

template <typename Term, typename T>
HWY_INLINE void SumAll(const float* query, const T* const* vectors, size_t count, size_t dims, float* out) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const T* const* next = vectors + (i + 8 <= count ? i + 4 : i);
    SumGroup<Term, 4>(query, vectors + i, next, dims, out + i, std::make_index_sequence<4>());
  }
  for (; i < count; ++i) {
    SumGroup<Term, 1>(query, vectors + i, vectors + i, dims, out + i, std::make_index_sequence<1>());
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

void SquaredDistancesHere(const float* query, const float* const* vectors, size_t count, size_t dims,
                          float* out) {
  SumAll<SquaredDifference>(query, vectors, count, dims, out);
}
void DotProductsHere(const float* query, const float* const* vectors, size_t count, size_t dims, float* out) {
  SumAll<Product>(query, vectors, count, dims, out);
}
void SquaredDistancesBf16Here(const float* query, const uint16_t* const* vectors, size_t count, size_t dims,
                              float* out) {
  SumAll<SquaredDifference>(query, vectors, count, dims, out);
}
void DotProductsBf16Here(const float* query, const uint16_t* const* vectors, size_t count, size_t dims,
                         float* out) {
  SumAll<Product>(query, vectors, count, dims, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace stoa::knn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoa::knn {
namespace {
HWY_EXPORT(SquaredDistancesHere);
HWY_EXPORT(DotProductsHere);
HWY_EXPORT(SquaredDistancesBf16Here);
HWY_EXPORT(DotProductsBf16Here);
}  // namespace

void SquaredDistances(const float* query, const float* const* vectors, size_t count, size_t dims,
                      float* out) {
  HWY_DYNAMIC_DISPATCH(SquaredDistancesHere)(query, vectors, count, dims, out);
}

void DotProducts(const float* query, const float* const* vectors, size_t count, size_t dims, float* out) {
  HWY_DYNAMIC_DISPATCH(DotProductsHere)(query, vectors, count, dims, out);
}

void SquaredDistancesBf16(const float* query, const uint16_t* const* vectors, size_t count, size_t dims,
                          float* out) {
  HWY_DYNAMIC_DISPATCH(SquaredDistancesBf16Here)(query, vectors, count, dims, out);
}

void DotProductsBf16(const float* query, const uint16_t* const* vectors, size_t count, size_t dims,
                     float* out) {
  HWY_DYNAMIC_DISPATCH(DotProductsBf16Here)(query, vectors, count, dims, out);
}

double PlainSquaredDistance(const float* a, const float* b, size_t dims) {
  double sum = 0;
  for (size_t i = 0; i < dims; ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

double PlainDotProduct(const float* a, const float* b, size_t dims) {
  double sum = 0;
  for (size_t i = 0; i < dims; ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

}  // namespace stoa::knn
#endif  // HWY_ONCE
