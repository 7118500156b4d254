#include "knn/graph/node_blocks.h"

#include <algorithm>

namespace stoa::knn {

NodeLayout NodeLayout::For(uint32_t node_count, uint32_t m, uint32_t code_bytes) {
  return {.most_links = 2 * m, .link_bytes = node_count < (1u << 24) ? 3u : 4u, .code_bytes = code_bytes};
}

UpperLevels UpperLevels::Of(const Graph& graph) {
  UpperLevels levels;
  levels.m = graph.m;
  levels.entry_node = graph.entry;
  std::vector<uint32_t> number(graph.node_count, kNone);
  for (uint32_t node = 0; node < graph.node_count; ++node) {
    if (graph.levels[node] > 0) {
      number[node] = static_cast<uint32_t>(levels.nodes.size());
      levels.nodes.push_back(node);
    }
  }
  for (const uint32_t node : levels.nodes) {
    levels.starts.push_back(static_cast<uint32_t>(levels.lists.size()));
    for (int level = 1; level <= graph.levels[node]; ++level) {
      const std::span<const uint32_t> links = graph.UpperLinks(node, level);
      levels.lists.push_back(static_cast<uint32_t>(links.size()));
      for (const uint32_t link : links) {
        levels.lists.push_back(number[link]);
      }
      levels.lists.resize(levels.lists.size() + graph.m - links.size());
    }
  }
  levels.starts.push_back(static_cast<uint32_t>(levels.lists.size()));
  if (graph.entry != Graph::kNone && graph.levels[graph.entry] > 0) {
    levels.entry = number[graph.entry];
  }
  return levels;
}

bool UpperLevels::IsSound(uint32_t node_count) const {
  const auto count = static_cast<uint32_t>(nodes.size());
  if (starts.size() != nodes.size() + 1 || starts.front() != 0 || starts.back() != lists.size() ||
      (entry != kNone && entry >= count) || (entry_node != kNone && entry_node >= node_count)) {
    return false;
  }
  for (uint32_t upper = 0; upper < count; ++upper) {
    if (nodes[upper] >= node_count || (upper > 0 && nodes[upper] <= nodes[upper - 1]) ||
        starts[upper] >= starts[upper + 1] || (starts[upper + 1] - starts[upper]) % (m + 1) != 0 ||
        TopLevel(upper) > Graph::kHighestLevel) {
      return false;
    }
  }
  for (uint32_t upper = 0; upper < count; ++upper) {
    for (int level = 1; level <= TopLevel(upper); ++level) {
      const uint32_t* list = List(upper, level);
      // A link must be there on the level where it leads to.
      const auto is_sound = [&](uint32_t link) { return link < count && TopLevel(link) >= level; };
      if (list[0] > m || !std::all_of(list + 1, list + 1 + list[0], is_sound)) {
        return false;
      }
    }
  }
  return true;
}

void WriteNodeBlock(const Graph* graph, uint32_t node, const uint8_t* code, const NodeLayout& layout,
                    uint8_t* block) {
  uint32_t next = Graph::kNone;
  if (graph != nullptr) {
    const std::span<const uint32_t> links = graph->Links(node);
    for (size_t i = 0; i < links.size(); ++i) {
      std::memcpy(block + i * layout.link_bytes, &links[i], layout.link_bytes);
    }
    const auto degree = static_cast<uint16_t>(links.size());
    std::memcpy(block + layout.degree_at(), &degree, sizeof(degree));
    next = graph->next_duplicate[node];
  }
  std::memcpy(block + layout.duplicate_at(), &next, sizeof(next));
  std::memcpy(block + layout.code_at(), code, layout.code_bytes);
}

Graph GraphOf(const NodeBlocks& blocks, const UpperLevels& levels) {
  Graph graph;
  graph.m = levels.m;
  graph.node_count = blocks.node_count();
  graph.entry = levels.entry_node;
  const uint32_t most = 2 * graph.m;
  graph.links.assign(uint64_t{graph.node_count} * most, 0);
  graph.degrees.assign(graph.node_count, 0);
  graph.next_duplicate.resize(graph.node_count);
  graph.levels.assign(graph.node_count, 0);
  graph.upper_start.assign(graph.node_count, 0);
  for (uint32_t node = 0; node < graph.node_count; ++node) {
    graph.next_duplicate[node] = blocks.NextDuplicate(node);
    for (uint32_t i = 0; i < blocks.Degree(node); ++i) {
      if (const uint32_t link = blocks.LinkAt(node, i); link < graph.node_count) {
        graph.links[uint64_t{node} * most + graph.degrees[node]++] = link;
      }
    }
  }
  graph.upper = levels.lists;
  for (uint32_t upper = 0; upper < levels.nodes.size(); ++upper) {
    graph.levels[levels.nodes[upper]] = static_cast<uint8_t>(levels.TopLevel(upper));
    graph.upper_start[levels.nodes[upper]] = levels.starts[upper];
    for (int level = 1; level <= levels.TopLevel(upper); ++level) {
      uint32_t* list =
          graph.upper.data() + levels.starts[upper] + static_cast<size_t>(level - 1) * (levels.m + 1);
      std::transform(list + 1, list + 1 + list[0], list + 1,
                     [&](uint32_t link) { return levels.nodes[link]; });
    }
  }
  return graph;
}

}  // namespace stoa::knn
