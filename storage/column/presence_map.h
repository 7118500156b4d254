#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"
#include "storage/base/result.h"

namespace stoa::storage {

// Which rows have a value, and how many rows before a row have one. In memory: 1 bit a row and 4 bytes each
// 512 rows. Immutable once made; safe to share.
class PresenceMap {
 public:
  // All rows have a value.
  explicit PresenceMap(uint32_t rows = 0) : rows_(rows), present_(rows) {}
  // One bit a row, in little-endian words of 64; kCorrupt when the length is wrong or bits are set behind the
  // last row.
  static Result<PresenceMap> Decode(std::string_view bytes, uint32_t rows);

  uint32_t row_count() const { return rows_; }
  uint32_t present() const { return present_; }
  bool Has(RowId row) const {
    return words_.empty() || ((words_[row.value / 64] >> (row.value % 64)) & 1) != 0;
  }
  // The number of rows before `row` that have a value.
  uint32_t Rank(RowId row) const;
  uint64_t ram_bytes() const {
    return words_.capacity() * sizeof(uint64_t) + ranks_.capacity() * sizeof(uint32_t);
  }

 private:
  uint32_t rows_;
  uint32_t present_;
  std::vector<uint64_t> words_;  // empty: all
  std::vector<uint32_t> ranks_;  // before each 512 rows
};

// Collects the bits. One thread at a time.
class PresenceWriter {
 public:
  void Append(bool present);
  uint32_t row_count() const { return rows_; }
  uint32_t present() const { return present_; }
  std::string Encode() const;

 private:
  uint32_t rows_ = 0;
  uint32_t present_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace stoa::storage
