#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fvecs.h"

namespace stoa::bench {

// A library's HNSW index over float vectors, built and asked by one thread. Distances: squared l2, or
// 1 - dot of vectors that are normalised.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  virtual void Build(const VectorSet& base, bool inner_product, size_t m, size_t ef_construction) = 0;
  // Numbers of the k nearest.
  virtual void Search(const float* query, size_t k, size_t ef, std::vector<uint32_t>& found) = 0;
};

std::unique_ptr<Peer> MakeHnswlib();
std::unique_ptr<Peer> MakeFaiss();

}  // namespace stoa::bench
