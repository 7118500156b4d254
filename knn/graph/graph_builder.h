#pragma once

#include <functional>
#include <memory>

#include "knn/graph/code_array.h"
#include "knn/graph/graph.h"
#include "knn/quantize/quantizer.h"
#include "storage/base/cancel_token.h"
#include "storage/base/result.h"

namespace stoa::knn {

struct GraphOptions {
  uint32_t m = 16;
  uint32_t ef_construction = 200;
  uint64_t level_seed = 100;
  uint32_t threads = 1;  // 1: the same codes give the same graph
};

// A graph whose nodes are taken over, with its links, into the new one.
struct GraphSeed {
  const Graph* graph = nullptr;
  std::vector<uint32_t> new_nodes;  // by old node: its number now; Graph::kNone: it is gone
};

// Builds an HNSW graph over `codes`, which should be of a kind that keeps distances well (kFloat, k8Bit):
// their order decides the links. Neighbours are chosen by the heuristic of Malkov and Yashunin (algorithm 4).
// Takes node_count × (2.5 m × 8 + 16) bytes besides the codes. kCancelled.
Result<Graph> BuildGraph(const CodeArray& codes, const Quantizer& quantizer, const GraphOptions& options,
                         const GraphSeed* seed, const CancelToken* cancel,
                         const std::function<void(uint64_t done)>& progress);

}  // namespace stoa::knn
