#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "storage/base/result.h"
#include "storage/column/column_predicate.h"
#include "storage/column/number_kernels.h"

namespace stoa::storage {

// How the numbers of one block of up to 1,024 rows are packed; docs/format/spc.md, "Numbers". All of them
// work on keys: unsigned 64-bit numbers in the order of the column's values.
enum class BlockEncoding : uint8_t {
  kConstant = 0,  // no payload
  kPacked = 1,    // minimum + packed
  kTable = 2,     // distinct values, packed codes
  kRuns = 3,      // where runs begin, their values
  kPatched = 4,   // base + packed, and rows that are exceptions with values of their own
  kLinear = 5,    // base + a line through the block + packed
};
inline constexpr uint8_t kBlockEncodings = 6;

// The entry of a block in its column's directory. A plain value. What is read from a file has been through
// ValidateBlock; then every function below stays within the payload (and kPackedSlack bytes behind it),
// whatever the payload's bytes are.
struct NumberBlock {
  uint64_t offset = 0;   // of the payload, in its section
  uint64_t minimum = 0;  // keys
  uint64_t maximum = 0;
  uint64_t base = 0;   // kPatched, kLinear: the key of a packed 0
  int64_t slope = 0;   // kLinear: growth a row, in units of 2^-kSlopeBits
  uint16_t count = 0;  // kTable: values; kRuns: runs; kPatched: exceptions
  BlockEncoding encoding = BlockEncoding::kConstant;
  bool listed = false;      // kRuns, kPatched: the marked rows are a list, not a bitmap
  uint8_t width = 0;        // of packed
  uint8_t value_width = 0;  // of the values of table, runs and exceptions, which are minimum + these
  uint8_t decimal = 0;      // floats: 0: keys are OrderedBits; 1 + digits: decimals
};

inline constexpr unsigned kSlopeBits = 24;
inline constexpr int64_t kSteepestSlope = int64_t{1} << 52;  // so that slope × row stays below 2^63

// Where the parts of a payload are: packed, marks, values, in this order.
struct PayloadParts {
  size_t marks = 0;
  size_t values = 0;
  size_t size = 0;  // a multiple of 8
};
PayloadParts PartsOf(const NumberBlock& block, uint32_t rows);

// kCorrupt (without a place) when fields contradict each other.
Status ValidateBlock(const NumberBlock& block, uint32_t rows);

inline constexpr size_t kKeyRoom = kBlockRows + kUnpackStep;  // what DecodeKeys may write

// The key of one row, found by arithmetic. `payload` may begin behind the rows of which nothing is asked,
// when BeginsAnywhere: with `first_row`, a multiple of 8.
uint64_t KeyAt(const NumberBlock& block, const char* payload, uint32_t rows, uint32_t row,
               uint32_t first_row = 0);
// The key of a row of a block that BeginsAnywhere, from the 8 bytes its value begins in.
uint64_t KeyOfWord(const NumberBlock& block, uint64_t word, uint32_t row);
inline bool BeginsAnywhere(BlockEncoding encoding) {
  return encoding == BlockEncoding::kPacked || encoding == BlockEncoding::kLinear;
}
// All keys, plus `bias` (modulo 2^64).
void DecodeKeys(const NumberBlock& block, const char* payload, uint32_t rows, uint64_t bias, uint64_t* keys);
// Whether the payload is as the writer makes it: values within minimum and maximum, marks in order.
Status CheckPayload(const NumberBlock& block, const char* payload, uint32_t rows);

// The rows of a block that are marked: where runs begin, exceptions. A view of a payload.
class BlockMarks {
 public:
  BlockMarks(const NumberBlock& block, const char* payload, uint32_t rows, const PayloadParts& parts)
      : marks_(payload + parts.marks), rows_(rows), count_(block.count), listed_(block.listed) {}

  static size_t Bytes(size_t count, bool listed, uint32_t rows);

  // How many rows up to `row`, itself included, are marked; at most count().
  uint32_t CountUpTo(uint32_t row) const;
  bool IsMarked(uint32_t row, uint32_t count_up_to) const;
  uint32_t count() const { return count_; }
  // All of them, in order; entries that a damaged payload lacks are `rows`. Room for kBlockRows.
  void List(uint16_t* positions) const;

 private:
  uint64_t Word(uint32_t word) const;

  const char* marks_;
  uint32_t rows_;
  uint32_t count_;
  bool listed_;
};

}  // namespace stoa::storage
