#include "storage/column/number_encoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "storage/column/number_kernels_reference.h"

namespace stoa::storage {
namespace {

constexpr size_t kMostListed = 64;  // longer lists of marked rows take too many steps to search

class BitPacker {
 public:
  BitPacker(std::string& out, unsigned width) : out_(out), width_(width) {}

  void Add(uint64_t value) {
    if (width_ == 64) {
      AppendBytes(value, 8);
      return;
    }
    pending_ |= value << bits_;
    if (bits_ + width_ >= 64) {
      AppendBytes(pending_, 8);
      pending_ = bits_ == 0 ? 0 : value >> (64 - bits_);
      bits_ = bits_ + width_ - 64;
    } else {
      bits_ += width_;
    }
  }
  void Finish() { AppendBytes(pending_, (bits_ + 7) / 8); }

 private:
  void AppendBytes(uint64_t word, unsigned bytes) {
    out_.append(reinterpret_cast<const char*>(&word), bytes);
  }

  std::string& out_;
  unsigned width_;
  uint64_t pending_ = 0;
  unsigned bits_ = 0;
};

void AppendMarks(const NumberBlock& block, std::span<const uint16_t> rows_marked, uint32_t rows,
                 std::string& out) {
  if (block.listed) {
    BitPacker packer(out, 10);
    for (const uint16_t row : rows_marked) {
      packer.Add(row);
    }
    packer.Finish();
    return;
  }
  BlockBits bits{};
  for (const uint16_t row : rows_marked) {
    bits[row / 64] |= uint64_t{1} << (row % 64);
  }
  const size_t words = (rows + 63) / 64;
  out.append(reinterpret_cast<const char*>(bits.data()), words * sizeof(uint64_t));
  uint16_t before = 0;
  for (size_t word = 0; word < words; ++word) {
    if (word % 2 == 0) {
      out.append(reinterpret_cast<const char*>(&before), sizeof(before));
    }
    before = static_cast<uint16_t>(before + std::popcount(bits[word]));
  }
}

// By bytes from the lowest up, as far as the keys differ.
void SortKeys(std::vector<uint64_t>& keys, uint64_t minimum, uint64_t maximum) {
  constexpr unsigned kMostPasses = 5;
  const auto width = static_cast<unsigned>(std::bit_width(maximum - minimum));
  if (width > 8 * kMostPasses || keys.size() < 64) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  std::vector<uint64_t> other(keys.size());
  for (unsigned shift = 0; shift < width; shift += 8) {
    std::array<uint32_t, 256> next{};
    for (const uint64_t key : keys) {
      ++next[(key - minimum) >> shift & 0xff];
    }
    uint32_t sum = 0;
    for (uint32_t& place : next) {
      sum += std::exchange(place, sum);
    }
    for (const uint64_t key : keys) {
      other[next[(key - minimum) >> shift & 0xff]++] = key;
    }
    keys.swap(other);
  }
}

// The most keys that differ by at most `range`, and the first of them.
struct Window {
  size_t first = 0;
  size_t keys = 0;
};
Window WidestWindow(std::span<const uint64_t> sorted, uint64_t range) {
  Window best;
  for (size_t begin = 0, end = 0; end < sorted.size(); ++begin) {
    while (end < sorted.size() && sorted[end] - sorted[begin] <= range) {
      ++end;
    }
    if (end - begin > best.keys) {
      best = {begin, end - begin};
    }
  }
  return best;
}

// The candidates for one block.
class BlockPlanner {
 public:
  explicit BlockPlanner(std::span<const uint64_t> keys)
      : keys_(keys), rows_(static_cast<uint32_t>(keys.size())) {
    const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
    common_.minimum = *low;
    common_.maximum = *high;
  }

  std::optional<NumberBlock> Plan(BlockEncoding encoding) {
    switch (encoding) {
      case BlockEncoding::kConstant:
        return common_.minimum == common_.maximum ? std::optional(common_) : std::nullopt;
      case BlockEncoding::kPacked:
        return Packed();
      case BlockEncoding::kTable:
        return Table();
      case BlockEncoding::kRuns:
        return Runs();
      case BlockEncoding::kPatched:
        return Patched(std::numeric_limits<size_t>::max());
      case BlockEncoding::kLinear:
        return Linear();
    }
    return std::nullopt;
  }

  NumberBlock Best() {
    if (common_.minimum == common_.maximum) {
      return common_;
    }
    NumberBlock best = Packed();
    size_t size = SizeOf(best);
    // What is slower to read than what is already found has to be worth it.
    const auto offer = [&](const std::optional<NumberBlock>& other) {
      if (other.has_value() && SizeOf(*other) + SizeOf(*other) / 32 < size) {
        best = *other;
        size = SizeOf(*other);
      }
    };
    offer(Linear());
    offer(Runs());
    if (size > 8) {
      offer(Table());
      offer(Patched(size));
    }
    return best;
  }

  size_t SizeOf(const NumberBlock& block) const { return PartsOf(block, rows_).size; }

