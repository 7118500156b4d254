#include "knn/kernels/code_distance.h"

#include <bit>
#include <cstring>
#include <utility>

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/kernels/code_distance.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "knn/kernels/lane_totals_inl.h"

#if HWY_TARGET == HWY_AVX3_DL
// Machines are asked for AVX512-VNNI before this target is chosen, but its own list leaves it out.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
#else
HWY_BEFORE_NAMESPACE();
#endif
namespace stoa::knn {
namespace {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128  // no vectors: one value after the other

struct Codes8 {
  static constexpr auto* Plain = PlainDotCodes8;
};
struct Codes4 {
  static constexpr auto* Plain = PlainDotCodes4;
};
struct Codes1 {
  static constexpr auto* Plain = PlainDotCodes1;
};
struct Signs {
  static constexpr auto* Plain = PlainHammingDistance;
};

template <typename Kind, typename Element>
void SumAll(const Element* query, const uint8_t* const* codes, size_t count, size_t dims, int32_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = Kind::Plain(query, codes[i], dims);
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

template <size_t kCount>
using Each = std::make_index_sequence<kCount>;

using Bytes = hn::CappedTag<uint8_t, 64>;
using ByteVector = hn::Vec<Bytes>;
using SignedBytes = hn::RebindToSigned<Bytes>;
using SignedVector = hn::Vec<SignedBytes>;
using Counts = hn::Repartition<int32_t, Bytes>;
using Shorts = hn::Repartition<int16_t, Bytes>;
using ShortVector = hn::Vec<Shorts>;
using CountVector = hn::Vec<Counts>;

constexpr size_t kLineBytes = 64;
constexpr size_t kLeadBytes = 1024;  // 4096 makes the first codes of a call wait
constexpr size_t kMostLead = 32;

// The first `count` bytes, fewer than a vector's, and zeros; nothing behind them is read.
HWY_INLINE ByteVector LoadFirstBytes(const uint8_t* from, size_t count) {
#if HWY_TARGET <= HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(Bytes(), count), Bytes(), from);
#else
  HWY_ALIGN uint8_t first[hn::MaxLanes(Bytes())] = {};
  std::memcpy(first, from, count);
  return hn::Load(Bytes(), first);
#endif
}

// Adds products of 16-bit lanes, two to a sum.
HWY_INLINE CountVector AddProducts16(CountVector sum, ShortVector a, ShortVector b) {
  CountVector more = hn::Zero(Counts());
  sum = hn::ReorderWidenMulAccumulate(Counts(), a, b, sum, more);
  return hn::Add(sum, more);  // x86 adds nothing to `more`
}

// The query's bytes in 16-bit lanes.
struct SplitQuery {
  ShortVector even;
  ShortVector odd;
};
HWY_INLINE SplitQuery Split(SignedVector query) {
  const auto both = hn::BitCast(Shorts(), query);
  return {hn::ShiftRight<8>(hn::ShiftLeft<8>(both)), hn::ShiftRight<8>(both)};
}
HWY_INLINE CountVector AddSplitProducts(CountVector sum, ByteVector code, const SplitQuery& query) {
  const hn::RebindToUnsigned<Shorts> unsigned_shorts;
  const auto even = hn::And(hn::BitCast(Shorts(), code), hn::Set(Shorts(), int16_t{0xff}));
  const auto odd = hn::ShiftRight<8>(hn::BitCast(unsigned_shorts, code));
  sum = AddProducts16(sum, even, query.even);
  return AddProducts16(sum, hn::BitCast(Shorts(), odd), query.odd);
}

#if HWY_TARGET == HWY_AVX3_DL
HWY_INLINE CountVector AddProducts(CountVector sum, ByteVector code, SignedVector query) {
  return CountVector{_mm512_dpbusd_epi32(sum.raw, code.raw, query.raw)};
}
#elif HWY_TARGET <= HWY_SSSE3
// x86. Products of bytes, added in pairs: they must not exceed 16 bits.
HWY_INLINE ShortVector PairProducts(ByteVector code, SignedVector query) {
#if HWY_TARGET <= HWY_AVX3
  return ShortVector{_mm512_maddubs_epi16(code.raw, query.raw)};
#elif HWY_TARGET == HWY_AVX2
  return ShortVector{_mm256_maddubs_epi16(code.raw, query.raw)};
#else
  return ShortVector{_mm_maddubs_epi16(code.raw, query.raw)};
#endif
}
#endif

// Bytes without sign, up to 127 each.
HWY_INLINE CountVector AddBytes(CountVector sum, ByteVector bytes) {
#if HWY_TARGET == HWY_AVX3_DL
  return AddProducts(sum, bytes, hn::Set(SignedBytes(), int8_t{1}));
#else
  return hn::Add(sum, hn::BitCast(Counts(), hn::SumsOf8(bytes)));
#endif
}

// A kind of codes says how a vector full of them is worked on. Query: the query's part, loaded once for
// several codes; `at` is the offset in codes of `size` bytes.

struct Codes8 {
  static constexpr size_t kChains = 2;
  static size_t SizeOf(size_t dims) { return dims; }
#if HWY_TARGET == HWY_AVX3_DL
  using Query = SignedVector;
  static HWY_INLINE Query Load(const int8_t* query, size_t at, size_t /*size*/) {
    return hn::LoadU(SignedBytes(), query + at);
  }
  static HWY_INLINE CountVector Add(CountVector sum, const Query& query, ByteVector code) {
    return AddProducts(sum, code, query);
  }
#else
  using Query = SplitQuery;
  static HWY_INLINE Query Load(const int8_t* query, size_t at, size_t /*size*/) {
    return Split(hn::LoadU(SignedBytes(), query + at));
  }
  static HWY_INLINE CountVector Add(CountVector sum, const Query& query, ByteVector code) {
    return AddSplitProducts(sum, code, query);
  }
#endif
  // Sizes are multiples of a vector's.
  static HWY_INLINE Query LoadFirst(const int8_t* query, size_t at, size_t size, size_t /*count*/) {
    return Load(query, at, size);
  }
};

struct Codes4 {
  static constexpr size_t kChains = 1;
  struct Query {
    SignedVector low;
    SignedVector high;
  };
  static size_t SizeOf(size_t dims) { return dims / 2; }
  static HWY_INLINE Query Load(const int8_t* query, size_t at, size_t /*size*/) {
#if HWY_TARGET <= HWY_AVX3
    // Two groups of 64 components.
    const auto first = hn::LoadU(SignedBytes(), query + 2 * at);
    const auto second = hn::LoadU(SignedBytes(), query + 2 * at + 64);
    return {hn::ConcatLowerLower(SignedBytes(), second, first),
            hn::ConcatUpperUpper(SignedBytes(), second, first)};
#else
    const int8_t* from = query + at / 32 * 64 + at % 32;
    return {hn::LoadU(SignedBytes(), from), hn::LoadU(SignedBytes(), from + 32)};
#endif
  }
  // One group when a vector holds two.
  static HWY_INLINE Query LoadFirst(const int8_t* query, size_t at, size_t /*size*/, size_t /*count*/) {
    const auto only = hn::LoadU(SignedBytes(), query + 2 * at);
    return {only, hn::ConcatUpperUpper(SignedBytes(), only, only)};
  }
  static HWY_INLINE CountVector Add(CountVector sum, const Query& query, ByteVector code) {
    const auto low = hn::And(code, hn::Set(Bytes(), uint8_t{15}));
    const auto high = hn::ShiftRight<4>(code);
#if HWY_TARGET == HWY_AVX3_DL
    return AddProducts(AddProducts(sum, low, query.low), high, query.high);
#elif HWY_TARGET <= HWY_SSSE3
    const auto pairs = hn::Add(PairProducts(low, query.low), PairProducts(high, query.high));
    return AddProducts16(sum, pairs, hn::Set(Shorts(), int16_t{1}));
#else
    return AddSplitProducts(AddSplitProducts(sum, low, Split(query.low)), high, Split(query.high));
#endif
  }
};

struct Codes1 {
  static constexpr size_t kChains = 1;
  struct Query {
    ByteVector plane0;
    ByteVector plane1;
    ByteVector plane2;
    ByteVector plane3;
  };
  static size_t SizeOf(size_t dims) { return dims / 8; }
  static HWY_INLINE Query Load(const uint64_t* planes, size_t at, size_t size) {
    const auto* from = reinterpret_cast<const uint8_t*>(planes) + at;
    return {hn::LoadU(Bytes(), from), hn::LoadU(Bytes(), from + size), hn::LoadU(Bytes(), from + 2 * size),
            hn::LoadU(Bytes(), from + 3 * size)};
  }
  static HWY_INLINE Query LoadFirst(const uint64_t* planes, size_t at, size_t size, size_t count) {
    const auto* from = reinterpret_cast<const uint8_t*>(planes) + at;
    return {LoadFirstBytes(from, count), LoadFirstBytes(from + size, count),
            LoadFirstBytes(from + 2 * size, count), LoadFirstBytes(from + 3 * size, count)};
  }
  static HWY_INLINE CountVector Add(CountVector sum, const Query& query, ByteVector code) {
    const auto bits0 = hn::PopulationCount(hn::And(query.plane0, code));
    const auto bits1 = hn::PopulationCount(hn::And(query.plane1, code));
    const auto bits2 = hn::PopulationCount(hn::And(query.plane2, code));
    const auto bits3 = hn::PopulationCount(hn::And(query.plane3, code));
#if HWY_TARGET == HWY_AVX3_DL
    sum = AddProducts(sum, bits0, hn::Set(SignedBytes(), int8_t{1}));
    sum = AddProducts(sum, bits1, hn::Set(SignedBytes(), int8_t{2}));
    sum = AddProducts(sum, bits2, hn::Set(SignedBytes(), int8_t{4}));
    return AddProducts(sum, bits3, hn::Set(SignedBytes(), int8_t{8}));
#else
    const auto upper = hn::Add(bits2, hn::Add(bits3, bits3));
    const auto lower = hn::Add(bits0, hn::Add(bits1, bits1));
    const auto doubled = hn::Add(upper, upper);
    return AddBytes(sum, hn::Add(lower, hn::Add(doubled, doubled)));
#endif
  }
};

struct Signs {
  static constexpr size_t kChains = 1;
  using Query = ByteVector;
  static size_t SizeOf(size_t dims) { return dims / 8; }
  static HWY_INLINE Query Load(const uint64_t* query, size_t at, size_t /*size*/) {
    return hn::LoadU(Bytes(), reinterpret_cast<const uint8_t*>(query) + at);
  }
  static HWY_INLINE Query LoadFirst(const uint64_t* query, size_t at, size_t /*size*/, size_t count) {
    return LoadFirstBytes(reinterpret_cast<const uint8_t*>(query) + at, count);
  }
  static HWY_INLINE CountVector Add(CountVector sum, const Query& query, ByteVector code) {
    return AddBytes(sum, hn::PopulationCount(hn::Xor(query, code)));
  }
};

template <typename Kind, typename Element, size_t kCodes, size_t... c>
HWY_INLINE void AddVector(const Element* query, const uint8_t* const (&codes)[kCodes], size_t at, size_t size,
                          CountVector (&sums)[kCodes], std::index_sequence<c...> /*each*/) {
  const auto part = Kind::Load(query, at, size);
  ((sums[c] = Kind::Add(sums[c], part, hn::LoadU(Bytes(), codes[c] + at))), ...);
}

// The last bytes of codes, fewer than a vector's.
template <typename Kind, typename Element, size_t kCodes, size_t... c>
HWY_INLINE void AddFirst(const Element* query, const uint8_t* const (&codes)[kCodes], size_t at, size_t size,
                         CountVector (&sums)[kCodes], std::index_sequence<c...> /*each*/) {
  const auto part = Kind::LoadFirst(query, at, size, size - at);
  ((sums[c] = Kind::Add(sums[c], part, LoadFirstBytes(codes[c] + at, size - at))), ...);
}

template <size_t kCodes, size_t... c>
HWY_INLINE void PrefetchLine(const uint8_t* const (&codes)[kCodes], size_t at,
                             std::index_sequence<c...> /*each*/) {
  (__builtin_prefetch(codes[c] + at), ...);
}

// Codes that are worked on, and as many that are prefetched meanwhile.
struct Group {
  const uint8_t* const* codes;
  const uint8_t* const* ahead;
};

// One query with kCodes codes. Each code has kChains sums, so that an addition does not wait for the one
// before.
template <typename Kind, size_t kCodes, size_t kChains, typename Element, size_t... c, size_t... chain>
HWY_INLINE void SumGroup(const Element* query, Group group, size_t dims, int32_t* out,
                         std::index_sequence<c...> each, std::index_sequence<chain...> /*chains*/) {
  constexpr size_t kVector = hn::MaxLanes(Bytes());
  constexpr size_t kStep = kChains * kVector;
  const size_t size = Kind::SizeOf(dims);
  const uint8_t* const from[kCodes] = {group.codes[c]...};
  const uint8_t* const next[kCodes] = {group.ahead[c]...};
  CountVector sums[kChains][kCodes];
  for (auto& chain_sums : sums) {
    ((chain_sums[c] = hn::Zero(Counts())), ...);
  }
  size_t i = 0;
  for (; i + kStep <= size; i += kStep) {
    for (size_t line = 0; line < kStep; line += kLineBytes) {
      PrefetchLine(next, i + line, each);
    }
    (AddVector<Kind>(query, from, i + chain * kVector, size, sums[chain], each), ...);
  }
  PrefetchLine(next, size - 1, each);
  for (; i + kVector <= size; i += kVector) {
    AddVector<Kind>(query, from, i, size, sums[0], each);
  }
  if (i < size) {
    AddFirst<Kind>(query, from, i, size, sums[0], each);
  }
  for (size_t other = 1; other < kChains; ++other) {
    ((sums[0][c] = hn::Add(sums[0][c], sums[other][c])), ...);
  }
  StoreTotals(Counts(), sums[0], out);
}

// How many codes ahead of the work are prefetched, whole groups of four.
HWY_INLINE size_t LeadOf(size_t size) {
  const size_t codes = kLeadBytes / size / 4 * 4;
  return codes < 4 ? 4 : codes > kMostLead ? kMostLead : codes;
}

template <typename Kind, typename Element>
HWY_INLINE void SumAll(const Element* query, const uint8_t* const* codes, size_t count, size_t dims,
                       int32_t* out) {
  const size_t size = Kind::SizeOf(dims);
  const size_t lead = LeadOf(size);
  for (size_t i = 1; i < lead && i < count; ++i) {
    for (size_t at = 0; at < size; at += kLineBytes) {
      __builtin_prefetch(codes[i] + at);
    }
    __builtin_prefetch(codes[i] + size - 1);
  }
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    // At the end there is nothing more to prefetch: the group itself is at hand.
    const uint8_t* const* ahead = codes + (i + lead + 4 <= count ? i + lead : i);
    SumGroup<Kind, 4, Kind::kChains>(query, Group{codes + i, ahead}, dims, out + i, Each<4>(),
                                     Each<Kind::kChains>());
  }
  for (; i < count; ++i) {
    SumGroup<Kind, 1, 2 * Kind::kChains>(query, Group{codes + i, codes + i}, dims, out + i, Each<1>(),
                                         Each<2 * Kind::kChains>());
  }
}

#endif  // HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void DotCodes8Here(const int8_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                   int32_t* out) {
  SumAll<Codes8>(query, codes, count, dims, out);
}
void DotCodes4Here(const int8_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                   int32_t* out) {
  SumAll<Codes4>(query, codes, count, dims, out);
}
void DotCodes1Here(const uint64_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                   int32_t* out) {
  SumAll<Codes1>(query, codes, count, dims, out);
}
void HammingDistancesHere(const uint64_t* query, const uint8_t* const* codes, size_t count, size_t dims,
                          int32_t* out) {
  SumAll<Signs>(query, codes, count, dims, out);
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
