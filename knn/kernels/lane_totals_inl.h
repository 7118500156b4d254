// Compiled once for each instruction set, as Highway has it: no #pragma once.
#if defined(STOA_KNN_KERNELS_LANE_TOTALS) == defined(HWY_TARGET_TOGGLE)
#ifdef STOA_KNN_KERNELS_LANE_TOTALS
#undef STOA_KNN_KERNELS_LANE_TOTALS
#else
#define STOA_KNN_KERNELS_LANE_TOTALS
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace stoa::knn {
namespace {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

// The sum of the lanes of each vector, one and four at a time; lanes are of 32 bits.
template <typename D>
HWY_INLINE void StoreTotals(D d, const hwy::HWY_NAMESPACE::Vec<D> (&sums)[1],
                            hwy::HWY_NAMESPACE::TFromD<D>* out) {
  out[0] = hwy::HWY_NAMESPACE::GetLane(hwy::HWY_NAMESPACE::SumOfLanes(d, sums[0]));
}

template <typename D>
HWY_INLINE auto FoldToFour(D d, hwy::HWY_NAMESPACE::Vec<D> sum) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (hn::MaxLanes(d) <= 4) {
    return sum;
  } else {
    const hn::Half<D> half;
    return FoldToFour(half, hn::Add(hn::LowerHalf(half, sum), hn::UpperHalf(half, sum)));
  }
}

template <typename D>
HWY_INLINE void StoreTotals(D d, const hwy::HWY_NAMESPACE::Vec<D> (&sums)[4],
                            hwy::HWY_NAMESPACE::TFromD<D>* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<hn::TFromD<D>, 4> four;
  const auto a = FoldToFour(d, sums[0]);
  const auto b = FoldToFour(d, sums[1]);
  const auto c = FoldToFour(d, sums[2]);
  const auto e = FoldToFour(d, sums[3]);
  const auto ab = hn::Add(hn::ConcatEven(four, b, a), hn::ConcatOdd(four, b, a));
  const auto ce = hn::Add(hn::ConcatEven(four, e, c), hn::ConcatOdd(four, e, c));
  hn::StoreU(hn::Add(hn::ConcatEven(four, ce, ab), hn::ConcatOdd(four, ce, ab)), four, out);
}

#endif  // vectors

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace stoa::knn
HWY_AFTER_NAMESPACE();

#endif  // per target