 private:
  NumberBlock Start(BlockEncoding encoding) const {
    NumberBlock block = common_;
    block.encoding = encoding;
    return block;
  }
  uint8_t RangeWidth() const { return static_cast<uint8_t>(PackedWidth(common_.maximum - common_.minimum)); }
  void SetMarks(NumberBlock& block, size_t count) const {
    block.count = static_cast<uint16_t>(count);
    block.value_width = RangeWidth();
    block.listed = count <= kMostListed &&
                   BlockMarks::Bytes(count, true, rows_) < BlockMarks::Bytes(count, false, rows_);
  }
  const std::vector<uint64_t>& Sorted() {
    if (sorted_.empty()) {
      sorted_.assign(keys_.begin(), keys_.end());
      SortKeys(sorted_, common_.minimum, common_.maximum);
    }
    return sorted_;
  }

  NumberBlock Packed() const {
    NumberBlock block = Start(BlockEncoding::kPacked);
    block.width = RangeWidth();
    return block;
  }
  NumberBlock Table();
  NumberBlock Runs() const;
  std::optional<NumberBlock> Patched(size_t below);
  std::optional<NumberBlock> Linear() const;

  std::span<const uint64_t> keys_;
  uint32_t rows_;
  NumberBlock common_;
  std::vector<uint64_t> sorted_;
};

NumberBlock BlockPlanner::Table() {
  const std::vector<uint64_t>& sorted = Sorted();
  size_t distinct = 1;
  for (size_t i = 1; i < sorted.size(); ++i) {
    distinct += sorted[i] != sorted[i - 1] ? 1 : 0;
  }
  NumberBlock block = Start(BlockEncoding::kTable);
  block.count = static_cast<uint16_t>(distinct);
  block.value_width = RangeWidth();
  block.width = static_cast<uint8_t>(PackedWidth(distinct - 1));
  return block;
}

NumberBlock BlockPlanner::Runs() const {
  size_t runs = 1;
  for (size_t i = 1; i < keys_.size(); ++i) {
    runs += keys_[i] != keys_[i - 1] ? 1 : 0;
  }
  NumberBlock block = Start(BlockEncoding::kRuns);
  SetMarks(block, runs);
  return block;
}

// For each width the window of values that leaves the fewest exceptions. Every 16th key tells, before the
// exact search, how many a window can hold at most.
std::optional<NumberBlock> BlockPlanner::Patched(size_t below) {
  constexpr size_t kSampled = 16;
  const std::vector<uint64_t>& sorted = Sorted();
  std::vector<uint64_t> sample;
  for (size_t i = 0; i < sorted.size(); i += kSampled) {
    sample.push_back(sorted[i]);
  }
  std::optional<NumberBlock> best;
  for (unsigned width = 0; width < RangeWidth() && width <= 57 && size_t{rows_} * width / 8 < below;
       ++width) {
    const uint64_t range = (uint64_t{1} << width) - 1;
    NumberBlock block = Start(BlockEncoding::kPatched);
    block.width = static_cast<uint8_t>(width);
    const size_t most = (WidestWindow(sample, range).keys + 1) * kSampled;
    SetMarks(block, most < rows_ ? rows_ - most : 1);
    if (SizeOf(block) >= below) {
      continue;
    }
    const Window window = WidestWindow(sorted, range);
    block.base = sorted[window.first];
    SetMarks(block, rows_ - window.keys);
    if (block.count != 0 && SizeOf(block) < below) {
      below = SizeOf(block);
      best = block;
    }
  }
  return best;
}

std::optional<NumberBlock> BlockPlanner::Linear() const {
  constexpr uint64_t kMostGrowth = uint64_t{1} << 38;  // so that slope × row stays below 2^63
  const auto growth = static_cast<int64_t>(keys_.back() - keys_.front());
  if (rows_ < 2 || growth > static_cast<int64_t>(kMostGrowth) ||
      growth < -static_cast<int64_t>(kMostGrowth)) {
    return std::nullopt;
  }
  NumberBlock block = Start(BlockEncoding::kLinear);
  block.slope = growth * (int64_t{1} << kSlopeBits) / int64_t{rows_ - 1};
  if (block.slope > kSteepestSlope || block.slope < -kSteepestSlope) {
    return std::nullopt;
  }
  int64_t low = 0;
  int64_t high = 0;
  int64_t line = 0;
  for (const uint64_t key : keys_) {
    const auto above = static_cast<int64_t>(key - keys_.front() - static_cast<uint64_t>(line >> kSlopeBits));
    low = std::min(low, above);
    high = std::max(high, above);
    line += block.slope;
  }
  block.base = keys_.front() + static_cast<uint64_t>(low);
  block.width = static_cast<uint8_t>(PackedWidth(static_cast<uint64_t>(high) - static_cast<uint64_t>(low)));
  return block;
}

// Packs a block as it was planned.
class BlockWriter {
 public:
  BlockWriter(const NumberBlock& block, std::span<const uint64_t> keys, std::string& out)
      : block_(block), keys_(keys), out_(out), start_(out.size()) {}

