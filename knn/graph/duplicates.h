#pragma once

#include <vector>

#include "knn/graph/code_array.h"

namespace stoa::knn {

// Which codes are equal. `representative` of each node: the first one with its code; `next`: the chain of its
// equals, from the representative on; Graph::kNone ends it.
struct Duplicates {
  std::vector<uint32_t> representative;
  std::vector<uint32_t> next;
};
Duplicates FindDuplicates(const CodeArray& codes, size_t code_bytes);

}  // namespace stoa::knn
