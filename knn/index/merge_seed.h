#pragma once

#include <span>
#include <vector>

#include "knn/graph/graph_builder.h"
#include "storage/vector/vector_index.h"

namespace stoa::knn {

// The graph that a merge goes on from: the one with the most living nodes, unless so few of its own live that
// a new one is better.
class MergeSeed {
 public:
  MergeSeed() = default;
  MergeSeed(const MergeSeed&) = delete;
  MergeSeed& operator=(const MergeSeed&) = delete;

  // node_rows: by node of the new index, its row in the new chunk.
  void Choose(std::span<const storage::VectorIndexSource> sources, std::span<const uint32_t> node_rows,
              uint32_t m);
  // nullptr: none is worth it.
  const GraphSeed* get() const { return seed_.graph != nullptr ? &seed_ : nullptr; }

 private:
  Graph graph_;
  GraphSeed seed_;
};

}  // namespace stoa::knn
