#include "embedding_like.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace stoa::bench {

namespace {

constexpr uint32_t kClusterDims = 64;     // in which the centres differ
constexpr uint32_t kLatentDims = 128;     // those, and further ones that only the noise has
constexpr float kNoiseInCluster = 0.55F;  // of the centres' spread
constexpr float kNoiseBeside = 0.35F;
constexpr float kNoiseEverywhere = 0.15F;
constexpr uint64_t kRowsAtOnce = 4096;

uint64_t Mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

// Immutable after construction; rows are made by several threads.
class EmbeddingLike {
 public:
  explicit EmbeddingLike(const EmbeddingLikeOptions& options) : options_(options), spread_(kLatentDims) {
    for (uint32_t j = 0; j < kLatentDims; ++j) {
      spread_[j] = 1 / std::sqrt(1 + static_cast<float>(j % kClusterDims) / 8);
    }
    std::mt19937_64 random(options.seed);
    std::normal_distribution<float> normal;
    map_.resize(size_t{kLatentDims} * options.dims);
    std::generate(map_.begin(), map_.end(), [&] { return normal(random); });
    centres_.resize(size_t{options.clusters} * kClusterDims);
    for (size_t i = 0; i < centres_.size(); ++i) {
      centres_[i] = normal(random) * spread_[i % kClusterDims];
    }
  }

  void Make(uint64_t row, float* out) const {
    std::mt19937_64 random(Mix(options_.seed ^ Mix(row)));
    std::normal_distribution<float> normal;
    const float* centre = centres_.data() + (random() % options_.clusters) * kClusterDims;
    std::fill(out, out + options_.dims, 0.0F);
    double energy = 0;
    for (uint32_t j = 0; j < kLatentDims; ++j) {
      const bool centred = j < kClusterDims;
      const float noise = normal(random) * spread_[j] * (centred ? kNoiseInCluster : kNoiseBeside);
      const float value = noise + (centred ? centre[j] : 0);
      energy += static_cast<double>(value) * value;
      AddScaled(map_.data() + size_t{j} * options_.dims, value, out);
    }
    AddNoise(random(), static_cast<float>(std::sqrt(energy)) * kNoiseEverywhere, out);
    const float scale = 1 / std::sqrt(SquaredLength(out));
    for (uint32_t d = 0; d < options_.dims; ++d) {
      out[d] *= scale;
    }
  }

 private:
  void AddScaled(const float* __restrict direction, float scale, float* __restrict out) const {
    for (uint32_t d = 0; d < options_.dims; ++d) {
      out[d] += scale * direction[d];
    }
  }

  // The sum of two uniform numbers, near enough to normal.
  void AddNoise(uint64_t seed, float deviation, float* out) const {
    const float scale = deviation * std::sqrt(6.0F) / 65536;
    for (uint32_t d = 0; d < options_.dims; ++d) {
      const uint64_t bits = Mix(seed + d);
      const auto sum = static_cast<int32_t>((bits & 0xFFFFU) + ((bits >> 16U) & 0xFFFFU)) - 65535;
      out[d] += scale * static_cast<float>(sum);
    }
  }

  float SquaredLength(const float* vector) const {
    float parts[16] = {};
    for (uint32_t d = 0; d < options_.dims; ++d) {
      parts[d % 16] += vector[d] * vector[d];
    }
    float sum = 0;
    for (const float part : parts) {
      sum += part;
    }
    return sum;
  }

  EmbeddingLikeOptions options_;
  std::vector<float> spread_;
  std::vector<float> map_;      // kLatentDims directions of `dims` values
  std::vector<float> centres_;  // kClusterDims values each
};

}  // namespace

void WriteEmbeddingLike(const std::string& path, uint64_t rows, const EmbeddingLikeOptions& options) {
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    std::perror(path.c_str());
    std::exit(1);
  }
  const EmbeddingLike source(options);
  const size_t record = options.dims + 1;  // in floats
  std::vector<float> block(kRowsAtOnce * record);
  const uint32_t thread_count = std::max(1U, std::thread::hardware_concurrency());
  for (uint64_t first = 0; first < rows; first += kRowsAtOnce) {
    const uint64_t count = std::min(kRowsAtOnce, rows - first);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < thread_count; ++t) {
      threads.emplace_back([&, t] {
        for (uint64_t i = t; i < count; i += thread_count) {
          std::memcpy(&block[i * record], &options.dims, sizeof(float));
          source.Make(options.first_row + first + i, &block[i * record + 1]);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (std::fwrite(block.data(), record * sizeof(float), count, file) != count) {
      std::perror(path.c_str());
      std::exit(1);
    }
  }
  std::fclose(file);
}

}  // namespace stoa::bench
