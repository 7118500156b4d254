#include "sql/exec/block_rows.h"

#include <algorithm>
#include <bit>

namespace stoa::sql {

using storage::BlockBits;
using storage::kBlockRows;

uint32_t BlockCount(const RowSource& source, size_t part) {
  const uint32_t rows = source.row_count(part);
  return rows / kBlockRows + (rows % kBlockRows != 0 ? 1 : 0);
}

BlockBits LiveRows(const RowSource& source, size_t part, uint32_t block) {
  constexpr uint32_t kWords = kBlockRows / 64;
  const storage::DeleteMap& deleted = source.deleted(part);
  const uint32_t first = block * kBlockRows;
  const uint32_t rows = std::min(kBlockRows, source.row_count(part) - first);
  BlockBits bits{};
  for (uint32_t word = 0; word * 64 < rows; ++word) {
    const uint32_t present = std::min(64u, rows - word * 64);
    bits[word] = present == 64 ? ~uint64_t{0} : (uint64_t{1} << present) - 1;
    if (deleted.count() > 0) {
      bits[word] &= ~deleted.Word(block * kWords + word);
    }
  }
  return bits;
}

uint32_t CountBits(const BlockBits& bits) {
  uint32_t count = 0;
  for (const uint64_t word : bits) {
    count += static_cast<uint32_t>(std::popcount(word));
  }
  return count;
}

void AppendRows(const BlockBits& bits, uint32_t block, std::vector<RowId>& rows) {
  for (uint32_t word = 0; word < bits.size(); ++word) {
    const uint32_t first = block * kBlockRows + word * 64;
    if (bits[word] == ~uint64_t{0}) {
      for (uint32_t i = 0; i < 64; ++i) {
        rows.push_back(RowId(first + i));
      }
      continue;
    }
    for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
      rows.push_back(RowId(first + static_cast<uint32_t>(std::countr_zero(left))));
    }
  }
}

}  // namespace stoa::sql
