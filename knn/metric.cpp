#include "knn/metric.h"

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

}  // namespace stoa::knn
