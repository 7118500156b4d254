#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "knn/graph/beam_search.h"
#include "knn/graph/node_blocks.h"
#include "storage/base/cancel_token.h"

namespace stoa::knn {

// A node that was found, by the estimate of its code. Nearest first, equal distances by number.
struct FoundNode {
  float distance = 0;
  uint32_t node = 0;
  friend auto operator<=>(const FoundNode&, const FoundNode&) = default;
};

// Which nodes a walk may return.
struct WalkFilter {
  std::span<const uint64_t> passes;  // bit node % 64 of word node / 64
  // Nodes that do not pass are compared and walked over; otherwise they are only stepped over, two links at a
  // time, which is less work when few pass (cf. Patel et al., "ACORN", SIGMOD 2024).
  bool through = true;
  uint64_t most_scored = UINT64_MAX;    // comparisons after which the walk gives up
  const CancelToken* cancel = nullptr;  // then it gives up, too

  bool Passes(uint32_t node) const { return (passes[node / 64] >> (node % 64) & 1) != 0; }
};

// What walks of one thread reuse.
struct WalkState {
  BeamState beam;
  CandidatePool results;            // of walks with a filter
  std::vector<FoundNode> frontier;  // of walks with a filter: a heap, the nearest in front
  std::vector<uint32_t> passed_over;
};

// The finished graph of one column of one chunk, in memory or mapped. Does not own it.
class GraphWalk {
 public:
  GraphWalk(const NodeBlocks& blocks, const UpperLevels& levels) : blocks_(blocks), levels_(levels) {}

  // The up to `beam` nearest nodes that a walk of this width meets, nearest first; duplicates of a node are
  // not among them.
  void Search(const CodeScorer& scorer, size_t beam, WalkState& state, std::vector<FoundNode>& found) const;

  // The same over the nodes that the filter passes. False when it gave up: the caller scans then.
  bool SearchFiltered(const CodeScorer& scorer, size_t beam, const WalkFilter& filter, WalkState& state,
                      std::vector<FoundNode>& found) const;

 private:
  uint32_t Descend(const CodeScorer& scorer, BeamState& beam) const;
  void AppendPassing(uint32_t node, const WalkFilter& filter, WalkState& state) const;

  const NodeBlocks& blocks_;
  const UpperLevels& levels_;
};

}  // namespace stoa::knn
