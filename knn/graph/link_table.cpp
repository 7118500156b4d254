#include "knn/graph/link_table.h"

#include <algorithm>
#include <utility>

namespace stoa::knn {

LinkTable::LinkTable(const CodeArray& codes, uint32_t m, std::vector<uint8_t> levels)
    : codes_(codes),
      m_(m),
      levels_(std::move(levels)),
      base_(new char[codes.count * ListBytes(0)]()),
      upper_start_(codes.count),
      locks_(new SpinLock[codes.count]) {
  uint64_t upper_bytes = 0;
  for (uint32_t node = 0; node < codes.count; ++node) {
    upper_start_[node] = upper_bytes;
    upper_bytes += levels_[node] * ListBytes(1);
  }
  upper_.reset(new char[upper_bytes]());
}

void LinkTable::AppendLinks(uint32_t node, int level, VisitedSet& visited,
                            std::vector<uint32_t>& links) const {
  const std::lock_guard lock(locks_[node]);
  const Header* list = ListOf(node, level);
  for (uint32_t i = 0; i < list->count; ++i) {
    if (visited.Insert(list->links()[i].node)) {
      links.push_back(list->links()[i].node);
    }
  }
}

std::vector<Link> LinkTable::Copy(uint32_t node, int level) const {
  const std::lock_guard lock(locks_[node]);
  const Header* list = ListOf(node, level);
  return std::vector<Link>(list->links(), list->links() + list->count);
}

void LinkTable::Set(uint32_t node, int level, std::span<const Link> links) {
  Edit(node, level, [&](Header& list) {
    list.count = static_cast<uint32_t>(links.size());
    std::copy(links.begin(), links.end(), list.links());
  });
}

}  // namespace stoa::knn
