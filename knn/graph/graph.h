#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stoa::knn {

// The links of an HNSW graph, as it is built and as it goes into a file. Nodes are numbered from 0.
//
// Nodes with the same code are one in the graph: the first of them has the links, the others hang on it in a
// chain, so that many equal vectors can not crowd out the links that lead elsewhere.
struct Graph {
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr uint32_t kMostNodes = 1u << 31;  // numbers are below
  static constexpr int kHighestLevel = 30;

  uint32_t m = 16;                       // most links on the upper levels; twice as many on level 0
  uint32_t node_count = 0;               // duplicates included
  uint32_t entry = kNone;                // a node of the highest level; kNone: no nodes
  std::vector<uint32_t> links;           // level 0: node × 2m …
  std::vector<uint16_t> degrees;         // level 0
  std::vector<uint32_t> next_duplicate;  // kNone: the last of its chain, or has no equals
  std::vector<uint8_t> levels;           // highest level of each node
  // Level 1 and up, by node: its lists, each m + 1 numbers: how many, then the links.
  std::vector<uint32_t> upper_start;  // by node; only for nodes with levels > 0
  std::vector<uint32_t> upper;

  std::span<const uint32_t> Links(uint32_t node) const {
    return std::span(links).subspan(uint64_t{node} * 2 * m, degrees[node]);
  }
  std::span<const uint32_t> UpperLinks(uint32_t node, int level) const {
    const size_t at = upper_start[node] + static_cast<size_t>(level - 1) * (m + 1);
    return std::span(upper).subspan(at + 1, upper[at]);
  }
};

}  // namespace stoa::knn
