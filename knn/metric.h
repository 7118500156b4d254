#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stoa::knn {

// How far two vectors a and b are from each other; smaller is nearer. Values are stored in files.
enum class Metric : uint8_t {
  kL2 = 0,            // Σ (aᵢ − bᵢ)², no root
  kInnerProduct = 1,  // 1 − Σ aᵢ bᵢ
  kCosine = 2,        // as kInnerProduct; vectors are normalised when they are stored, queries when they come
};

// "l2", "ip", "cosine" as in KnnOptions::similarity.
std::optional<Metric> MetricOf(std::string_view similarity);

// Divides by the length; a vector of zeros has no direction and stays as it is.
void Normalise(std::span<float> vector);

}  // namespace stoa::knn
