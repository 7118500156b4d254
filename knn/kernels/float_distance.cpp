#include "knn/kernels/float_distance.h"

#include <cstring>
#include <utility>

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/kernels/float_distance.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "knn/kernels/lane_totals_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoa::knn {
namespace {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128  // no vectors: one value after the other

float FloatAt(const float* vector, size_t i) { return vector[i]; }
float FloatAt(const uint16_t* vector, size_t i) {
  const uint32_t bits = uint32_t{vector[i]} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

struct SquaredDifference {
  static double Of(double a, double b) { return (a - b) * (a - b); }
};
struct Product {
  static double Of(double a, double b) { return a * b; }
};

template <typename Term, typename T>
void SumAll(const float* query, const T* const* vectors, size_t count, size_t dims, float* out) {
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (size_t j = 0; j < dims; ++j) {
      sum += Term::Of(query[j], FloatAt(vectors[i], j));
    }
    out[i] = static_cast<float>(sum);
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

// How much of the beginning of each vector is prefetched; what comes behind it in a longer vector, the
// machine fetches ahead by itself (measured: prefetching that, too, costs a tenth of the speed).
constexpr size_t kLeadBytes = 2048;

template <size_t kCount>
using Each = std::make_index_sequence<kCount>;

// Adds the terms of the kLanes components from `i` on.
template <typename Term, size_t kVectors, typename T, size_t... v>
HWY_INLINE void AddLanes(const float* query, const T* const (&vectors)[kVectors], size_t i,
                         FloatVector (&sums)[kVectors], std::index_sequence<v...> /*each*/) {
  const FloatVector q = LoadFloats(query + i);
  ((sums[v] = Term::Add(sums[v], q, LoadFloats(vectors[v] + i))), ...);
}

// The same with the last `count` < kLanes components.
template <typename Term, size_t kVectors, typename T, size_t... v>
HWY_INLINE void AddFirst(const float* query, const T* const (&vectors)[kVectors], size_t i, size_t count,
                         FloatVector (&sums)[kVectors], std::index_sequence<v...> /*each*/) {
  const FloatVector q = LoadFirst(query + i, count);
  ((sums[v] = Term::Add(sums[v], q, LoadFirst(vectors[v] + i, count))), ...);
}

template <size_t kVectors, typename T, size_t... v>
HWY_INLINE void PrefetchLines(const T* const (&vectors)[kVectors], size_t i,
                              std::index_sequence<v...> /*each*/) {
  (__builtin_prefetch(vectors[v] + i), ...);
}

struct Span {
  size_t begin;
  size_t end;
};

// The components of a span in steps of all chains. If kPrefetch, `ahead` is prefetched from its beginning on,
// as many lines as are worked on.
template <typename Term, bool kPrefetch, size_t kVectors, size_t kChains, typename T, size_t... chain>
HWY_INLINE void AddSteps(const float* query, const T* const (&vectors)[kVectors], Span span,
                         const T* const (&ahead)[kVectors], FloatVector (&sums)[kChains][kVectors],
                         std::index_sequence<chain...> /*chains*/) {
  constexpr size_t kStep = kChains * kLanes;
  constexpr size_t kLine = 64 / sizeof(T);
  for (size_t i = span.begin; i < span.end; i += kStep) {
    if constexpr (kPrefetch) {
      for (size_t line = 0; line < kStep; line += kLine) {
        PrefetchLines(ahead, i - span.begin + line, Each<kVectors>());
      }
    }
    (AddLanes<Term>(query, vectors, i + chain * kLanes, sums[chain], Each<kVectors>()), ...);
  }
}

// Vectors that are worked on, and those whose turn is next.
template <typename T>
struct Group {
  const T* const* vectors;
  const T* const* next;
};

// One query with kVectors vectors. Each vector has kChains sums, so that an addition does not wait for the
// one before. Towards the end the beginning of the next vectors is prefetched.
template <typename Term, size_t kVectors, size_t kChains, typename T, size_t... v, size_t... chain>
HWY_INLINE void SumGroup(const float* query, Group<T> group, size_t dims, float* out,
                         std::index_sequence<v...> each, std::index_sequence<chain...> chains) {
  constexpr size_t kStep = kChains * kLanes;
  constexpr size_t kLead = kLeadBytes / sizeof(T) / kStep * kStep;
  const T* const from[kVectors] = {group.vectors[v]...};
  const T* const ahead[kVectors] = {group.next[v]...};
  FloatVector sums[kChains][kVectors];
  for (auto& chain_sums : sums) {
    ((chain_sums[v] = hn::Zero(Floats())), ...);
  }
  const size_t end = dims / kStep * kStep;
  const size_t turn = end < kLead ? 0 : end - kLead;
  AddSteps<Term, false>(query, from, {0, turn}, ahead, sums, chains);
  AddSteps<Term, true>(query, from, {turn, end}, ahead, sums, chains);
  size_t i = end;
  for (; i + kLanes <= dims; i += kLanes) {
    AddLanes<Term>(query, from, i, sums[0], each);
  }
  if (i < dims) {
    AddFirst<Term>(query, from, i, dims - i, sums[0], each);
  }
  for (size_t other = 1; other < kChains; ++other) {
    ((sums[0][v] = hn::Add(sums[0][v], sums[other][v])), ...);
  }
  StoreTotals(Floats(), sums[0], out);
}

template <typename Term, typename T>
HWY_INLINE void SumAll(const float* query, const T* const* vectors, size_t count, size_t dims, float* out) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const T* const* next = vectors + (i + 8 <= count ? i + 4 : i);
    SumGroup<Term, 4, 2>(query, Group<T>{vectors + i, next}, dims, out + i, Each<4>(), Each<2>());
  }
  for (; i < count; ++i) {
    const T* const* next = vectors + (i + 1 < count ? i + 1 : i);
    SumGroup<Term, 1, 4>(query, Group<T>{vectors + i, next}, dims, out + i, Each<1>(), Each<4>());
  }
}

#endif  // HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

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
