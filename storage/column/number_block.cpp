#include "storage/column/number_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "storage/column/number_kernels_reference.h"

namespace stoa::storage {
namespace {

constexpr unsigned kPositionWidth = 10;
constexpr uint32_t kRankRows = 128;  // rows a running count of a bitmap is for

size_t PackedBytes(size_t count, unsigned width) { return (count * width + 7) / 8; }

bool HasMarks(BlockEncoding encoding) {
  return encoding == BlockEncoding::kRuns || encoding == BlockEncoding::kPatched;
}

bool HasPacked(BlockEncoding encoding) {
  return encoding != BlockEncoding::kConstant && encoding != BlockEncoding::kRuns;
}

uint64_t ValueAt(const NumberBlock& block, const char* payload, const PayloadParts& parts, size_t index) {
  return block.minimum + PackedAt(payload + parts.values, block.value_width, index);
}

uint64_t LineAt(const NumberBlock& block, uint32_t row) {
  return block.base + static_cast<uint64_t>((block.slope * int64_t{row}) >> kSlopeBits);
}

void DecodeTable(const NumberBlock& block, const char* payload, uint32_t rows, uint64_t bias,
                 uint64_t* keys) {
  uint64_t values[kKeyRoom];
  uint16_t codes[kKeyRoom];
  UnpackKeys(payload + PartsOf(block, rows).values, block.value_width, block.count, block.minimum + bias,
             values);
  UnpackCodes(payload, block.width, rows, codes);
  const uint16_t last = static_cast<uint16_t>(block.count - 1);
  for (uint32_t row = 0; row < rows; ++row) {
    keys[row] = values[std::min(codes[row], last)];
  }
}

void DecodeRuns(const NumberBlock& block, const char* payload, uint32_t rows, uint64_t bias, uint64_t* keys) {
  const PayloadParts parts = PartsOf(block, rows);
  uint64_t values[kKeyRoom];
  uint16_t starts[kKeyRoom];
  UnpackKeys(payload + parts.values, block.value_width, block.count, block.minimum + bias, values);
  BlockMarks(block, payload, rows, parts).List(starts);
  uint32_t row = 0;
  for (uint32_t run = 0; run < block.count; ++run) {
    const uint32_t end = run + 1 < block.count ? std::min<uint32_t>(starts[run + 1], rows) : rows;
    for (; row < end; ++row) {
      keys[row] = values[run];
    }
  }
}

void DecodePatched(const NumberBlock& block, const char* payload, uint32_t rows, uint64_t bias,
                   uint64_t* keys) {
  const PayloadParts parts = PartsOf(block, rows);
  uint64_t values[kKeyRoom];
  uint16_t positions[kKeyRoom];
  UnpackKeys(payload + parts.values, block.value_width, block.count, block.minimum + bias, values);
  BlockMarks(block, payload, rows, parts).List(positions);
  UnpackKeys(payload, block.width, rows, block.base + bias, keys);
  for (uint32_t i = 0; i < block.count; ++i) {
    if (positions[i] < rows) {
      keys[positions[i]] = values[i];
    }
  }
}

Status CheckMarks(const NumberBlock& block, const char* payload, uint32_t rows) {
  uint16_t positions[kKeyRoom];
  BlockMarks(block, payload, rows, PartsOf(block, rows)).List(positions);
  for (uint32_t i = 0; i < block.count; ++i) {
    if (positions[i] >= rows || (i > 0 && positions[i] <= positions[i - 1])) {
      return CorruptError("marked rows are out of order");
    }
  }
  if (block.encoding == BlockEncoding::kRuns && positions[0] != 0) {
    return CorruptError("the first run does not begin at the first row");
  }
  return Status::Ok();
}

Status CheckTable(const NumberBlock& block, const char* payload, uint32_t rows) {
  uint16_t codes[kKeyRoom];
  UnpackCodes(payload, block.width, rows, codes);
  if (*std::max_element(codes, codes + rows) >= block.count) {
    return CorruptError("a code is not in the table");
  }
  const PayloadParts parts = PartsOf(block, rows);
  for (size_t i = 1; i < block.count; ++i) {
    if (ValueAt(block, payload, parts, i) <= ValueAt(block, payload, parts, i - 1)) {
      return CorruptError("the table is out of order");
    }
  }
  return Status::Ok();
}

bool IsWidth(unsigned width) { return width <= 57 || width == 64; }

}  // namespace

PayloadParts PartsOf(const NumberBlock& block, uint32_t rows) {
  PayloadParts parts;
  parts.marks = HasPacked(block.encoding) ? PackedBytes(rows, block.width) : 0;
  parts.values = parts.marks;
  if (HasMarks(block.encoding)) {
    parts.values += BlockMarks::Bytes(block.count, block.listed, rows);
  }
  parts.size = (parts.values + PackedBytes(block.count, block.value_width) + 7) / 8 * 8;
  return parts;
}

Status ValidateBlock(const NumberBlock& block, uint32_t rows) {
  const auto encoding = static_cast<uint8_t>(block.encoding);
  if (encoding >= kBlockEncodings) {
    return CorruptError("unknown encoding {}", encoding);
  }
  if (rows == 0 || rows > kBlockRows) {
    return CorruptError("{} rows", rows);
  }
  if (block.minimum > block.maximum ||
      (block.encoding == BlockEncoding::kConstant && block.minimum != block.maximum)) {
    return CorruptError("minimum {} and maximum {}", block.minimum, block.maximum);
  }
  if (!IsWidth(block.width) || !IsWidth(block.value_width) ||
      (block.encoding == BlockEncoding::kTable && block.width > kPositionWidth)) {
    return CorruptError("width {} and {}", block.width, block.value_width);
  }
  const bool counts = block.encoding == BlockEncoding::kTable || HasMarks(block.encoding);
  if (counts ? block.count == 0 || block.count > rows : block.count != 0) {
    return CorruptError("{} values of {} rows", block.count, rows);
  }
  if (block.slope > kSteepestSlope || block.slope < -kSteepestSlope) {
    return CorruptError("slope {}", block.slope);
  }
  if (block.decimal > 1 + kMaxDecimalDigits) {
    return CorruptError("{} decimal digits", block.decimal - 1);
  }
  return Status::Ok();
}

uint64_t KeyAt(const NumberBlock& block, const char* payload, uint32_t rows, uint32_t row,
               uint32_t first_row) {
  switch (block.encoding) {
    case BlockEncoding::kConstant:
      return block.minimum;
    case BlockEncoding::kPacked:
      return block.minimum + PackedAt(payload, block.width, row - first_row);
    case BlockEncoding::kLinear:
      return LineAt(block, row) + PackedAt(payload, block.width, row - first_row);
    case BlockEncoding::kTable: {
      const uint64_t code = PackedAt(payload, block.width, row);
      return ValueAt(block, payload, PartsOf(block, rows), std::min<uint64_t>(code, block.count - 1u));
    }
    case BlockEncoding::kRuns: {
      const PayloadParts parts = PartsOf(block, rows);
      const uint32_t run = BlockMarks(block, payload, rows, parts).CountUpTo(row);
      return ValueAt(block, payload, parts, std::max(run, 1u) - 1);
    }
    case BlockEncoding::kPatched: {
      const PayloadParts parts = PartsOf(block, rows);
      const BlockMarks marks(block, payload, rows, parts);
      const uint32_t exception = marks.CountUpTo(row);
      return marks.IsMarked(row, exception) ? ValueAt(block, payload, parts, exception - 1)
                                            : block.base + PackedAt(payload, block.width, row);
    }
  }
  return 0;
}

uint64_t KeyOfWord(const NumberBlock& block, uint64_t word, uint32_t row) {
  const uint64_t packed = PackedIn(word, block.width, row);
  return block.encoding == BlockEncoding::kPacked ? block.minimum + packed : LineAt(block, row) + packed;
}

void DecodeKeys(const NumberBlock& block, const char* payload, uint32_t rows, uint64_t bias, uint64_t* keys) {
  switch (block.encoding) {
    case BlockEncoding::kConstant:
      std::fill_n(keys, rows, block.minimum + bias);
      break;
    case BlockEncoding::kPacked:
      UnpackKeys(payload, block.width, rows, block.minimum + bias, keys);
      break;
    case BlockEncoding::kLinear: {
      UnpackKeys(payload, block.width, rows, block.base + bias, keys);
      int64_t line = 0;
      for (uint32_t row = 0; row < rows; ++row, line += block.slope) {
        keys[row] += static_cast<uint64_t>(line >> kSlopeBits);
      }
      break;
    }
    case BlockEncoding::kTable:
      DecodeTable(block, payload, rows, bias, keys);
      break;
    case BlockEncoding::kRuns:
      DecodeRuns(block, payload, rows, bias, keys);
      break;
    case BlockEncoding::kPatched:
      DecodePatched(block, payload, rows, bias, keys);
      break;
  }
}

Status CheckPayload(const NumberBlock& block, const char* payload, uint32_t rows) {
  if (HasMarks(block.encoding)) {
    RETURN_IF_ERROR(CheckMarks(block, payload, rows));
  }
  if (block.encoding == BlockEncoding::kTable) {
    RETURN_IF_ERROR(CheckTable(block, payload, rows));
  }
  uint64_t keys[kKeyRoom];
  DecodeKeys(block, payload, rows, 0, keys);
  const auto [low, high] = std::minmax_element(keys, keys + rows);
  if (*low != block.minimum || *high != block.maximum) {
    return CorruptError("values from {} to {} instead of {} to {}", *low, *high, block.minimum,
                        block.maximum);
  }
  return Status::Ok();
}

// A bitmap has a running count for every 128 rows behind its words.
size_t BlockMarks::Bytes(size_t count, bool listed, uint32_t rows) {
  if (listed) {
    return PackedBytes(count, kPositionWidth);
  }
  return (rows + 63) / 64 * sizeof(uint64_t) + (rows + kRankRows - 1) / kRankRows * sizeof(uint16_t);
}

uint64_t BlockMarks::Word(uint32_t word) const {
  uint64_t bits;
  std::memcpy(&bits, marks_ + word * sizeof(bits), sizeof(bits));
  return bits;
}

uint32_t BlockMarks::CountUpTo(uint32_t row) const {
  if (listed_) {
    uint32_t low = 0;
    uint32_t high = count_;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (PackedAt(marks_, kPositionWidth, middle) <= row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  uint16_t before;
  const size_t words = (rows_ + 63) / 64;
  std::memcpy(&before, marks_ + words * sizeof(uint64_t) + row / kRankRows * sizeof(before), sizeof(before));
  const uint32_t word = row / 64;
  uint32_t marked = before;
  if (word % 2 == 1) {
    marked += static_cast<uint32_t>(std::popcount(Word(word - 1)));
  }
  marked += static_cast<uint32_t>(std::popcount(Word(word) << (63 - row % 64)));
  return std::min(marked, count_);
}

bool BlockMarks::IsMarked(uint32_t row, uint32_t count_up_to) const {
  if (count_up_to == 0) {
    return false;
  }
  return listed_ ? PackedAt(marks_, kPositionWidth, count_up_to - 1) == row
                 : (Word(row / 64) >> (row % 64) & 1) != 0;
}

void BlockMarks::List(uint16_t* positions) const {
  if (listed_) {
    UnpackCodes(marks_, kPositionWidth, count_, positions);
    return;
  }
  uint32_t found = 0;
  for (uint32_t word = 0; word * 64 < rows_; ++word) {
    for (uint64_t bits = Word(word); bits != 0 && found < count_; bits &= bits - 1) {
      positions[found++] = static_cast<uint16_t>(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
    }
  }
  std::fill(positions + found, positions + count_, static_cast<uint16_t>(rows_));
}

}  // namespace stoa::storage
