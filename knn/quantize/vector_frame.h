#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knn/metric.h"
#include "knn/quantize/rotation.h"

namespace stoa::knn {

// What is known of a vector after its rotation. The components stand elsewhere, divided by `scale`.
struct RotatedResidual {
  double squared = 0;     // sum of the squares of the components as they stand
  double scale = 1;       // a power of two
  double center_dot = 0;  // vector · center
};

// The coordinates in which vectors are coded: about a centre and rotated. All kinds of codes of a column
// share one. Numbers that are not finite count as 0. Immutable, safe to share.
class VectorFrame {
 public:
  VectorFrame(Metric metric, std::vector<float> center, uint64_t rotation_seed);

  Metric metric() const { return metric_; }
  uint32_t dims() const { return static_cast<uint32_t>(center_.size()); }
  uint32_t padded_dims() const { return rotation_.padded_dims(); }
  uint64_t rotation_seed() const { return rotation_seed_; }
  std::span<const float> center() const { return center_; }

  // Writes padded_dims floats of ordinary size: squares of them neither overflow nor vanish.
  RotatedResidual Rotate(const float* vector, float* rotated) const;
  // The share of one of two vectors in their distance: distance = own + other's own − factor · dot of
  // residuals.
  double OwnTerm(const RotatedResidual& residual) const;
  double dot_factor() const { return metric_ == Metric::kL2 ? 2 : 1; }
  // √(padded_dims − 1): a random direction's component along a fixed one is about 1 in this.
  double spread() const { return spread_; }

 private:
  RotatedResidual Rescaled(const float* vector, float* residual) const;

  Metric metric_;
  uint64_t rotation_seed_;
  std::vector<float> center_;
  double center_squared_ = 0;
  Rotation rotation_;
  double spread_;
};

}  // namespace stoa::knn
