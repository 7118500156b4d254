#include "knn/metric.h"

#include <cmath>

namespace stoa::knn {

std::optional<Metric> MetricOf(std::string_view similarity) {
  if (similarity == "l2") {
    return Metric::kL2;
  }
  if (similarity == "ip") {
    return Metric::kInnerProduct;
  }
  if (similarity == "cosine") {
    return Metric::kCosine;
  }
  return std::nullopt;
}

void Normalise(std::span<float> vector) {
  double square = 0;
  for (const float value : vector) {
    square += double{value} * double{value};
  }
  if (square == 0) {
    return;
  }
  const double scale = 1 / std::sqrt(square);
  for (float& value : vector) {
    value = static_cast<float>(double{value} * scale);
  }
}

}  // namespace stoa::knn
