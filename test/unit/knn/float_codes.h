#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "knn/graph/code_array.h"
#include "knn/kernels/float_distance.h"
#include "knn/quantize/quantizer.h"

namespace stoa::knn {

// Codes that are the vectors themselves, under squared l2: graphs can be tested without a quantiser.
class FloatCodes : public Quantizer {
 public:
  explicit FloatCodes(uint32_t dims) { options_.dims = dims; }

  uint64_t id() const override { return 1; }
  uint32_t code_bytes() const override { return (options_.dims * 4 + 15) / 16 * 16; }
  void EncodeVectors(std::span<const float* const> vectors, uint8_t* codes, size_t stride) const override {
    for (size_t i = 0; i < vectors.size(); ++i) {
      std::memcpy(codes + i * stride, vectors[i], options_.dims * sizeof(float));
    }
  }
  std::shared_ptr<const Quantizer> WithKind(CodeKind) const override { return nullptr; }
  std::string Encode() const override { return {}; }
  const QuantizerOptions& options() const override { return options_; }
  std::unique_ptr<CodeScorer> NewScorer() const override { return std::make_unique<Scorer>(options_.dims); }

 private:
  class Scorer : public CodeScorer {
   public:
    explicit Scorer(uint32_t dims) : query_(dims) {}
    void SetQuery(const float* query) override { std::copy(query, query + query_.size(), query_.begin()); }
    void SetQueryCode(const uint8_t* code) override { SetQuery(reinterpret_cast<const float*>(code)); }
    void Score(const uint8_t* const* codes, size_t count, float* distances) const override {
      for (size_t i = 0; i < count; ++i) {
        distances[i] = static_cast<float>(
            PlainSquaredDistance(query_.data(), reinterpret_cast<const float*>(codes[i]), query_.size()));
      }
    }
    void ScoreWithErrors(const uint8_t* const* codes, size_t count, float* distances,
                         float* errors) const override {
      Score(codes, count, distances);
      std::fill(errors, errors + count, 0.0f);
    }

   private:
    std::vector<float> query_;
  };

  QuantizerOptions options_;
};

// `count` codes of random vectors.
struct RandomCodes {
  RandomCodes(uint32_t count, uint32_t dims, uint32_t seed)
      : quantizer(dims), bytes(count * quantizer.code_bytes()) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t d = 0; d < dims; ++d) {
        at(i)[d] = normal(random);
      }
    }
    array = {.data = bytes.data(), .stride = quantizer.code_bytes(), .count = count};
  }
  float* at(uint32_t index) {
    return reinterpret_cast<float*>(bytes.data() + index * quantizer.code_bytes());
  }

  FloatCodes quantizer;
  std::vector<uint8_t> bytes;
  CodeArray array;
};

}  // namespace stoa::knn
