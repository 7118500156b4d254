#include "knn/graph/duplicates.h"

#include <xxhash.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstring>

#include "knn/graph/graph.h"

namespace stoa::knn {

Duplicates FindDuplicates(const CodeArray& codes, size_t code_bytes) {
  Duplicates found;
  found.representative.resize(codes.count);
  found.next.assign(codes.count, Graph::kNone);
  boost::unordered_flat_map<uint64_t, uint32_t>
      first_of;  // by hash; of different codes with one hash the first
  first_of.reserve(codes.count);
  for (uint32_t node = 0; node < codes.count; ++node) {
    const auto [entry, is_new] = first_of.try_emplace(XXH3_64bits(codes[node], code_bytes), node);
    const uint32_t first = entry->second;
    const bool equal = !is_new && std::memcmp(codes[node], codes[first], code_bytes) == 0;
    found.representative[node] = equal ? first : node;
    if (equal) {
      found.next[node] = found.next[first];
      found.next[first] = node;
    }
  }
  return found;
}

}  // namespace stoa::knn
