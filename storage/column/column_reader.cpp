#include "storage/column/column_reader.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace stoa::storage {
namespace {

// Values of the rows of a block, tested one by one.
class ValueTest {
 public:
  ValueTest(ColumnReader& reader, std::span<const RowId> rows, BlockBits& bits, bool negated)
      : reader_(reader), rows_(rows), bits_(bits), negated_(negated) {}

  Status Run(const IntRange& range) {
    if (reader_.type() == ColumnType::kId) {
      const auto low = static_cast<uint64_t>(range.low);
      const auto high = static_cast<uint64_t>(range.high);
      return Ints([&](int64_t value) {
        return static_cast<uint64_t>(value) >= low && static_cast<uint64_t>(value) <= high;
      });
    }
    return Ints([&](int64_t value) { return value >= range.low && value <= range.high; });
  }
  Status Run(const IntSet& set) {
    if (reader_.type() == ColumnType::kId) {
      return Ints([&](int64_t value) {
        return std::binary_search(set.values.begin(), set.values.end(), value, [](int64_t a, int64_t b) {
          return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
        });
      });
    }
    return Ints(
        [&](int64_t value) { return std::binary_search(set.values.begin(), set.values.end(), value); });
  }
  Status Run(const FloatRange& range) {
    float values[kBlockRows];
    RETURN_IF_ERROR(reader_.ReadFloats(rows_, std::span(values, rows_.size())));
    Keep(values, [&](float value) { return value >= range.low && value <= range.high; });
    return Status::Ok();
  }
  Status Run(const BytesSet& set) {
    return Bytes([&](std::string_view value) {
      return std::binary_search(set.values.begin(), set.values.end(), value, std::less<>());
    });
  }
  Status Run(const BytesTest& bytes_test) { return Bytes(*bytes_test.passes); }

 private:
  template <typename Passes>
  Status Ints(const Passes& passes) {
    int64_t values[kBlockRows];
    RETURN_IF_ERROR(reader_.ReadInts(rows_, std::span(values, rows_.size())));
    Keep(values, passes);
    return Status::Ok();
  }
  template <typename Passes>
  Status Bytes(const Passes& passes) {
    std::string_view values[kBlockRows];
    ReadBuffer buffer;
    RETURN_IF_ERROR(reader_.ReadBytes(rows_, std::span(values, rows_.size()), buffer));
    Keep(values, passes);
    return Status::Ok();
  }
  template <typename Value, typename Passes>
  void Keep(const Value* values, const Passes& passes) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (passes(values[i]) == negated_) {
        const uint32_t row = rows_[i].value % kBlockRows;
        bits_[row / 64] &= ~(uint64_t{1} << (row % 64));
      }
    }
  }

  ColumnReader& reader_;
  std::span<const RowId> rows_;
  BlockBits& bits_;
  bool negated_;
};

}  // namespace

char* ReadBuffer::Allocate(size_t bytes) {
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
  return blocks_.back().get();
}

Status ColumnReader::Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) {
  if (predicate.lane() != LaneOf(type())) {
    return InternalError("a condition on another kind of column");
  }
  RowId rows[kBlockRows];
  size_t count = 0;
  for (uint32_t word = 0; word < bits.size(); ++word) {
    for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
      rows[count++] = RowId(block * kBlockRows + word * 64 + static_cast<uint32_t>(std::countr_zero(left)));
    }
  }
  if (count == 0) {
    return Status::Ok();
  }
  ValueTest test(*this, std::span(rows, count), bits, predicate.negated);
  return std::visit([&](const auto& condition) { return test.Run(condition); }, predicate.test);
}

}  // namespace stoa::storage
