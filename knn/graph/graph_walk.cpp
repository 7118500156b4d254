#include "knn/graph/graph_walk.h"

#include <algorithm>
#include <functional>

namespace stoa::knn {

namespace {

std::vector<FoundNode> Contents(const CandidatePool& pool) {
  std::vector<FoundNode> nodes;
  nodes.reserve(pool.size());
  for (size_t i = 0; i < pool.size(); ++i) {
    nodes.push_back({pool.distance(i), pool.node(i)});
  }
  return nodes;
}

}  // namespace

uint32_t GraphWalk::Descend(const CodeScorer& scorer, BeamState& beam) const {
  if (levels_.entry == UpperLevels::kNone) {
    return levels_.entry_node;
  }
  const UpperGraph upper(levels_, blocks_);
  uint32_t entry = levels_.entry;
  for (int level = levels_.TopLevel(entry); level > 0; --level) {
    entry = GreedySearch(upper, level, scorer, entry, beam);
  }
  return levels_.nodes[entry];
}

void GraphWalk::Search(const CodeScorer& scorer, size_t beam, WalkState& state,
                       std::vector<FoundNode>& found) const {
  const uint32_t entries[] = {Descend(scorer, state.beam)};
  BeamSearch(blocks_, 0, scorer, entries, beam, state.beam);
  found = Contents(state.beam.pool);
}

void GraphWalk::AppendPassing(uint32_t node, const WalkFilter& filter, WalkState& state) const {
  std::vector<uint32_t>& links = state.beam.links;
  state.passed_over.clear();
  blocks_.AppendLinks(node, 0, state.beam.visited, state.passed_over);
  const size_t direct = state.passed_over.size();
  for (size_t i = 0; i < direct; ++i) {
    if (filter.Passes(state.passed_over[i])) {
      links.push_back(state.passed_over[i]);
    } else {
      blocks_.PrefetchLinks(state.passed_over[i], 0);
    }
  }
  const size_t enough = blocks_.layout().most_links;
  for (size_t i = 0; i < direct && links.size() < enough; ++i) {
    if (filter.Passes(state.passed_over[i])) {
      continue;
    }
    const uint32_t over = state.passed_over[i];
    for (uint32_t place = 0; place < blocks_.Degree(over); ++place) {
      const uint32_t link = blocks_.LinkAt(over, place);
      if (link < blocks_.node_count() && filter.Passes(link) && state.beam.visited.Insert(link)) {
        links.push_back(link);
      }
    }
  }
}

bool GraphWalk::SearchFiltered(const CodeScorer& scorer, size_t beam, const WalkFilter& filter,
                               WalkState& state, std::vector<FoundNode>& found) const {
  const uint32_t entry = Descend(scorer, state.beam);
  const uint64_t scored_before = state.beam.scored;
  state.results.Reset(beam);
  state.frontier.clear();
  state.beam.visited.Reset(blocks_.node_count());
  state.beam.visited.Insert(entry);
  state.beam.links.assign(1, entry);
  while (true) {
    state.beam.ScoreLinks(blocks_, scorer);
    for (size_t i = 0; i < state.beam.links.size(); ++i) {
      const float distance = state.beam.distances[i];
      const uint32_t node = state.beam.links[i];
      if (state.results.full() && distance > state.results.bound()) {
        continue;
      }
      state.frontier.push_back({distance, node});
      std::push_heap(state.frontier.begin(), state.frontier.end(), std::greater<FoundNode>());
      if (filter.Passes(node)) {
        state.results.Add(distance, node);
      }
    }
    if (state.beam.scored - scored_before > filter.most_scored ||
        (filter.cancel != nullptr && filter.cancel->cancelled())) {
      return false;
    }
    if (state.frontier.empty() ||
        (state.results.full() && state.frontier.front().distance > state.results.bound())) {
      break;
    }
    std::pop_heap(state.frontier.begin(), state.frontier.end(), std::greater<FoundNode>());
    const uint32_t node = state.frontier.back().node;
    state.frontier.pop_back();
    state.beam.links.clear();
    if (filter.through) {
      blocks_.AppendLinks(node, 0, state.beam.visited, state.beam.links);
    } else {
      AppendPassing(node, filter, state);
    }
  }
  found = Contents(state.results);
  return true;
}

}  // namespace stoa::knn
