#include "storage/chunk/segment_select.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

namespace stoa::storage {
namespace {

constexpr size_t kShortSet = 8;

// Whether each of the cells from `first` on passes; bit 0 is the first.
template <typename T, typename Test>
uint64_t TestWord(const T* cells, uint32_t first, uint32_t count, const Test& test) {
  const uint32_t present = count > first ? std::min(64u, count - first) : 0;
  uint64_t mask = 0;
  for (uint32_t i = 0; i < present; ++i) {
    mask |= static_cast<uint64_t>(test(cells[first + i])) << i;
  }
  if (present < 64 && test(T{})) {
    mask |= ~uint64_t{0} << present;
  }
  return mask;
}

// The same for the cells of the bits that are set.
template <typename T, typename Test>
uint64_t TestBits(const T* cells, uint32_t first, uint32_t count, uint64_t wanted, const Test& test) {
  uint64_t mask = 0;
  for (; wanted != 0; wanted &= wanted - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(wanted));
    mask |= static_cast<uint64_t>(test(first + i < count ? cells[first + i] : T{})) << i;
  }
  return mask;
}

template <typename T, typename Test>
bool KeepPassing(const T* cells, uint32_t count, bool negated, BlockBits& bits, const Test& test) {
  constexpr int kFew = 12;  // bits of a word that are tested one by one
  for (uint32_t word = 0; word < bits.size(); ++word) {
    if (bits[word] != 0) {
      const uint64_t mask = std::popcount(bits[word]) <= kFew
                                ? TestBits(cells, word * 64, count, bits[word], test)
                                : TestWord(cells, word * 64, count, test);
      bits[word] &= negated ? ~mask : mask;
    }
  }
  return true;
}

// T: what the values are compared as.
template <typename T>
bool SelectIntegers(const T* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits) {
  using Wide = std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>;
  constexpr auto kLow = static_cast<Wide>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<Wide>(std::numeric_limits<T>::max());
  if (const auto* range = std::get_if<IntRange>(&predicate.test)) {
    const Wide low = std::max(kLow, static_cast<Wide>(range->low));
    const Wide high = std::min(kHigh, static_cast<Wide>(range->high));
    if (low > high) {
      return KeepPassing(cells, count, predicate.negated, bits, [](T) { return false; });
    }
    using Bits = std::make_unsigned_t<T>;
    const auto base = static_cast<Bits>(low);
    const auto width = static_cast<Bits>(static_cast<Bits>(high) - base);
    return KeepPassing(cells, count, predicate.negated, bits,
                       [=](T value) { return static_cast<Bits>(value) - base <= width; });
  }
  const auto* set = std::get_if<IntSet>(&predicate.test);
  if (set == nullptr || set->values.size() > kShortSet) {
    return false;
  }
  return KeepPassing(cells, count, predicate.negated, bits, [set](T value) {
    bool found = false;
    for (const int64_t wanted : set->values) {
      found |= static_cast<int64_t>(value) == wanted;
    }
    return found;
  });
}

}  // namespace

bool SelectCells(const uint32_t* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits) {
  return SelectIntegers(cells, count, predicate, bits);
}
bool SelectCells(const int64_t* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits) {
  return SelectIntegers(cells, count, predicate, bits);
}
bool SelectCells(const uint64_t* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits) {
  return SelectIntegers(cells, count, predicate, bits);
}

bool SelectCells(const float* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits) {
  const auto* range = std::get_if<FloatRange>(&predicate.test);
  return range != nullptr && KeepPassing(cells, count, predicate.negated, bits,
                                         [low = range->low, high = range->high](float value) {
                                           return (value >= low) & (value <= high);
                                         });
}

bool SelectCells(const BytesCell* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits) {
  if (const auto* test = std::get_if<BytesTest>(&predicate.test)) {
    return KeepPassing(cells, count, predicate.negated, bits,
                       [&passes = *test->passes](const BytesCell& cell) {
                         return passes(std::string_view(cell.data, cell.size));
                       });
  }
  const auto* set = std::get_if<BytesSet>(&predicate.test);
  if (set == nullptr) {
    return false;
  }
  return KeepPassing(cells, count, predicate.negated, bits, [&values = set->values](const BytesCell& cell) {
    const std::string_view value(cell.data, cell.size);
    return values.size() <= kShortSet ? std::find(values.begin(), values.end(), value) != values.end()
                                      : std::binary_search(values.begin(), values.end(), value);
  });
}

}  // namespace stoa::storage
