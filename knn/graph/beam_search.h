#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knn/graph/candidate_pool.h"
#include "knn/graph/visited_set.h"
#include "knn/quantize/quantizer.h"

namespace stoa::knn {

// What walks of one thread reuse.
struct BeamState {
  CandidatePool pool;
  VisitedSet visited;
  std::vector<uint32_t> links;  // of the node that is expanded, those that were not met before
  std::vector<const uint8_t*> codes;
  std::vector<float> distances;
  uint64_t scored = 0;  // codes that were compared, over all walks

  // Distances of `links` to the scorer's query; `graph` has Code(node).
  template <typename Graph>
  void ScoreLinks(const Graph& graph, const CodeScorer& scorer) {
    codes.resize(links.size());
    distances.resize(links.size());
    for (size_t i = 0; i < links.size(); ++i) {
      codes[i] = graph.Code(links[i]);
      __builtin_prefetch(codes[i]);
    }
    scorer.Score(codes.data(), codes.size(), distances.data());
    scored += links.size();
  }
};

// The best-first walk of HNSW over one level (Malkov, Yashunin: "Efficient and robust approximate nearest
// neighbor search using Hierarchical Navigable Small World graphs", algorithm 2): afterwards state.pool holds
// the up to `beam` nearest nodes that were met. `graph`: AppendLinks(node, level, visited, links) appends the
// links that `visited` had not met; Code(node); PrefetchLinks(node). `entries` are distinct.
template <typename Graph>
void BeamSearch(const Graph& graph, int level, const CodeScorer& scorer, std::span<const uint32_t> entries,
                size_t beam, BeamState& state) {
  state.pool.Reset(beam);
  state.visited.Reset(graph.node_count());
  state.links.assign(entries.begin(), entries.end());
  for (const uint32_t entry : entries) {
    state.visited.Insert(entry);
  }
  uint32_t node = 0;
  do {
    state.ScoreLinks(graph, scorer);
    for (size_t i = 0; i < state.links.size(); ++i) {
      state.pool.Add(state.distances[i], state.links[i]);
    }
    do {
      if (!state.pool.Next(node)) {
        return;
      }
      state.links.clear();
      graph.AppendLinks(node, level, state.visited, state.links);
      graph.PrefetchLinks(state.pool.Peek(), level);
    } while (state.links.empty());
  } while (true);
}

// The nearest node of a level that can be reached from `entry` by steps that come nearer.
template <typename Graph>
uint32_t GreedySearch(const Graph& graph, int level, const CodeScorer& scorer, uint32_t entry,
                      BeamState& state) {
  const uint32_t start[] = {entry};
  BeamSearch(graph, level, scorer, start, 1, state);
  return state.pool.node(0);
}

}  // namespace stoa::knn
