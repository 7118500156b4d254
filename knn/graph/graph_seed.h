#pragma once

#include <vector>

#include "knn/graph/duplicates.h"
#include "knn/graph/graph_builder.h"
#include "knn/graph/link_table.h"

namespace stoa::knn {

// The nodes of an old graph that live on in a new one.
struct SeedNodes {
  struct Node {
    uint32_t node = 0;      // in the new graph
    uint32_t old_node = 0;  // whose links it takes over
    uint8_t level = 0;
  };
  std::vector<Node> nodes;
  uint32_t entry = Graph::kNone;    // one of the highest level
  std::vector<uint32_t> new_nodes;  // by old node with links: the new node that has them; kNone: gone
};

// Which nodes take over links: a chain of equal vectors keeps its links while one of them lives.
SeedNodes TakeSeedNodes(const GraphSeed& seed, const Duplicates& duplicates, uint32_t m);
// Writes their links. Where a linked node is gone, what it linked to takes part in the choice instead (cf. Xu
// et al., "In-Place Updates of a Graph Index for Streaming Approximate Nearest Neighbor Search", 2025).
void LinkSeedNodes(const GraphSeed& seed, const SeedNodes& taken, const Quantizer& quantizer,
                   uint32_t threads, LinkTable& table, const CancelToken* cancel);

}  // namespace stoa::knn
