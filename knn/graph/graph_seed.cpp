#include "knn/graph/graph_seed.h"

#include <algorithm>

#include "knn/graph/neighbour_selection.h"
#include "knn/graph/parallel_for.h"

namespace stoa::knn {

namespace {

constexpr uint32_t kGrain = 64;

// The nodes that `old_node` shall lead to on a level: its living links, and in the place of dead ones theirs.
std::vector<uint32_t> LivingLinks(const GraphSeed& seed, const SeedNodes& taken, uint32_t old_node,
                                  int level) {
  const auto links_of = [&](uint32_t node) {
    return level == 0 ? seed.graph->Links(node) : seed.graph->UpperLinks(node, level);
  };
  std::vector<uint32_t> living;
  const auto add = [&](uint32_t old_link) {
    const uint32_t link = taken.new_nodes[old_link];
    if (link != Graph::kNone && old_link != old_node) {
      living.push_back(link);
    }
    return link != Graph::kNone;
  };
  for (const uint32_t old_link : links_of(old_node)) {
    if (!add(old_link)) {
      for (const uint32_t behind : links_of(old_link)) {
        add(behind);
      }
    }
  }
  std::sort(living.begin(), living.end());
  living.erase(std::unique(living.begin(), living.end()), living.end());
  return living;
}

}  // namespace

SeedNodes TakeSeedNodes(const GraphSeed& seed, const Duplicates& duplicates, uint32_t m) {
  SeedNodes taken;
  const Graph& graph = *seed.graph;
  if (graph.m != m || graph.entry == Graph::kNone) {
    return taken;
  }
  taken.new_nodes.assign(graph.node_count, Graph::kNone);
  std::vector<bool> used(duplicates.representative.size());
  for (uint32_t old_node = 0; old_node < graph.node_count; ++old_node) {
    if (graph.degrees[old_node] == 0 && old_node != graph.entry) {
      continue;  // hangs on another one
    }
    uint32_t living = old_node;
    while (living != Graph::kNone && seed.new_nodes[living] == Graph::kNone) {
      living = graph.next_duplicate[living];
    }
    if (living == Graph::kNone) {
      continue;
    }
    const uint32_t node = duplicates.representative[seed.new_nodes[living]];
    if (used[node]) {
      continue;
    }
    used[node] = true;
    taken.new_nodes[old_node] = node;
    taken.nodes.push_back({node, old_node, graph.levels[old_node]});
    if (taken.entry == Graph::kNone || graph.levels[old_node] > graph.levels[taken.nodes[0].old_node]) {
      taken.entry = node;
      std::swap(taken.nodes.front(), taken.nodes.back());
    }
  }
  return taken;
}

void LinkSeedNodes(const GraphSeed& seed, const SeedNodes& taken, const Quantizer& quantizer,
                   uint32_t threads, LinkTable& table, const CancelToken* cancel) {
  const CodeArray codes = table.codes();
  std::vector<std::unique_ptr<CodeScorer>> scorers;
  std::vector<std::unique_ptr<NeighbourSelection>> selections;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    scorers.push_back(quantizer.NewScorer());
    selections.push_back(std::make_unique<NeighbourSelection>(codes, quantizer));
  }
  const auto count = static_cast<uint32_t>(taken.nodes.size());
  ParallelFor(threads, 0, count, kGrain, [&](uint32_t thread, uint32_t index) {
    const SeedNodes::Node& node = taken.nodes[index];
    scorers[thread]->SetQueryCode(codes[node.node]);
    for (int level = 0; level <= node.level; ++level) {
      const std::vector<uint32_t> living = LivingLinks(seed, taken, node.old_node, level);
      std::vector<const uint8_t*> living_codes;
      for (const uint32_t link : living) {
        living_codes.push_back(codes[link]);
      }
      std::vector<float> distances(living.size());
      scorers[thread]->Score(living_codes.data(), living.size(), distances.data());
      std::vector<Link> links;
      for (size_t i = 0; i < living.size(); ++i) {
        if (living[i] != node.node) {
          links.push_back({distances[i], living[i]});
        }
      }
      std::sort(links.begin(), links.end());
      if (links.size() > table.MostLinks(level)) {
        links = selections[thread]->Select(links, table.MostLinks(level));
      }
      table.Set(node.node, level, links);
    }
    return cancel == nullptr || !cancel->cancelled();
  });
}

}  // namespace stoa::knn