  void Write() {
    switch (block_.encoding) {
      case BlockEncoding::kConstant:
        break;
      case BlockEncoding::kPacked:
        Pack(block_.width, keys_, [&](size_t, uint64_t key) { return key - block_.minimum; });
        break;
      case BlockEncoding::kLinear:
        Pack(block_.width, keys_, [&](size_t row, uint64_t key) {
          const auto line = static_cast<uint64_t>((block_.slope * static_cast<int64_t>(row)) >> kSlopeBits);
          return key - block_.base - line;
        });
        break;
      case BlockEncoding::kTable:
        Table();
        break;
      case BlockEncoding::kRuns:
        Mark([&](size_t row) { return row == 0 || keys_[row] != keys_[row - 1]; });
        break;
      case BlockEncoding::kPatched: {
        const auto is_exception = [&](size_t row) { return (keys_[row] - block_.base) >> block_.width != 0; };
        Pack(block_.width, keys_,
             [&](size_t row, uint64_t key) { return is_exception(row) ? 0 : key - block_.base; });
        Mark(is_exception);
        break;
      }
    }
    out_.append((8 - (out_.size() - start_) % 8) % 8, '\0');
  }

 private:
  template <typename Of>
  void Pack(unsigned width, std::span<const uint64_t> numbers, const Of& of) {
    BitPacker packer(out_, width);
    for (size_t i = 0; i < numbers.size(); ++i) {
      packer.Add(of(i, numbers[i]));
    }
    packer.Finish();
  }
  void PackValues(std::span<const uint64_t> values) {
    Pack(block_.value_width, values, [&](size_t, uint64_t key) { return key - block_.minimum; });
  }
  void Table() {
    std::vector<uint64_t> values(keys_.begin(), keys_.end());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    Pack(block_.width, keys_, [&](size_t, uint64_t key) {
      return static_cast<uint64_t>(std::lower_bound(values.begin(), values.end(), key) - values.begin());
    });
    PackValues(values);
  }
  template <typename IsMarked>
  void Mark(const IsMarked& is_marked) {
    std::vector<uint16_t> rows;
    std::vector<uint64_t> values;
    for (size_t row = 0; row < keys_.size(); ++row) {
      if (is_marked(row)) {
        rows.push_back(static_cast<uint16_t>(row));
        values.push_back(keys_[row]);
      }
    }
    AppendMarks(block_, rows, static_cast<uint32_t>(keys_.size()), out_);
    PackValues(values);
  }

  const NumberBlock& block_;
  std::span<const uint64_t> keys_;
  std::string& out_;
  size_t start_;
};

// value × 10^digits as an integer below 2^31 in size, when dividing it again gives the same bits.
std::optional<int64_t> DecimalOf(float value, unsigned digits) {
  const double scaled = std::nearbyint(static_cast<double>(value) * kPowersOfTen[digits]);
  if (!(std::abs(scaled) < 2147483648.0)) {
    return std::nullopt;
  }
  const auto decimal = static_cast<int64_t>(scaled);
  return std::bit_cast<uint32_t>(FloatOfDecimal(decimal, digits)) == std::bit_cast<uint32_t>(value)
             ? std::optional(decimal)
             : std::nullopt;
}

// The fewest digits that hold all values exactly.
std::optional<unsigned> DecimalDigits(std::span<const float> values, std::vector<uint64_t>& keys) {
  unsigned digits = 0;
  keys.clear();
  while (keys.size() < values.size()) {
    const auto decimal = DecimalOf(values[keys.size()], digits);
    if (decimal.has_value()) {
      keys.push_back(static_cast<uint64_t>(*decimal) + kDecimalBias);
    } else if (digits == kMaxDecimalDigits) {
      return std::nullopt;
    } else {
      ++digits;
      keys.clear();
    }
  }
  return digits;
}

}  // namespace

NumberBlock EncodeKeys(std::span<const uint64_t> keys, std::string& payload) {
  const NumberBlock block = BlockPlanner(keys).Best();
  BlockWriter(block, keys, payload).Write();
  return block;
}

NumberBlock EncodeFloats(std::span<const float> values, std::string& payload) {
  std::vector<uint64_t> ordered(values.size());
  std::transform(values.begin(), values.end(), ordered.begin(), OrderedBits);
  std::vector<uint64_t> decimals;
  const auto digits = DecimalDigits(values, decimals);
  BlockPlanner planner(ordered);
  NumberBlock block = planner.Best();
  if (digits.has_value()) {
    BlockPlanner decimal_planner(decimals);
    NumberBlock decimal_block = decimal_planner.Best();
    decimal_block.decimal = static_cast<uint8_t>(1 + *digits);
    if (decimal_planner.SizeOf(decimal_block) < planner.SizeOf(block)) {
      BlockWriter(decimal_block, decimals, payload).Write();
      return decimal_block;
    }
  }
  BlockWriter(block, ordered, payload).Write();
  return block;
}

std::optional<NumberBlock> EncodeKeysAs(BlockEncoding encoding, std::span<const uint64_t> keys,
                                        std::string& payload) {
  const auto block = BlockPlanner(keys).Plan(encoding);
  if (block.has_value()) {
    BlockWriter(*block, keys, payload).Write();
  }
  return block;
}

}  // namespace stoa::storage
