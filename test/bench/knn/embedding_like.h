#pragma once

#include <cstdint>
#include <string>

namespace stoa::bench {

struct EmbeddingLikeOptions {
  uint32_t dims = 1536;
  uint32_t clusters = 2000;
  uint64_t seed = 1;       // of the distribution
  uint64_t first_row = 0;  // rows of the same seed and number are the same, however many are made
};

// Writes `rows` vectors of length 1 that lie as embeddings of texts do: clusters in a space of few dimensions
// whose variances fall off, mapped to many, with noise within the clusters in those and in further
// directions, and a little in all.
void WriteEmbeddingLike(const std::string& path, uint64_t rows, const EmbeddingLikeOptions& options);

}  // namespace stoa::bench
