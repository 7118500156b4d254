#include "knn/graph/orphans.h"

#include <algorithm>

#include "knn/graph/beam_search.h"
#include "knn/graph/graph.h"

namespace stoa::knn {

namespace {

constexpr size_t kBeam = 64;

// A spanning tree of what can be reached from the entry on level 0; links of the tree must stay.
class ReachedTree {
 public:
  explicit ReachedTree(LinkTable& table) : table_(table), parent_(table.node_count(), Graph::kNone) {}

  bool Has(uint32_t node) const { return parent_[node] != Graph::kNone; }
  // `node` and what can be reached from it.
  void Grow(uint32_t node, uint32_t parent) {
    parent_[node] = parent;
    std::vector<uint32_t> open{node};
    while (!open.empty()) {
      const uint32_t from = open.back();
      open.pop_back();
      for (const Link& link : table_.Copy(from, 0)) {
        if (!Has(link.node)) {
          parent_[link.node] = from;
          open.push_back(link.node);
        }
      }
    }
  }

  // Links `from` to `node`, in the place of the farthest link that the tree does without when there is no
  // room; false when there is none.
  bool TryLink(uint32_t from, const Link& link) {
    bool linked = false;
    table_.Edit(from, 0, [&](LinkTable::Header& list) {
      Link* place = list.links() + list.count;
      if (list.count == table_.MostLinks(0)) {
        std::sort(list.links(), list.links() + list.count);
        do {
          if (place == list.links()) {
            return;
          }
          --place;
        } while (parent_[place->node] == from);
      } else {
        ++list.count;
      }
      *place = link;
      linked = true;
    });
    return linked;
  }

 private:
  LinkTable& table_;
  std::vector<uint32_t> parent_;  // of the entry: itself
};

}  // namespace

void ConnectOrphans(LinkTable& table, const Duplicates& duplicates, uint32_t entry,
                    const Quantizer& quantizer, const CancelToken* cancel) {
  if (entry == Graph::kNone) {
    return;
  }
  ReachedTree tree(table);
  tree.Grow(entry, entry);
  const std::unique_ptr<CodeScorer> scorer = quantizer.NewScorer();
  BeamState beam;
  for (uint32_t node = 0; node < table.node_count(); ++node) {
    if (tree.Has(node) || duplicates.representative[node] != node) {
      continue;
    }
    if (cancel != nullptr && cancel->cancelled()) {
      return;
    }
    scorer->SetQueryCode(table.Code(node));
    const uint32_t entries[] = {entry};
    BeamSearch(table, 0, *scorer, entries, kBeam, beam);
    // The leaves of the tree have links to spare: one of the near nodes is almost certainly one.
    for (size_t i = 0; i < beam.pool.size(); ++i) {
      if (tree.TryLink(beam.pool.node(i), {beam.pool.distance(i), node})) {
        tree.Grow(node, beam.pool.node(i));
        break;
      }
    }
  }
}

}  // namespace stoa::knn
