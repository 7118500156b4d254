#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stoa::bench {

// A set of vectors in memory.
struct VectorSet {
  std::vector<float> floats;
  size_t dims = 0;
  size_t size() const { return dims == 0 ? 0 : floats.size() / dims; }
  const float* at(size_t index) const { return floats.data() + index * dims; }
};

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
