#include "sql/exec/key_numbers.h"

#include <bit>

namespace stoa::sql {

KeyNumbers::KeyNumbers(Collation collation) : texts_(0, TextHash{collation}, TextEqual{collation}) {}

bool KeyNumbers::Takes(ValueType type) {
  return LaneOf(type) != VectorLane::kBytes || type == ValueType::kString || type == ValueType::kText;
}

template <typename NumberOf>
void KeyNumbers::NumberRows(const Vector& values, std::vector<uint32_t>& numbers, const NumberOf& number_of) {
  numbers.resize(values.size());
  if (!values.has_nulls()) {
    for (size_t row = 0; row < numbers.size(); ++row) {
      numbers[row] = number_of(row);
    }
    return;
  }
  for (size_t row = 0; row < numbers.size(); ++row) {
    numbers[row] = values.IsNull(row) ? NumberOfNull() : number_of(row);
  }
}

void KeyNumbers::Number(const Vector& values, std::vector<uint32_t>& numbers) {
  switch (LaneOf(values.type())) {
    case VectorLane::kInt:
      NumberRows(values, numbers, [&, ints = values.ints()](size_t row) { return NumberOfInt(ints[row]); });
      break;
    case VectorLane::kReal:
      NumberRows(values, numbers, [&, reals = values.reals()](size_t row) {
        return NumberOfInt(std::bit_cast<int64_t>(reals[row] == 0 ? 0.0 : reals[row]));  // -0 is 0
      });
      break;
    case VectorLane::kBytes:
      NumberRows(values, numbers,
                 [&, texts = values.texts()](size_t row) { return NumberOfText(texts[row]); });
      break;
  }
}

uint32_t KeyNumbers::NumberOfInt(int64_t value) {
  const auto [found, is_new] = ints_.try_emplace(value, count_);
  count_ += is_new ? 1 : 0;
  return found->second;
}

uint32_t KeyNumbers::NumberOfText(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end()) {
    return found->second;
  }
  texts_.emplace(std::string(text), count_);
  return count_++;
}

uint32_t KeyNumbers::NumberOfNull() {
  if (!null_number_) {
    null_number_ = count_++;
  }
  return *null_number_;
}

void PairNumbers::Number(std::span<uint32_t> numbers, std::span<const uint32_t> second) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint64_t pair = uint64_t{numbers[i]} << 32 | second[i];
    numbers[i] = numbers_.try_emplace(pair, static_cast<uint32_t>(numbers_.size())).first->second;
  }
}

}  // namespace stoa::sql
