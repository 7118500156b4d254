#include "knn/quantize/vector_frame.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "knn/quantize/component_kernels.h"

namespace stoa::knn {
namespace {

// Between these, single precision serves for the squares of the components and for the sums of a rotation.
constexpr float kLeastSquared = 1e-20F;
constexpr float kMostSquared = 1e20F;

uint32_t PaddedDims(size_t dims) { return static_cast<uint32_t>((dims + 63) / 64 * 64); }

double Finite(float value) { return std::isfinite(value) ? value : 0; }

}  // namespace

VectorFrame::VectorFrame(Metric metric, std::vector<float> center, uint64_t rotation_seed)
    : metric_(metric),
      rotation_seed_(rotation_seed),
      center_(std::move(center)),
      rotation_(PaddedDims(center_.size()), rotation_seed),
      spread_(std::sqrt(rotation_.padded_dims() - 1.0)) {
  for (const double value : center_) {
    center_squared_ += value * value;
  }
}

RotatedResidual VectorFrame::Rotate(const float* vector, float* rotated) const {
  const ResidualSums sums = Subtract(vector, center_.data(), center_.size(), rotated);
  RotatedResidual residual{sums.squared, 1, sums.center_dot};
  // Written so that NaN takes the other way.
  const bool ordinary = sums.squared > kLeastSquared && sums.squared < kMostSquared &&
                        std::abs(sums.center_dot) < kMostSquared && center_squared_ < kMostSquared;
  if (!ordinary) {
    residual = Rescaled(vector, rotated);
  }
  std::fill(rotated + dims(), rotated + padded_dims(), 0.0F);
  rotation_.Apply(rotated);
  return residual;
}

// In double, and divided by a power of two near the largest component.
RotatedResidual VectorFrame::Rescaled(const float* vector, float* residual) const {
  RotatedResidual result;
  double largest = 0;
  for (size_t i = 0; i < center_.size(); ++i) {
    const double value = Finite(vector[i]);
    largest = std::max(largest, std::abs(value - center_[i]));
    result.center_dot += value * center_[i];
  }
  if (largest > 0) {
    result.scale = std::ldexp(1.0, std::ilogb(largest));
  }
  for (size_t i = 0; i < center_.size(); ++i) {
    const double value = (Finite(vector[i]) - center_[i]) / result.scale;
    residual[i] = static_cast<float>(value);
    result.squared += value * value;
  }
  return result;
}

double VectorFrame::OwnTerm(const RotatedResidual& residual) const {
  if (metric_ == Metric::kL2) {
    return residual.squared * residual.scale * residual.scale;
  }
  // 1 − a·b, with a·b = residuals' dot + a·c + b·c − c·c; constants are shared between both.
  return 0.5 - residual.center_dot + 0.5 * center_squared_;
}

}  // namespace stoa::knn
