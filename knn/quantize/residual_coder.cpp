#include "knn/quantize/residual_coder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "knn/quantize/component_kernels.h"

namespace stoa::knn {
namespace {

constexpr double kLargestTerm = 1e37;  // sums of a few of them are finite
// Sixteen levels this many standard deviations apart have the least error with normally distributed values.
constexpr float kBestStep4 = 0.3352F;
constexpr float kMostDeviations8 = 4.0F;  // components beyond are clipped

float Deviation(const RotatedResidual& residual, uint32_t padded_dims) {
  return static_cast<float>(std::sqrt(residual.squared / padded_dims));
}

// The best of some steps: the one with the smallest angle between vector and code.
float BestStep4(const RotatedResidual& residual, const float* rotated, uint32_t padded_dims) {
  constexpr float kFactors[] = {0.76F, 0.84F, 0.92F, 1.0F, 1.08F, 1.17F, 1.27F};
  const float usual = Step4(residual, padded_dims);
  float best = usual;
  float best_cosine = 0;
  for (const float factor : kFactors) {
    const LevelSums sums = Measure4(rotated, padded_dims, 1 / (usual * factor));
    const float cosine = sums.dot * sums.dot / sums.squared;
    if (cosine > best_cosine) {
      best_cosine = cosine;
      best = usual * factor;
    }
  }
  return best;
}

LevelSums EncodePayload(CodeKind kind, const RotatedResidual& residual, const float* rotated,
                        uint32_t padded_dims, uint8_t* payload) {
  switch (kind) {
    case CodeKind::k8Bit:
      return Encode8(rotated, padded_dims, 1 / Step8(residual, rotated, padded_dims), 0x80, payload);
    case CodeKind::k4Bit:
      return Encode4(rotated, padded_dims, 1 / BestStep4(residual, rotated, padded_dims), payload);
    default:
      return EncodeSigns(rotated, padded_dims, payload);
  }
}

double QueryTangent(CodeKind kind) { return kind == CodeKind::k1Bit ? kQueryTangent4 : kQueryTangent8; }

}  // namespace

float BoundedFloat(double value) {
  return static_cast<float>(std::clamp(value, -kLargestTerm, kLargestTerm));
}

float Step4(const RotatedResidual& residual, uint32_t padded_dims) {
  return kBestStep4 * Deviation(residual, padded_dims);
}

float Step8(const RotatedResidual& residual, const float* rotated, uint32_t padded_dims) {
  const float most = kMostDeviations8 * Deviation(residual, padded_dims);
  return std::min(LargestMagnitude(rotated, padded_dims), most) / 127;
}

double CodeTangent(double squared, double dot, double code_squared) {
  return std::sqrt(std::max(0.0, squared * code_squared / (dot * dot) - 1));
}

uint32_t PayloadBytes(CodeKind kind, uint32_t dims, uint32_t padded_dims) {
  switch (kind) {
    case CodeKind::kFloat:
      return (dims * 4 + 15) / 16 * 16;
    case CodeKind::k8Bit:
      return padded_dims;
    case CodeKind::k4Bit:
      return padded_dims / 2;
    default:
      return (padded_dims / 8 + 15) / 16 * 16;
  }
}

void EncodeResidual(CodeKind kind, const VectorFrame& frame, const RotatedResidual& residual,
                    const float* rotated, uint8_t* code) {
  const uint32_t padded_dims = frame.padded_dims();
  const uint32_t payload_bytes = PayloadBytes(kind, frame.dims(), padded_dims);
  CodeHead head{BoundedFloat(frame.OwnTerm(residual)), 0, 0, 0};
  if (!(residual.squared > 0)) {
    // The centre itself: its own term is all there is. The payload is one that other code may read.
    std::memset(code + sizeof(head), kind == CodeKind::k8Bit ? 0x80 : 0, payload_bytes);
    std::memcpy(code, &head, sizeof(head));
    return;
  }
  std::memset(code + sizeof(head) + payload_bytes - 16, 0, 16);
  const LevelSums sums = EncodePayload(kind, residual, rotated, padded_dims, code + sizeof(head));
  const double norm = std::sqrt(residual.squared) * residual.scale;
  const double factor = frame.dot_factor();
  const double unit = factor * kErrorDeviations * norm / frame.spread();
  if (kind == CodeKind::kSign) {
    head.rescale = BoundedFloat(-factor * norm);
    head.error = BoundedFloat(unit * kSignDeviation);
  } else {
    const double tangent = CodeTangent(residual.squared, sums.dot, sums.squared);
    head.rescale = BoundedFloat(-factor * residual.squared / sums.dot * residual.scale);
    head.error = BoundedFloat(unit * std::hypot(tangent, QueryTangent(kind)));
  }
  head.spare = kind == CodeKind::k1Bit ? static_cast<float>(sums.total) : BoundedFloat(norm);
  std::memcpy(code, &head, sizeof(head));
}

}  // namespace stoa::knn
