#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "storage/column/column_predicate.h"
#include "storage/column/number_block.h"

namespace stoa::storage {

// Conditions on the keys of a block, tested on what is packed.

struct KeyRange {
  uint64_t low = 0;
  uint64_t high = 0;
};

// Ascending values of lane kInt as keys (value ^ flip). A view.
class KeySet {
 public:
  KeySet(std::span<const int64_t> values, uint64_t flip) : values_(values), flip_(flip) {}

  size_t size() const { return values_.size(); }
  uint64_t operator[](size_t index) const { return static_cast<uint64_t>(values_[index]) ^ flip_; }
  bool Contains(uint64_t key) const;
  KeySet Within(uint64_t minimum, uint64_t maximum) const;

 private:
  size_t FirstFrom(uint64_t key) const;

  std::span<const int64_t> values_;
  uint64_t flip_;
};

// The keys of a float block whose floats are in the range; none when no key from minimum to maximum is.
std::optional<KeyRange> KeysOfFloats(const FloatRange& range, const NumberBlock& block);

// Bit i of `passing`: the key of row i is in the range (which lies within minimum and maximum). Bits behind
// the block's rows are undefined.
void SelectRange(const NumberBlock& block, const char* payload, uint32_t rows, KeyRange range,
                 BlockBits& passing);
void SelectSet(const NumberBlock& block, const char* payload, uint32_t rows, const KeySet& set,
               BlockBits& passing);

}  // namespace stoa::storage
