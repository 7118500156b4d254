#include "knn/quantize/rotation.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "storage/base/check.h"

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/quantize/rotation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoa::knn {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
constexpr size_t kLanes = hn::MaxLanes(Floats());

// The stages of a Hadamard transform whose partners lie in one vector: lane i becomes its sum with lane i + h
// if bit h of i is not set, else the difference.
hn::Vec<Floats> TransformLanes(hn::Vec<Floats> v) {
#if HWY_TARGET != HWY_SCALAR
  const Floats d;
  HWY_ALIGN static constexpr float kSigns[4][16] = {
      {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1},
      {1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1},
      {1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1},
      {1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1},
  };
  v = hn::MulAdd(v, hn::LoadU(d, kSigns[0]), hn::Shuffle2301(v));
  v = hn::MulAdd(v, hn::LoadU(d, kSigns[1]), hn::Shuffle1032(v));
  if constexpr (kLanes == 8) {
    v = hn::MulAdd(v, hn::LoadU(d, kSigns[2]), hn::ConcatLowerUpper(d, v, v));
  }
  if constexpr (kLanes == 16) {
    v = hn::MulAdd(v, hn::LoadU(d, kSigns[2]), hn::SwapAdjacentBlocks(v));
    v = hn::MulAdd(v, hn::LoadU(d, kSigns[3]), hn::ConcatLowerUpper(d, v, v));
  }
#endif
  return v;
}

hn::Vec<Floats> LoadFlipped(const float* values, const uint64_t* flips, size_t i) {
  const Floats d;
  const uint64_t bits = flips[i / 64] >> (i % 64);
  const auto negative = hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&bits));
  const auto v = hn::LoadU(d, values + i);
  return hn::IfThenElse(negative, hn::Neg(v), v);
}

void Flip(float* values, const uint64_t* flips, size_t first, size_t end) {
  for (size_t i = first; i < end; i += kLanes) {
    hn::StoreU(LoadFlipped(values, flips, i), Floats(), values + i);
  }
}

// Flips signs, scales, and does the first stages of the transform.
void FlipAndTransformLanes(float* values, const uint64_t* flips, size_t first, size_t end, float scale) {
  const auto factor = hn::Set(Floats(), scale);
  for (size_t i = first; i < end; i += kLanes) {
    hn::StoreU(TransformLanes(hn::Mul(LoadFlipped(values, flips, i), factor)), Floats(), values + i);
  }
}

// Two stages at once: partners are h and 2h apart.
void TransformTwice(float* values, size_t count, size_t h) {
  const Floats d;
  for (size_t start = 0; start < count; start += 4 * h) {
    for (size_t i = start; i < start + h; i += kLanes) {
      const auto v0 = hn::LoadU(d, values + i);
      const auto v1 = hn::LoadU(d, values + i + h);
      const auto v2 = hn::LoadU(d, values + i + 2 * h);
      const auto v3 = hn::LoadU(d, values + i + 3 * h);
      const auto sum01 = hn::Add(v0, v1);
      const auto sum23 = hn::Add(v2, v3);
      const auto difference01 = hn::Sub(v0, v1);
      const auto difference23 = hn::Sub(v2, v3);
      hn::StoreU(hn::Add(sum01, sum23), d, values + i);
      hn::StoreU(hn::Add(difference01, difference23), d, values + i + h);
      hn::StoreU(hn::Sub(sum01, sum23), d, values + i + 2 * h);
      hn::StoreU(hn::Sub(difference01, difference23), d, values + i + 3 * h);
    }
  }
}

// Pairs a, b that lie `h` apart become (a + b) · scale, (a − b) · scale.
void TransformOnce(float* values, size_t count, size_t h, float scale) {
  const Floats d;
  const auto factor = hn::Set(d, scale);
  for (size_t start = 0; start < count; start += 2 * h) {
    for (size_t i = start; i < start + h; i += kLanes) {
      const auto a = hn::LoadU(d, values + i);
      const auto b = hn::LoadU(d, values + i + h);
      hn::StoreU(hn::Mul(hn::Add(a, b), factor), d, values + i);
      hn::StoreU(hn::Mul(hn::Sub(a, b), factor), d, values + i + h);
    }
  }
}

void RotateHere(float* values, size_t dims, size_t block, const uint64_t* flips) {
  const float scale = 1 / std::sqrt(static_cast<float>(block));
  for (uint32_t round = 0; round < Rotation::kRounds; ++round) {
    const size_t first = round % 2 == 0 ? 0 : dims - block;
    Flip(values, flips, 0, first);
    FlipAndTransformLanes(values, flips, first, first + block, scale);
    Flip(values, flips, first + block, dims);
    size_t h = kLanes;
    for (; 4 * h <= block; h *= 4) {
      TransformTwice(values + first, block, h);
    }
    if (h < block) {
      TransformOnce(values + first, block, h, 1);
    }
    if (block < dims) {
      TransformOnce(values, dims, dims / 2, std::numbers::sqrt2_v<float> / 2);
    }
    flips += dims / 64;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace stoa::knn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoa::knn {
namespace {
HWY_EXPORT(RotateHere);

// The generator SplitMix64; part of the format of codes.
uint64_t NextBits(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Rotation::Rotation(uint32_t padded_dims, uint64_t seed)
    : padded_dims_(padded_dims), block_(std::bit_floor(padded_dims)), flips_(kRounds * padded_dims / 64) {
  STOA_CHECK(padded_dims > 0 && padded_dims % 64 == 0);
  for (uint64_t& word : flips_) {
    word = NextBits(seed);
  }
}

void Rotation::Apply(float* values) const {
  HWY_DYNAMIC_DISPATCH(RotateHere)(values, padded_dims_, block_, flips_.data());
}

}  // namespace stoa::knn
#endif  // HWY_ONCE
