#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "knn/graph/code_array.h"
#include "knn/graph/spin_lock.h"
#include "knn/graph/visited_set.h"

namespace stoa::knn {

// A link while the graph grows, with its length, so that lists can be pruned without computing it again.
struct Link {
  float distance;
  uint32_t node;
  friend auto operator<=>(const Link&, const Link&) = default;
};

// The links of a graph that grows, by node and level, each node's under its own lock. Lists may be longer by
// a quarter than the finished graph's, so that pruning pays for several links at once. Safe to use from many
// threads; what BeamSearch wants of a graph.
class LinkTable {
 public:
  LinkTable(const CodeArray& codes, uint32_t m, std::vector<uint8_t> levels);

  uint32_t node_count() const { return codes_.count; }
  const CodeArray& codes() const { return codes_; }
  const uint8_t* Code(uint32_t node) const { return codes_[node]; }
  int level(uint32_t node) const { return levels_[node]; }
  const std::vector<uint8_t>& levels() const { return levels_; }
  uint32_t MostLinks(int level) const { return level == 0 ? 2 * m_ : m_; }
  uint32_t Capacity(int level) const { return MostLinks(level) + MostLinks(level) / 4 + 1; }

  void AppendLinks(uint32_t node, int level, VisitedSet& visited, std::vector<uint32_t>& links) const;
  void PrefetchLinks(uint32_t node, int level) const { __builtin_prefetch(ListOf(node, level)); }

  std::vector<Link> Copy(uint32_t node, int level) const;
  bool HasLinks(uint32_t node) const { return ListOf(node, 0)->count > 0; }  // while nobody edits
  // Memory of a table, in bytes, about.
  static uint64_t BytesFor(uint32_t nodes, uint32_t m) {
    return uint64_t{nodes} * (sizeof(Header) + (2 * m + m / 2 + 1) * sizeof(Link) + 16);
  }
  void Set(uint32_t node, int level, std::span<const Link> links);
  // Calls change(list) with the node's list, which it may make longer up to Capacity(level), under the lock.
  template <typename Change>
  void Edit(uint32_t node, int level, const Change& change) {
    const std::lock_guard lock(locks_[node]);
    Header* list = ListOf(node, level);
    change(*list);
  }

  struct Header {
    uint32_t count = 0;
    Link* links() { return reinterpret_cast<Link*>(this + 1); }
    const Link* links() const { return reinterpret_cast<const Link*>(this + 1); }
    bool Has(uint32_t node) const {
      for (uint32_t i = 0; i < count; ++i) {
        if (links()[i].node == node) {
          return true;
        }
      }
      return false;
    }
  };

 private:
  size_t ListBytes(int level) const { return sizeof(Header) + Capacity(level) * sizeof(Link); }
  Header* ListOf(uint32_t node, int level) const {
    char* at = level == 0 ? base_.get() + node * ListBytes(0)
                          : upper_.get() + upper_start_[node] + static_cast<size_t>(level - 1) * ListBytes(1);
    return reinterpret_cast<Header*>(at);
  }

  CodeArray codes_;
  uint32_t m_;
  std::vector<uint8_t> levels_;
  std::unique_ptr<char[]> base_;
  std::vector<uint64_t> upper_start_;
  std::unique_ptr<char[]> upper_;
  mutable std::unique_ptr<SpinLock[]> locks_;
};

}  // namespace stoa::knn
