#include "knn/graph/orphans.h"

#include <algorithm>

#include "knn/graph/beam_search.h"
#include "knn/graph/graph.h"

namespace stoa::knn {

namespace {

constexpr size_t kBeam = 64;

void MarkReachable(const LinkTable& table, uint32_t from, std::vector<bool>& reached) {
  std::vector<uint32_t> open{from};
  reached[from] = true;
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    for (const Link& link : table.Copy(node, 0)) {
      if (!reached[link.node]) {
        reached[link.node] = true;
        open.push_back(link.node);
      }
    }
  }
}

// A link from the nearest node that has room for one more than a finished list, else from the nearest, which
// may then be too long by one; its farthest links go, of what is not needed to reach an orphan.
void LinkFromNearest(LinkTable& table, uint32_t node, const CandidatePool& near) {
  size_t chosen = 0;
  for (size_t i = 0; i < near.size(); ++i) {
    if (table.Copy(near.node(i), 0).size() < table.MostLinks(0)) {
      chosen = i;
      break;
    }
  }
  table.Edit(near.node(chosen), 0, [&](LinkTable::Header& list) {
    const Link link{near.distance(chosen), node};
    std::sort(list.links(), list.links() + list.count);
    if (list.count >= table.MostLinks(0)) {
      list.count = table.MostLinks(0) - 1;
    }
    list.links()[list.count++] = link;
  });
}

}  // namespace

void ConnectOrphans(LinkTable& table, const Duplicates& duplicates, uint32_t entry,
                    const Quantizer& quantizer) {
  if (entry == Graph::kNone) {
    return;
  }
  const std::unique_ptr<CodeScorer> scorer = quantizer.NewScorer();
  BeamState beam;
  // A link that gives way to an orphan's may have been the last to another node: look again, a few times.
  for (int round = 0; round < 8; ++round) {
    std::vector<bool> reached(table.node_count());
    MarkReachable(table, entry, reached);
    bool all = true;
    for (uint32_t node = 0; node < table.node_count(); ++node) {
      if (reached[node] || duplicates.representative[node] != node) {
        continue;
      }
      all = false;
      scorer->SetQueryCode(table.Code(node));
      const uint32_t entries[] = {entry};
      BeamSearch(table, 0, *scorer, entries, kBeam, beam);
      LinkFromNearest(table, node, beam.pool);
      MarkReachable(table, node, reached);
    }
    if (all) {
      return;
    }
  }
}

}  // namespace stoa::knn
