#include "storage/column/number_kernels.h"

#include <array>
#include <bit>
#include <cstring>

#include "storage/column/number_kernels_reference.h"

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "storage/column/number_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// A step fills 64 bytes of lanes: 32 of 16 bits, 16 of 32 or 8 of 64. So a step's packed values begin at a
// byte, and its four blocks of 16 bytes of lanes need the same shuffles in every step, whatever the size of a
// vector. A lane gets the bytes its value lies in, is shifted left until the value's top bit is the lane's,
// and right again, which drops what belongs to the neighbours.
#ifndef STOA_NUMBER_KERNELS_PATTERNS
#define STOA_NUMBER_KERNELS_PATTERNS
namespace stoa::storage {
namespace {

constexpr size_t kStepBytes = 64;

template <typename T>
struct StepPattern {
  std::array<uint8_t, kStepBytes> shuffle{};        // byte of the block's load for each byte of its lanes
  std::array<T, kStepBytes / sizeof(T)> left{};     // shift to the left; of 16-bit lanes the factor
  std::array<uint16_t, kStepBytes / 16> load_at{};  // where a block's load begins, from the step's first byte
  std::array<uint8_t, kStepBytes> permute{};        // as shuffle, from the step's first byte
};

// Whether any value of this width lies within the lanes' number of bytes.
constexpr bool LanesFit(unsigned width, unsigned lane_bits) {
  const unsigned low_bit = width & (~width + 1);
  const unsigned last_start = low_bit >= 8 ? 0 : 8 - low_bit;
  return width != 0 && width + last_start <= lane_bits;
}

template <typename T>
constexpr StepPattern<T> MakePattern(unsigned width) {
  StepPattern<T> pattern;
  constexpr size_t kBlockLanes = 16 / sizeof(T);
  for (size_t lane = 0; lane < kStepBytes / sizeof(T); ++lane) {
    const size_t block_start = lane / kBlockLanes * kBlockLanes * width / 8;
    const size_t start = lane * width / 8;
    const size_t left = 8 * sizeof(T) - width - lane * width % 8;
    pattern.load_at[lane / kBlockLanes] = static_cast<uint16_t>(block_start);
    pattern.left[lane] = static_cast<T>(sizeof(T) == 2 ? uint64_t{1} << left : left);
    for (size_t byte = 0; byte < sizeof(T); ++byte) {
      pattern.shuffle[lane * sizeof(T) + byte] = static_cast<uint8_t>(start - block_start + byte);
      pattern.permute[lane * sizeof(T) + byte] = static_cast<uint8_t>((start + byte) % kStepBytes);
    }
  }
  return pattern;
}

template <typename T>
constexpr auto MakePatterns() {
  std::array<StepPattern<T>, 8 * sizeof(T) + 1> patterns{};
  for (unsigned width = 0; width < patterns.size(); ++width) {
    if (LanesFit(width, 8 * sizeof(T))) {
      patterns[width] = MakePattern<T>(width);
    }
  }
  return patterns;
}

template <typename T>
inline constexpr auto kPatterns = MakePatterns<T>();

}  // namespace
}  // namespace stoa::storage
#endif  // STOA_NUMBER_KERNELS_PATTERNS

HWY_BEFORE_NAMESPACE();
namespace stoa::storage {
namespace {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void SelectPackedHere(const char* packed, unsigned width, size_t count, uint64_t low, uint64_t high,
                      uint64_t* mask) {
  std::memset(mask, 0, (count + 63) / 64 * sizeof(*mask));
  for (size_t i = 0; i < count; ++i) {
    const uint64_t passes = PackedAt(packed, width, i) - low <= high - low ? 1 : 0;
    mask[i / 64] |= passes << (i % 64);
  }
}

void UnpackKeysHere(const char* packed, unsigned width, size_t count, uint64_t base, uint64_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = base + PackedAt(packed, width, i);
  }
}

void UnpackCodesHere(const char* packed, unsigned width, size_t count, uint16_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<uint16_t>(PackedAt(packed, width, i));
  }
}

void DecimalsToFloatsHere(const uint64_t* keys, size_t count, unsigned digits, float* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = FloatOfDecimalKey(keys[i], digits);
  }
}

