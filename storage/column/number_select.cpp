#include "storage/column/number_select.h"

#include <algorithm>
#include <cmath>

#include "storage/column/number_kernels_reference.h"

namespace stoa::storage {
namespace {

constexpr size_t kFewKeys = 4;                        // tested one after the other
constexpr uint64_t kBitmapRange = uint64_t{1} << 14;  // a set within it becomes a bitmap

bool IsIn(uint64_t key, KeyRange range) { return key >= range.low && key <= range.high; }

void SetBits(BlockBits& bits, uint32_t begin, uint32_t end) {
  for (uint32_t row = begin; row < end;) {
    const uint32_t in_word = std::min(64 - row % 64, end - row);
    bits[row / 64] |= (~uint64_t{0} >> (64 - in_word)) << (row % 64);
    row += in_word;
  }
}

void AssignBit(BlockBits& bits, uint32_t row, bool value) {
  const uint64_t bit = uint64_t{1} << (row % 64);
  bits[row / 64] = value ? bits[row / 64] | bit : bits[row / 64] & ~bit;
}

void UnpackValues(const NumberBlock& block, const char* payload, const PayloadParts& parts,
                  uint64_t* values) {
  UnpackKeys(payload + parts.values, block.value_width, block.count, block.minimum, values);
}

// The rows of the runs whose value passes.
template <typename Passes>
void SelectRuns(const NumberBlock& block, const char* payload, uint32_t rows, const Passes& passes,
                BlockBits& passing) {
  const PayloadParts parts = PartsOf(block, rows);
  uint64_t values[kKeyRoom];
  uint16_t starts[kKeyRoom];
  UnpackValues(block, payload, parts, values);
  BlockMarks(block, payload, rows, parts).List(starts);
  passing.fill(0);
  uint32_t begin = 0;
  for (uint32_t run = 0; run < block.count; ++run) {
    const uint32_t next = run + 1 < block.count ? std::min<uint32_t>(starts[run + 1], rows) : rows;
    const uint32_t end = std::max(begin, next);
    if (passes(values[run])) {
      SetBits(passing, begin, end);
    }
    begin = end;
  }
}

void SelectPatched(const NumberBlock& block, const char* payload, uint32_t rows, KeyRange range,
                   BlockBits& passing) {
  const PayloadParts parts = PartsOf(block, rows);
  uint64_t values[kKeyRoom];
  uint16_t positions[kKeyRoom];
  if (range.high < block.base) {
    passing.fill(0);
  } else {
    SelectPacked(payload, block.width, rows, range.low > block.base ? range.low - block.base : 0,
                 range.high - block.base, passing.data());
  }
  UnpackValues(block, payload, parts, values);
  BlockMarks(block, payload, rows, parts).List(positions);
  for (uint32_t i = 0; i < block.count; ++i) {
    if (positions[i] < rows) {
      AssignBit(passing, positions[i], IsIn(values[i], range));
    }
  }
}

// First code whose value is not below `key`.
uint64_t CodeFrom(const NumberBlock& block, const char* values, uint64_t key) {
  uint64_t low = 0;
  uint64_t high = block.count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (block.minimum + PackedAt(values, block.value_width, middle) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void SelectTable(const NumberBlock& block, const char* payload, uint32_t rows, KeyRange range,
                 BlockBits& passing) {
  const char* values = payload + PartsOf(block, rows).values;
  const uint64_t first = CodeFrom(block, values, range.low);
  uint64_t end = CodeFrom(block, values, range.high);
  if (end < block.count && block.minimum + PackedAt(values, block.value_width, end) == range.high) {
    ++end;
  }
  if (first >= end) {
    passing.fill(0);
    return;
  }
  SelectPacked(payload, block.width, rows, first, end - 1, passing.data());
}

void SelectTableSet(const NumberBlock& block, const char* payload, uint32_t rows, const KeySet& set,
                    BlockBits& passing) {
  uint64_t values[kKeyRoom];
  uint8_t passes[kBlockRows] = {};
  UnpackValues(block, payload, PartsOf(block, rows), values);
  uint32_t first = block.count;
  uint32_t end = 0;
  uint32_t found = 0;
  for (uint32_t code = 0; code < block.count; ++code) {
    passes[code] = set.Contains(values[code]) ? 1 : 0;
    if (passes[code] != 0) {
      first = std::min(first, code);
      end = code + 1;
      ++found;
    }
  }
  passing.fill(0);
  if (found == 0) {
    return;
  }
  if (found == end - first) {  // neighbours: one range
    SelectPacked(payload, block.width, rows, first, end - 1, passing.data());
    return;
  }
  uint16_t codes[kKeyRoom];
  UnpackCodes(payload, block.width, rows, codes);
  for (uint32_t row = 0; row < rows; ++row) {
    passing[row / 64] |= uint64_t{passes[codes[row] % kBlockRows]} << (row % 64);
  }
}

void SelectDecoded(const NumberBlock& block, const char* payload, uint32_t rows, const KeySet& set,
                   BlockBits& passing) {
  uint64_t keys[kKeyRoom];
  DecodeKeys(block, payload, rows, 0, keys);
  passing.fill(0);
  if (block.maximum - block.minimum >= kBitmapRange || set.size() > kBitmapRange / 8) {
    for (uint32_t row = 0; row < rows; ++row) {
      passing[row / 64] |= uint64_t{set.Contains(keys[row])} << (row % 64);
    }
    return;
  }
  uint64_t members[kBitmapRange / 64] = {};
  for (size_t i = 0; i < set.size(); ++i) {
    const uint64_t place = set[i] - block.minimum;
    members[place / 64] |= uint64_t{1} << (place % 64);
  }
  for (uint32_t row = 0; row < rows; ++row) {
    const uint64_t place = (keys[row] - block.minimum) % kBitmapRange;
    passing[row / 64] |= (members[place / 64] >> (place % 64) & 1) << (row % 64);
  }
}

// First key from block.minimum on whose float is not below `value` (or, `above`, is above it); maximum + 1
// when there is none. Floats grow with their decimals, so the estimate only shortens the search.
uint64_t FirstDecimal(const NumberBlock& block, float value, bool above) {
  const unsigned digits = block.decimal - 1u;
  const auto reached = [&](uint64_t key) {
    const float number = FloatOfDecimalKey(key, digits);
    return above ? number > value : number >= value;
  };
  uint64_t low = block.minimum;
  uint64_t high = block.maximum + 1;
  const double estimate =
      static_cast<double>(value) * kPowersOfTen[digits] + static_cast<double>(kDecimalBias);
  if (estimate > static_cast<double>(low) + 2 && estimate < static_cast<double>(high) - 2) {
    const auto guess = static_cast<uint64_t>(estimate);
    if (!reached(guess - 2)) {
      low = guess - 1;
    }
    if (reached(guess + 2)) {
      high = guess + 2;
    }
  }
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (reached(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

size_t KeySet::FirstFrom(uint64_t key) const {
  const auto below = [&](int64_t value) { return (static_cast<uint64_t>(value) ^ flip_) < key; };
  return static_cast<size_t>(std::partition_point(values_.begin(), values_.end(), below) - values_.begin());
}

bool KeySet::Contains(uint64_t key) const {
  const size_t index = FirstFrom(key);
  return index < size() && (*this)[index] == key;
}

KeySet KeySet::Within(uint64_t minimum, uint64_t maximum) const {
  const size_t first = FirstFrom(minimum);
  const size_t end = maximum == ~uint64_t{0} ? size() : FirstFrom(maximum + 1);
  return {values_.subspan(first, end - first), flip_};
}

std::optional<KeyRange> KeysOfFloats(const FloatRange& range, const NumberBlock& block) {
  if (!(range.low <= range.high)) {  // a NaN, too
    return std::nullopt;
  }
  KeyRange keys;
  if (block.decimal == 0) {
    // Both zeros are equal and have keys of their own.
    keys.low = std::max<uint64_t>(OrderedBits(range.low == 0 ? -0.0f : range.low), block.minimum);
    keys.high = std::min<uint64_t>(OrderedBits(range.high == 0 ? 0.0f : range.high), block.maximum);
  } else {
    keys.low = FirstDecimal(block, range.low, false);
    const uint64_t end = FirstDecimal(block, range.high, true);
    if (end == block.minimum) {
      return std::nullopt;
    }
    keys.high = end - 1;
  }
  return keys.low <= keys.high ? std::optional(keys) : std::nullopt;
}

void SelectRange(const NumberBlock& block, const char* payload, uint32_t rows, KeyRange range,
                 BlockBits& passing) {
  switch (block.encoding) {
    case BlockEncoding::kConstant:
      passing.fill(IsIn(block.minimum, range) ? ~uint64_t{0} : 0);
      break;
    case BlockEncoding::kPacked:
      SelectPacked(payload, block.width, rows, range.low - block.minimum, range.high - block.minimum,
                   passing.data());
      break;
    case BlockEncoding::kTable:
      SelectTable(block, payload, rows, range, passing);
      break;
    case BlockEncoding::kRuns:
      SelectRuns(
          block, payload, rows, [&](uint64_t key) { return IsIn(key, range); }, passing);
      break;
    case BlockEncoding::kPatched:
      SelectPatched(block, payload, rows, range, passing);
      break;
    case BlockEncoding::kLinear: {
      uint64_t keys[kKeyRoom];
      DecodeKeys(block, payload, rows, 0, keys);
      SelectPacked(reinterpret_cast<const char*>(keys), 64, rows, range.low, range.high, passing.data());
      break;
    }
  }
}

void SelectSet(const NumberBlock& block, const char* payload, uint32_t rows, const KeySet& set,
               BlockBits& passing) {
  if (block.encoding == BlockEncoding::kTable) {
    SelectTableSet(block, payload, rows, set, passing);
    return;
  }
  if (block.encoding == BlockEncoding::kRuns) {
    SelectRuns(
        block, payload, rows, [&](uint64_t key) { return set.Contains(key); }, passing);
    return;
  }
  if (set.size() > kFewKeys) {
    SelectDecoded(block, payload, rows, set, passing);
    return;
  }
  passing.fill(0);
  for (size_t i = 0; i < set.size(); ++i) {
    BlockBits equal{};
    SelectRange(block, payload, rows, {set[i], set[i]}, equal);
    for (size_t word = 0; word < passing.size(); ++word) {
      passing[word] |= equal[word];
    }
  }
}

}  // namespace stoa::storage
