#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/column/column_predicate.h"

namespace stoa::storage {

// The texts of a predicate, made ready for looking up rows that have no dictionary. One thread at a time.
class TextMatcher {
 public:
  // True when it is not what was given last.
  bool Prepare(const BytesSet& texts);

  const std::vector<std::string>& texts() const { return texts_.values; }
  bool MayHave(uint64_t hash) const;
  bool Has(std::string_view text) const;

 private:
  bool prepared_ = false;
  BytesSet texts_;
  std::vector<uint64_t> hashes_;  // ascending
};

// Calls function(row in block) for the bits that are set.
template <typename Function>
void ForEachBit(const BlockBits& bits, Function function) {
  for (uint32_t word = 0; word < bits.size(); ++word) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      function(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  }
}

}  // namespace stoa::storage