void OrderedToFloatsHere(const uint64_t* keys, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = FloatOfOrderedBits(static_cast<uint32_t>(keys[i]));
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Lanes = hn::CappedTag<T, kStepBytes / sizeof(T)>;

template <typename T>
hn::Vec<Lanes<T> > ShiftLeft(hn::Vec<Lanes<T> > value, const T* left) {
  const auto amount = hn::LoadU(Lanes<T>(), left);
  if constexpr (sizeof(T) == 2) {
    return hn::Mul(value, amount);
  } else {
    return hn::Shl(value, amount);
  }
}

// The blocks of one vector, each loaded from where its own values begin.
template <typename T>
hn::Vec<Lanes<uint8_t> > LoadBlocks(const uint8_t* step, const StepPattern<T>& pattern, size_t block) {
  const Lanes<uint8_t> d;
  constexpr size_t kBlocks = hn::MaxLanes(Lanes<uint8_t>()) / 16;
  if constexpr (kBlocks == 1) {
    return hn::LoadU(d, step + pattern.load_at[block]);
  } else {
    const hn::Half<Lanes<uint8_t> > half;
    const hn::FixedTag<uint8_t, 16> one;
    const auto load = [&](size_t i) HWY_ATTR { return hn::LoadU(one, step + pattern.load_at[block + i]); };
    if constexpr (kBlocks == 2) {
      return hn::Combine(d, load(1), load(0));
    } else {
      return hn::Combine(d, hn::Combine(half, load(3), load(2)), hn::Combine(half, load(1), load(0)));
    }
  }
}

// Lanes [first, first + Lanes(d)) of the step at `step`.
template <typename T>
hn::Vec<Lanes<T> > UnpackVector(const uint8_t* step, const StepPattern<T>& pattern, size_t first, int right) {
  const Lanes<T> d;
  const Lanes<uint8_t> bytes;
  const size_t byte = first * sizeof(T);
#if HWY_TARGET == HWY_AVX3_DL
  // One load and one permutation across the vector (VBMI) instead of four loads.
  const auto all = hn::LoadU(bytes, step);
  const auto index = hn::LoadU(bytes, pattern.permute.data());
  const auto spread = hn::Vec<Lanes<uint8_t> >{_mm512_permutexvar_epi8(index.raw, all.raw)};
#else
  const auto spread = hn::TableLookupBytes(LoadBlocks(step, pattern, byte / 16),
                                           hn::LoadU(bytes, pattern.shuffle.data() + byte));
#endif
  return hn::ShiftRightSame(ShiftLeft<T>(hn::BitCast(d, spread), pattern.left.data() + first), right);
}

template <typename T>
uint64_t OutOfRange(hn::Vec<Lanes<T> > value, hn::Vec<Lanes<T> > low, hn::Vec<Lanes<T> > span) {
  const Lanes<T> d;
  uint64_t bits = 0;
  hn::StoreMaskBits(d, hn::Gt(hn::Sub(value, low), span), reinterpret_cast<uint8_t*>(&bits));
  return bits;
}

template <typename T>
void SelectLanes(const uint8_t* packed, unsigned width, size_t count, uint64_t low, uint64_t high,
                 uint8_t* mask) {
  const Lanes<T> d;
  constexpr size_t kStep = kStepBytes / sizeof(T);
  const StepPattern<T>& pattern = kPatterns<T>[width];
  const auto low_lanes = hn::Set(d, static_cast<T>(low));
  const auto span = hn::Set(d, static_cast<T>(high - low));
  const int right = static_cast<int>(8 * sizeof(T) - width);
  for (size_t done = 0; done < count; done += kStep) {
    uint64_t bits = 0;
    for (size_t lane = 0; lane < kStep; lane += hn::Lanes(d)) {
      bits |= OutOfRange<T>(UnpackVector<T>(packed, pattern, lane, right), low_lanes, span) << lane;
    }
    bits = ~bits;
    std::memcpy(mask + done / 8, &bits, kStep / 8);
    packed += width * kStep / 8;
  }
}

void SelectPackedHere(const char* packed, unsigned width, size_t count, uint64_t low, uint64_t high,
                      uint64_t* mask) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(packed);
  auto* bits = reinterpret_cast<uint8_t*>(mask);
  if (LanesFit(width, 16)) {
    SelectLanes<uint16_t>(bytes, width, count, low, high, bits);
  } else if (LanesFit(width, 32)) {
    SelectLanes<uint32_t>(bytes, width, count, low, high, bits);
  } else {
    SelectLanes<uint64_t>(bytes, width, count, low, high, bits);
  }
}

void UnpackKeysHere(const char* packed, unsigned width, size_t count, uint64_t base, uint64_t* out) {
  const Lanes<uint64_t> d;
  const auto* bytes = reinterpret_cast<const uint8_t*>(packed);
  const StepPattern<uint64_t>& pattern = kPatterns<uint64_t>[width];
  const auto base_lanes = hn::Set(d, base);
  const int right = static_cast<int>(64 - width);
  for (size_t done = 0; done < count; done += 8) {
    for (size_t lane = 0; lane < 8; lane += hn::Lanes(d)) {
      const auto value = UnpackVector<uint64_t>(bytes, pattern, lane, right);
      hn::StoreU(hn::Add(value, base_lanes), d, out + done + lane);
    }
    bytes += width;
  }
}

