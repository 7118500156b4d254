#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoa::knn {

// A random orthogonal map, in O(n log n): four rounds, each of random sign flips, a Hadamard transform of the
// largest power of two of components (the leading ones and the trailing ones in turn), and, if that is not
// all of them, a mixing of the two halves. Derived from the seed alone, the same on every machine: codes in
// files depend on it. Immutable, safe to share.
class Rotation {
 public:
  static constexpr uint32_t kRounds = 4;

  // padded_dims: a multiple of 64.
  Rotation(uint32_t padded_dims, uint64_t seed);

  uint32_t padded_dims() const { return padded_dims_; }
  // In place. Components are below 1e15, so that no sum overflows.
  void Apply(float* values) const;

 private:
  uint32_t padded_dims_;
  uint32_t block_;               // components of one Hadamard transform
  std::vector<uint64_t> flips_;  // a bit a component, round after round
};

}  // namespace stoa::knn
