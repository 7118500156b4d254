#pragma once

#include <bit>
#include <span>
#include <vector>

#include "knn/search/table_search.h"

namespace stoa::knn {

// The rows of one part that a search may return: alive, passing the filter, not left out.
class PartRows {
 public:
  // `filter` may be nullptr: no filter.
  PartRows(const storage::TablePart& part, const RowBits* filter) : part_(part), filter_(filter) {}

  void LeaveOut(std::span<const RowId> rows) {
    if (!rows.empty()) {
      left_out_.resize(word_count());
    }
    for (const RowId row : rows) {
      left_out_[row.value / 64] |= uint64_t{1} << (row.value % 64);
    }
  }

  uint32_t word_count() const { return (part_.row_count() + 63) / 64; }
  // Of rows 64 × index … 64 × index + 63; bit 0 is the first.
  uint64_t Word(uint32_t index) const {
    uint64_t bits = ~part_.deleted().Word(index);
    if (filter_ != nullptr) {
      bits &= index < filter_->words.size() ? filter_->words[index] : 0;
    }
    if (!left_out_.empty()) {
      bits &= ~left_out_[index];
    }
    if (const uint32_t left = part_.row_count() - index * 64; left < 64) {
      bits &= (uint64_t{1} << left) - 1;
    }
    return bits;
  }
  // Calls use(row) for the rows of a word.
  template <typename Use>
  void ForRowsOf(uint32_t word, const Use& use) const {
    for (uint64_t bits = Word(word); bits != 0; bits &= bits - 1) {
      use(RowId(word * 64 + static_cast<uint32_t>(std::countr_zero(bits))));
    }
  }
  bool Has(RowId row) const { return (Word(row.value / 64) >> (row.value % 64) & 1) != 0; }
  // An upper bound, cheap.
  uint32_t MostRows() const {
    return filter_ != nullptr && filter_->count < part_.live_count() ? filter_->count : part_.live_count();
  }
  // All rows of the part.
  bool IsEverything() const {
    return filter_ == nullptr && left_out_.empty() && part_.deleted().count() == 0;
  }

 private:
  const storage::TablePart& part_;
  const RowBits* filter_;
  std::vector<uint64_t> left_out_;
};

}  // namespace stoa::knn
