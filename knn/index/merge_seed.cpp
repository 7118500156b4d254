#include "knn/index/merge_seed.h"

#include <algorithm>

#include "knn/index/hnsw_index.h"

namespace stoa::knn {

using storage::VectorIndexSource;

namespace {

constexpr double kFewestAlive = 0.5;  // of the seed's nodes; below, healing costs more than it saves

// By old node the new one; the vectors of a row keep their order.
std::vector<uint32_t> NewNodes(const HnswIndex& index, const VectorIndexSource& source,
                               std::span<const uint32_t> node_rows) {
  std::vector<uint32_t> new_nodes(index.node_count(), Graph::kNone);
  uint32_t place = 0;  // of the node among those of its row
  for (uint32_t node = 0; node < index.node_count(); ++node) {
    const uint32_t row = index.RowOf(node);
    place = node > 0 && index.RowOf(node - 1) == row ? place + 1 : 0;
    if (row >= source.new_rows.size() || source.new_rows[row] == storage::kNoRow) {
      continue;
    }
    const uint32_t new_row = source.new_rows[row];
    const auto first = std::lower_bound(node_rows.begin(), node_rows.end(), new_row);
    const auto new_node = static_cast<uint32_t>(first - node_rows.begin()) + place;
    if (new_node < node_rows.size() && node_rows[new_node] == new_row) {
      new_nodes[node] = new_node;
    }
  }
  return new_nodes;
}

}  // namespace

void MergeSeed::Choose(std::span<const VectorIndexSource> sources, std::span<const uint32_t> node_rows,
                       uint32_t m) {
  size_t most_alive = 0;
  const HnswIndex* chosen = nullptr;
  for (const VectorIndexSource& source : sources) {
    const auto* index = dynamic_cast<const HnswIndex*>(source.index.get());
    if (index == nullptr || index->contents() != IndexContents::kGraph || index->upper_levels().m != m) {
      continue;
    }
    std::vector<uint32_t> new_nodes = NewNodes(*index, source, node_rows);
    const auto alive =
        new_nodes.size() - static_cast<size_t>(std::count(new_nodes.begin(), new_nodes.end(), Graph::kNone));
    if (alive > most_alive && static_cast<double>(alive) >= kFewestAlive * index->node_count()) {
      most_alive = alive;
      chosen = index;
      seed_.new_nodes = std::move(new_nodes);
    }
  }
  if (chosen != nullptr) {
    graph_ = GraphOf(chosen->blocks(), chosen->upper_levels());
    seed_.graph = &graph_;
  }
}

}  // namespace stoa::knn
