#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/schema.h"

namespace stoa::storage {

inline constexpr uint32_t kBlockRows = 1024;  // rows of a block, in every column and in memory

// One bit a row of a block.
using BlockBits = std::array<uint64_t, kBlockRows / 64>;

// Values of lane kInt from low to high, both included; of the id column as uint64 (low and high are its
// bits).
struct IntRange {
  int64_t low = 0;
  int64_t high = 0;
};
// Ascending, unique; of the id column ascending as uint64.
struct IntSet {
  std::vector<int64_t> values;
};
// Lane kFloat, both included; NaN satisfies no range. Open ends are the next float (the caller's business).
struct FloatRange {
  float low = 0;
  float high = 0;
};
// Equal, byte for byte, to one of these; ascending, unique.
struct BytesSet {
  std::vector<std::string> values;
};

// Byte values of which the function says true. It always says the same of the same bytes and may be called
// from any thread; two tests are the same when they share the function. Columns with a dictionary ask it once
// a text.
struct BytesTest {
  std::shared_ptr<const std::function<bool(std::string_view)>> passes;
};

// A condition on a single value of a column (lane kInt, kFloat; kString), that storage can test itself.
struct ColumnPredicate {
  std::variant<IntRange, IntSet, FloatRange, BytesSet, BytesTest> test;
  bool negated = false;  // rows that do not satisfy `test`; a NaN satisfies a negated range

  Lane lane() const;  // of the columns it can test
};

}  // namespace stoa::storage
