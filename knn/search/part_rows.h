#pragma once

#include <optional>

#include "knn/search/table_search.h"

namespace stoa::knn {

// The rows of one part that a search may return: alive, passing the filter, not the excluded one.
class PartRows {
 public:
  // `filter` may be nullptr: no filter.
  PartRows(const storage::TablePart& part, const RowBits* filter, std::optional<RowId> excluded)
      : part_(part), filter_(filter), excluded_(excluded) {}

  uint32_t word_count() const { return (part_.row_count() + 63) / 64; }
  // Of rows 64 × index … 64 × index + 63.
  uint64_t Word(uint32_t index) const {
    uint64_t bits = ~part_.deleted().Word(index);
    if (filter_ != nullptr) {
      bits &= index < filter_->words.size() ? filter_->words[index] : 0;
    }
    if (const uint32_t left = part_.row_count() - index * 64; left < 64) {
      bits &= (uint64_t{1} << left) - 1;
    }
    if (excluded_ && excluded_->value / 64 == index) {
      bits &= ~(uint64_t{1} << (excluded_->value % 64));
    }
    return bits;
  }
  bool Has(RowId row) const { return (Word(row.value / 64) >> (row.value % 64) & 1) != 0; }
  // At most; cheap.
  uint32_t MostRows() const { return filter_ != nullptr ? filter_->count : part_.live_count(); }
  bool filtered() const { return filter_ != nullptr; }

 private:
  const storage::TablePart& part_;
  const RowBits* filter_;
  std::optional<RowId> excluded_;
};

}  // namespace stoa::knn
