#include "knn/quantize/component_kernels.h"

#include <cstring>

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/quantize/component_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoa::knn {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Ints = hn::Rebind<int32_t, Floats>;
using Bytes = hn::Rebind<uint8_t, Floats>;
using SignedBytes = hn::Rebind<int8_t, Floats>;
using Float = hn::Vec<Floats>;
using Int = hn::Vec<Ints>;
constexpr size_t kLanes = hn::MaxLanes(Floats());

float Total(Float v) { return hn::GetLane(hn::SumOfLanes(Floats(), v)); }
int32_t Total(Int v) { return hn::GetLane(hn::SumOfLanes(Ints(), v)); }

template <typename Mask>
uint64_t MaskBits(Mask mask) {
  uint64_t bits = 0;
  hn::StoreMaskBits(Floats(), mask, reinterpret_cast<uint8_t*>(&bits));
  return bits;
}

// The sums of levels as they are chosen.
struct Sums {
  Float dot;
  Float squared;
  Int total;

  // Written out: an implicit one would not be compiled for the instruction set.
  Sums() : dot(hn::Zero(Floats())), squared(hn::Zero(Floats())), total(hn::Zero(Ints())) {}
  void Add(Float value, Float level) {
    dot = hn::MulAdd(value, level, dot);
    squared = hn::MulAdd(level, level, squared);
  }
  LevelSums Finish() const { return {Total(dot), Total(squared), Total(total)}; }
};

ResidualSums SubtractHere(const float* vector, const float* center, size_t dims, float* residual) {
  const Floats d;
  Float squared[2] = {hn::Zero(d), hn::Zero(d)};
  Float dot[2] = {hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + 2 * kLanes <= dims; i += 2 * kLanes) {
    for (size_t half = 0; half < 2; ++half) {
      const size_t at = i + half * kLanes;
      const auto v = hn::LoadU(d, vector + at);
      const auto c = hn::LoadU(d, center + at);
      const auto difference = hn::Sub(v, c);
      squared[half] = hn::MulAdd(difference, difference, squared[half]);
      dot[half] = hn::MulAdd(v, c, dot[half]);
      hn::StoreU(difference, d, residual + at);
    }
  }
  ResidualSums sums{Total(hn::Add(squared[0], squared[1])), Total(hn::Add(dot[0], dot[1]))};
  for (; i < dims; ++i) {
    residual[i] = vector[i] - center[i];
    sums.squared += residual[i] * residual[i];
    sums.center_dot += vector[i] * center[i];
  }
  return sums;
}

float LargestMagnitudeHere(const float* values, size_t dims) {
  const Floats d;
  auto largest = hn::Zero(d);
  for (size_t i = 0; i < dims; i += kLanes) {
    largest = hn::Max(largest, hn::Abs(hn::LoadU(d, values + i)));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

LevelSums EncodeSignsHere(const float* values, size_t dims, uint8_t* code) {
  const Floats d;
  const auto zero = hn::Zero(d);
  auto magnitude = zero;
  int32_t positive = 0;
  for (size_t word = 0; word < dims / 64; ++word) {
    uint64_t here = 0;
    for (size_t lane = 0; lane < 64; lane += kLanes) {
      const auto v = hn::LoadU(d, values + word * 64 + lane);
      magnitude = hn::Add(magnitude, hn::Abs(v));
      here |= MaskBits(hn::Ge(v, zero)) << lane;
    }
    std::memcpy(code + word * 8, &here, sizeof(here));
    positive += static_cast<int32_t>(hwy::PopCount(here));
  }
  return {Total(magnitude), static_cast<float>(dims), positive};
}

// x + 7.5
Float Level4(Float value, Float inverse_step) {
  const Floats d;
  const auto scaled = hn::MulAdd(value, inverse_step, hn::Set(d, 7.5f));
  return hn::Round(hn::Min(hn::Max(scaled, hn::Zero(d)), hn::Set(d, 15.0f)));
}

LevelSums Measure4Here(const float* values, size_t dims, float inverse_step) {
  const Floats d;
  const auto factor = hn::Set(d, inverse_step);
  Sums even;
  Sums odd;
  for (size_t i = 0; i < dims; i += 2 * kLanes) {
    const auto v0 = hn::LoadU(d, values + i);
    const auto v1 = hn::LoadU(d, values + i + kLanes);
    even.Add(v0, hn::Sub(Level4(v0, factor), hn::Set(d, 7.5f)));
    odd.Add(v1, hn::Sub(Level4(v1, factor), hn::Set(d, 7.5f)));
  }
  return {Total(hn::Add(even.dot, odd.dot)), Total(hn::Add(even.squared, odd.squared)), 0};
}

Int Take4(const float* value, Float inverse_step, Sums& sums) {
  const Floats d;
  const auto v = hn::LoadU(d, value);
  const auto level = Level4(v, inverse_step);
  sums.Add(v, hn::Sub(level, hn::Set(d, 7.5f)));
  const auto code = hn::ConvertTo(Ints(), level);
  sums.total = hn::Add(sums.total, code);
  return code;
}

LevelSums Encode4Here(const float* values, size_t dims, float inverse_step, uint8_t* code) {
  const auto factor = hn::Set(Floats(), inverse_step);
  Sums sums;
  for (size_t group = 0; group < dims; group += 64) {
    for (size_t i = 0; i < 32; i += kLanes) {
      const auto low = Take4(values + group + i, factor, sums);
      const auto high = Take4(values + group + i + 32, factor, sums);
      const auto both = hn::Or(low, hn::ShiftLeft<4>(high));
      hn::StoreU(hn::DemoteTo(Bytes(), both), Bytes(), code + group / 2 + i);
    }
  }
  return sums.Finish();
}

LevelSums EncodePlanesHere(const float* values, size_t dims, float inverse_step, uint64_t* planes) {
  const Ints ints;
  const auto factor = hn::Set(Floats(), inverse_step);
  const size_t words = dims / 64;
  Sums sums;
  for (size_t word = 0; word < words; ++word) {
    uint64_t bits[4] = {0, 0, 0, 0};
    for (size_t lane = 0; lane < 64; lane += kLanes) {
      const auto level = Take4(values + word * 64 + lane, factor, sums);
      for (size_t plane = 0; plane < 4; ++plane) {
        const auto set = hn::TestBit(level, hn::Set(ints, 1 << plane));
        bits[plane] |= MaskBits(hn::RebindMask(Floats(), set)) << lane;
      }
    }
    for (size_t plane = 0; plane < 4; ++plane) {
      planes[plane * words + word] = bits[plane];
    }
  }
  return sums.Finish();
}

LevelSums Encode8Here(const float* values, size_t dims, float inverse_step, uint8_t flip, uint8_t* code) {
  const Floats d;
  const auto factor = hn::Set(d, inverse_step);
  const auto largest = hn::Set(d, 127.0f);
  const auto flips = hn::Set(Bytes(), flip);
  Sums sums;
  for (size_t i = 0; i < dims; i += kLanes) {
    const auto v = hn::LoadU(d, values + i);
    const auto level = hn::Round(hn::Min(hn::Max(hn::Mul(v, factor), hn::Neg(largest)), largest));
    sums.Add(v, level);
    const auto whole = hn::ConvertTo(Ints(), level);
    sums.total = hn::Add(sums.total, whole);
    const auto bytes = hn::BitCast(Bytes(), hn::DemoteTo(SignedBytes(), whole));
    hn::StoreU(hn::Xor(bytes, flips), Bytes(), code + i);
  }
  return sums.Finish();
}

using ManyBytes = hn::CappedTag<uint8_t, 64>;

int32_t LevelsOf8Here(const uint8_t* code, size_t dims, int8_t* levels) {
#if HWY_TARGET == HWY_SCALAR
  int32_t total = 0;
  for (size_t i = 0; i < dims; ++i) {
    levels[i] = static_cast<int8_t>(code[i] ^ 0x80);
    total += levels[i];
  }
  return total;
#else
  const ManyBytes d;
  const hn::Repartition<uint64_t, ManyBytes> words;
  const auto flip = hn::Set(d, uint8_t{0x80});
  auto total = hn::Zero(words);
  for (size_t i = 0; i < dims; i += hn::MaxLanes(d)) {
    const auto v = hn::LoadU(d, code + i);
    total = hn::Add(total, hn::SumsOf8(v));
    hn::StoreU(hn::Xor(v, flip), d, reinterpret_cast<uint8_t*>(levels) + i);
  }
  const auto codes = static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(words, total)));
  return static_cast<int32_t>(codes - 128 * static_cast<int64_t>(dims));
#endif
}

int32_t LevelsOf4Here(const uint8_t* code, size_t dims, int8_t* levels) {
#if HWY_TARGET == HWY_SCALAR
  int32_t total = 0;
  for (size_t i = 0; i < dims; ++i) {
    const unsigned byte = code[i / 64 * 32 + i % 32];
    levels[i] = static_cast<int8_t>(2 * static_cast<int>(i % 64 < 32 ? byte & 15 : byte >> 4) - 15);
    total += levels[i];
  }
  return total;
#else
  const hn::CappedTag<uint8_t, 32> d;
  const hn::RebindToSigned<decltype(d)> bytes;
  const hn::Repartition<uint16_t, decltype(d)> pairs;
  const hn::Repartition<uint64_t, decltype(d)> words;
  const auto low_half = hn::Set(d, uint8_t{15});
  const auto middle = hn::Set(bytes, int8_t{15});
  auto total = hn::Zero(words);
  for (size_t i = 0; i < dims / 2; i += hn::MaxLanes(d)) {
    const auto v = hn::LoadU(d, code + i);
    const auto low = hn::And(v, low_half);
    const auto high = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(pairs, v))), low_half);
    total = hn::Add(total, hn::SumsOf8(hn::Add(low, high)));
    int8_t* out = levels + i / 32 * 64 + i % 32;
    hn::StoreU(hn::Sub(hn::BitCast(bytes, hn::Add(low, low)), middle), bytes, out);
    hn::StoreU(hn::Sub(hn::BitCast(bytes, hn::Add(high, high)), middle), bytes, out + 32);
  }
  const auto codes = static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(words, total)));
  return static_cast<int32_t>(2 * codes - 15 * static_cast<int64_t>(dims));
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace stoa::knn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoa::knn {
namespace {
HWY_EXPORT(SubtractHere);
HWY_EXPORT(LargestMagnitudeHere);
HWY_EXPORT(EncodeSignsHere);
HWY_EXPORT(Measure4Here);
HWY_EXPORT(Encode4Here);
HWY_EXPORT(EncodePlanesHere);
HWY_EXPORT(Encode8Here);
HWY_EXPORT(LevelsOf8Here);
HWY_EXPORT(LevelsOf4Here);
}  // namespace

ResidualSums Subtract(const float* vector, const float* center, size_t dims, float* residual) {
  return HWY_DYNAMIC_DISPATCH(SubtractHere)(vector, center, dims, residual);
}

float LargestMagnitude(const float* values, size_t dims) {
  return HWY_DYNAMIC_DISPATCH(LargestMagnitudeHere)(values, dims);
}

LevelSums EncodeSigns(const float* values, size_t dims, uint8_t* code) {
  return HWY_DYNAMIC_DISPATCH(EncodeSignsHere)(values, dims, code);
}

LevelSums Measure4(const float* values, size_t dims, float inverse_step) {
  return HWY_DYNAMIC_DISPATCH(Measure4Here)(values, dims, inverse_step);
}

LevelSums Encode4(const float* values, size_t dims, float inverse_step, uint8_t* code) {
  return HWY_DYNAMIC_DISPATCH(Encode4Here)(values, dims, inverse_step, code);
}

LevelSums EncodePlanes(const float* values, size_t dims, float inverse_step, uint64_t* planes) {
  return HWY_DYNAMIC_DISPATCH(EncodePlanesHere)(values, dims, inverse_step, planes);
}

LevelSums Encode8(const float* values, size_t dims, float inverse_step, uint8_t flip, uint8_t* code) {
  return HWY_DYNAMIC_DISPATCH(Encode8Here)(values, dims, inverse_step, flip, code);
}

int32_t LevelsOf8(const uint8_t* code, size_t dims, int8_t* levels) {
  return HWY_DYNAMIC_DISPATCH(LevelsOf8Here)(code, dims, levels);
}

int32_t LevelsOf4(const uint8_t* code, size_t dims, int8_t* levels) {
  return HWY_DYNAMIC_DISPATCH(LevelsOf4Here)(code, dims, levels);
}

}  // namespace stoa::knn
#endif  // HWY_ONCE
