#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"
#include "storage/column/number_block.h"
#include "storage/schema.h"

namespace stoa::storage {

// What the writer and the readers of number columns agree on beside the blocks. docs/format/spc.md,
// "Numbers".

inline constexpr uint32_t kZoneRows = 65'536;

inline bool IsNumber(ColumnType type) { return LaneOf(type) == Lane::kInt || LaneOf(type) == Lane::kFloat; }
inline uint32_t BlocksOf(uint32_t rows) { return rows / kBlockRows + (rows % kBlockRows != 0 ? 1 : 0); }
inline uint32_t RowsOfBlock(uint32_t block, uint32_t rows) {
  const uint32_t left = rows - block * kBlockRows;
  return left < kBlockRows ? left : kBlockRows;
}

// Keys of lane kInt: value ^ flip. The id column is in the order of uint64, the others in that of int64.
// Flipping the top bit is adding it, so a key plus the flip is the value again.
inline uint64_t KeyFlip(ColumnType type) { return type == ColumnType::kId ? 0 : uint64_t{1} << 63; }
// Also of 0.0, as OrderedBits and as a decimal.
inline uint64_t KeyOfZero(ColumnType type) {
  return LaneOf(type) == Lane::kFloat ? uint64_t{1} << 31 : KeyFlip(type);
}

// Section kColumn.
struct NumberInfo {
  ColumnType type = ColumnType::kInt;
  uint32_t rows = 0;

  std::string Encode() const;
  static Result<NumberInfo> Decode(std::string_view bytes);
};

// Section kDirectory, entry by entry. One thread at a time.
class NumberDirectoryWriter {
 public:
  explicit NumberDirectoryWriter(ColumnType type) : last_minimum_(KeyOfZero(type)) {}

  void Add(const NumberBlock& block);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  uint64_t last_minimum_;
};

// All entries, valid, with their offsets. `payload_bytes` is the length of section kBlocks; the entries have
// to account for all of it.
Result<std::vector<NumberBlock>> ReadNumberDirectory(std::string_view bytes, const NumberInfo& info,
                                                     uint64_t payload_bytes);

// Smallest and largest value of 65,536 rows, as keys; of floats as OrderedBits.
struct NumberZone {
  uint64_t minimum = 0;
  uint64_t maximum = 0;
  friend bool operator==(const NumberZone&, const NumberZone&) = default;
};
// Section kZones: what the zones of these blocks are.
std::vector<NumberZone> ZonesOf(const std::vector<NumberBlock>& blocks);
std::string EncodeZones(const std::vector<NumberZone>& zones);

}  // namespace stoa::storage