void UnpackCodesHere(const char* packed, unsigned width, size_t count, uint16_t* out) {
  const Lanes<uint16_t> d;
  const auto* bytes = reinterpret_cast<const uint8_t*>(packed);
  const StepPattern<uint16_t>& pattern = kPatterns<uint16_t>[width];
  const int right = static_cast<int>(16 - width);
  for (size_t done = 0; done < count; done += 32) {
    for (size_t lane = 0; lane < 32; lane += hn::Lanes(d)) {
      hn::StoreU(UnpackVector<uint16_t>(bytes, pattern, lane, right), d, out + done + lane);
    }
    bytes += 4 * width;
  }
}

void DecimalsToFloatsHere(const uint64_t* keys, size_t count, unsigned digits, float* out) {
  const Lanes<uint64_t> d;
  const hn::RebindToFloat<Lanes<uint64_t> > doubles;
  const hn::Rebind<float, Lanes<uint64_t> > floats;
  // The bits of 2^52 with a key below 2^32 in its mantissa are 2^52 + key.
  const auto mantissa = hn::Set(d, uint64_t{0x4330000000000000});
  const auto bias = hn::Set(doubles, 4503599627370496.0 + 2147483648.0);
  const auto power = hn::Set(doubles, kPowersOfTen[digits]);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto number = hn::BitCast(doubles, hn::Or(hn::LoadU(d, keys + i), mantissa));
    hn::StoreU(hn::DemoteTo(floats, hn::Div(hn::Sub(number, bias), power)), floats, out + i);
  }
}

void OrderedToFloatsHere(const uint64_t* keys, size_t count, float* out) {
  const Lanes<uint64_t> d;
  const hn::Rebind<uint32_t, Lanes<uint64_t> > narrow;
  const hn::Rebind<float, Lanes<uint64_t> > floats;
  const auto sign = hn::Set(d, uint64_t{0x80000000});
  const auto one = hn::Set(d, uint64_t{1});
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto key = hn::LoadU(d, keys + i);
    const auto inverted = hn::Sub(hn::ShiftRight<31>(key), one);  // all ones for negative floats
    const auto bits = hn::TruncateTo(narrow, hn::Xor(key, hn::Or(inverted, sign)));
    hn::StoreU(hn::BitCast(floats, bits), floats, out + i);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

const char* TargetNameHere() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace stoa::storage
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoa::storage {
namespace {
HWY_EXPORT(SelectPackedHere);
HWY_EXPORT(UnpackKeysHere);
HWY_EXPORT(UnpackCodesHere);
HWY_EXPORT(DecimalsToFloatsHere);
HWY_EXPORT(OrderedToFloatsHere);
HWY_EXPORT(TargetNameHere);
}  // namespace

unsigned PackedWidth(uint64_t range) {
  const auto width = static_cast<unsigned>(std::bit_width(range));
  return width > 57 ? 64 : width;
}

void UnpackKeys(const char* packed, unsigned width, size_t count, uint64_t base, uint64_t* out) {
  if (width == 0) {
    for (size_t i = 0; i < count; ++i) {
      out[i] = base;
    }
    return;
  }
  HWY_DYNAMIC_DISPATCH(UnpackKeysHere)(packed, width, count, base, out);
}

void UnpackCodes(const char* packed, unsigned width, size_t count, uint16_t* out) {
  if (width == 0) {
    std::memset(out, 0, count * sizeof(*out));
    return;
  }
  HWY_DYNAMIC_DISPATCH(UnpackCodesHere)(packed, width, count, out);
}

void SelectPacked(const char* packed, unsigned width, size_t count, uint64_t low, uint64_t high,
                  uint64_t* mask) {
  const uint64_t most = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const bool none = low > high || low > most;
  if (none || (low == 0 && high >= most)) {
    std::memset(mask, none ? 0 : 0xff, (count + 63) / 64 * sizeof(*mask));
    return;
  }
  HWY_DYNAMIC_DISPATCH(SelectPackedHere)(packed, width, count, low, high < most ? high : most, mask);
}

void DecimalsToFloats(const uint64_t* keys, size_t count, unsigned digits, float* out) {
  HWY_DYNAMIC_DISPATCH(DecimalsToFloatsHere)(keys, count, digits, out);
}

void OrderedToFloats(const uint64_t* keys, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(OrderedToFloatsHere)(keys, count, out);
}

const char* NumberKernelTarget() { return HWY_DYNAMIC_DISPATCH(TargetNameHere)(); }

}  // namespace stoa::storage
#endif  // HWY_ONCE
