#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "knn/graph/graph.h"
#include "knn/graph/visited_set.h"

namespace stoa::knn {

// How a node lies in memory and in its file: links of level 0, how many, the next duplicate, its code. The
// code's payload begins at a multiple of 64 bytes; nodes are a multiple of 64 bytes long.
// docs/format/spknn.md.
struct NodeLayout {
  uint32_t most_links = 32;
  uint32_t link_bytes = 3;  // 4 when node numbers need it
  uint32_t code_bytes = 0;

  static NodeLayout For(uint32_t node_count, uint32_t m, uint32_t code_bytes);

  uint32_t degree_at() const {
    return (most_links * link_bytes + 3) / 4 * 4;
  }                                                          // uint16, then 2 bytes of zeros
  uint32_t duplicate_at() const { return degree_at() + 4; }  // uint32
  uint32_t code_at() const { return (duplicate_at() + 4 + 16 + 63) / 64 * 64 - 16; }
  uint32_t stride() const { return (code_at() + code_bytes + 63) / 64 * 64; }
};

// The nodes of a finished graph in their blocks: what searches walk over on level 0. Does not own the memory.
// Numbers that damage made too large are passed over.
class NodeBlocks {
 public:
  NodeBlocks() = default;
  NodeBlocks(const uint8_t* base, uint32_t node_count, const NodeLayout& layout)
      : base_(base),
        node_count_(node_count),
        layout_(layout),
        stride_(layout.stride()),
        code_at_(layout.code_at()),
        degree_at_(layout.degree_at()) {}

  uint32_t node_count() const { return node_count_; }
  const NodeLayout& layout() const { return layout_; }
  const uint8_t* Code(uint32_t node) const { return Block(node) + code_at_; }
  uint32_t NextDuplicate(uint32_t node) const {
    uint32_t next = 0;
    std::memcpy(&next, Block(node) + layout_.duplicate_at(), sizeof(next));
    return next < node_count_ ? next : Graph::kNone;
  }
  uint32_t Degree(uint32_t node) const {
    uint16_t degree = 0;
    std::memcpy(&degree, Block(node) + degree_at_, sizeof(degree));
    return degree < layout_.most_links ? degree : layout_.most_links;
  }
  uint32_t LinkAt(uint32_t node, uint32_t place) const {
    uint32_t link = 0;
    std::memcpy(&link, Block(node) + place * layout_.link_bytes, sizeof(link));
    return layout_.link_bytes == 3 ? link & 0xffffff : link;
  }

  void AppendLinks(uint32_t node, int /*level*/, VisitedSet& visited, std::vector<uint32_t>& links) const {
    const uint32_t degree = Degree(node);
    for (uint32_t i = 0; i < degree; ++i) {
      const uint32_t link = LinkAt(node, i);
      if (link < node_count_ && visited.Insert(link)) {
        links.push_back(link);
      }
    }
  }
  void PrefetchLinks(uint32_t node, int /*level*/) const {
    __builtin_prefetch(Block(node));
    __builtin_prefetch(Block(node) + 64);
  }

 private:
  const uint8_t* Block(uint32_t node) const { return base_ + node * stride_; }

  const uint8_t* base_ = nullptr;
  uint32_t node_count_ = 0;
  NodeLayout layout_;
  size_t stride_ = 0;
  uint32_t code_at_ = 0;
  uint32_t degree_at_ = 0;
};

// The upper levels of a finished graph: few nodes, numbered anew ("upper numbers"). docs/format/spknn.md.
struct UpperLevels {
  static constexpr uint32_t kNone = 0xffffffff;

  uint32_t m = 16;
  uint32_t entry = kNone;        // upper number; kNone: no node has an upper level
  uint32_t entry_node = kNone;   // node of level 0 to begin with when there is none
  std::vector<uint32_t> nodes;   // by upper number: the node
  std::vector<uint32_t> starts;  // by upper number, and one more: where its lists begin in `lists`
  std::vector<uint32_t> lists;   // level 1 and up, m + 1 numbers each: how many, then upper numbers

  int TopLevel(uint32_t upper) const {
    return static_cast<int>((starts[upper + 1] - starts[upper]) / (m + 1));
  }
  const uint32_t* List(uint32_t upper, int level) const {
    return lists.data() + starts[upper] + static_cast<size_t>(level - 1) * (m + 1);
  }
  static UpperLevels Of(const Graph& graph);
  // All numbers are in range.
  bool IsSound(uint32_t node_count) const;
};

// What GreedySearch wants of the upper levels; numbers are upper numbers.
class UpperGraph {
 public:
  UpperGraph(const UpperLevels& levels, const NodeBlocks& blocks) : levels_(levels), blocks_(blocks) {}

  uint32_t node_count() const { return static_cast<uint32_t>(levels_.nodes.size()); }
  const uint8_t* Code(uint32_t upper) const { return blocks_.Code(levels_.nodes[upper]); }
  void AppendLinks(uint32_t upper, int level, VisitedSet& visited, std::vector<uint32_t>& links) const {
    const uint32_t* list = levels_.List(upper, level);
    for (uint32_t i = 1; i <= list[0]; ++i) {
      if (visited.Insert(list[i])) {
        links.push_back(list[i]);
      }
    }
  }
  void PrefetchLinks(uint32_t upper, int level) const { __builtin_prefetch(levels_.List(upper, level)); }

 private:
  const UpperLevels& levels_;
  const NodeBlocks& blocks_;
};

// Writes the block of a node to `block` (layout.stride() bytes, zeroed); the code is copied. Without a graph
// (nullptr) there are no links.
void WriteNodeBlock(const Graph* graph, uint32_t node, const uint8_t* code, const NodeLayout& layout,
                    uint8_t* block);
// The reverse of writing: a graph as the builder takes it. Links that are out of range are left out.
Graph GraphOf(const NodeBlocks& blocks, const UpperLevels& levels);

}  // namespace stoa::knn
