#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/expr/collation.h"
#include "sql/expr/vector.h"

namespace stoa::sql {

// Numbers the distinct values of a key of one type, 0, 1, 2 … as they appear. Values are told apart as in
// value_key.h; NULL is a value of its own. One thread at a time.
class KeyNumbers {
 public:
  explicit KeyNumbers(Collation collation);

  // Whether values of this type can be numbered as a whole: not sets, JSON and vectors.
  static bool Takes(ValueType type);

  // The number of each value.
  void Number(const Vector& values, std::vector<uint32_t>& numbers);
  uint32_t NumberOfText(std::string_view text);
  // Those that were not NULL.
  uint32_t size() const { return count_ - (null_number_ ? 1 : 0); }
  std::optional<uint32_t> null_number() const { return null_number_; }

 private:
  struct TextHash {
    using is_transparent = void;
    using is_avalanching = void;
    Collation collation;
    size_t operator()(std::string_view text) const { return HashString(collation, text); }
  };
  struct TextEqual {
    using is_transparent = void;
    Collation collation;
    bool operator()(std::string_view a, std::string_view b) const { return EqualStrings(collation, a, b); }
  };

  template <typename NumberOf>
  void NumberRows(const Vector& values, std::vector<uint32_t>& numbers, const NumberOf& number_of);
  uint32_t NumberOfInt(int64_t value);
  uint32_t NumberOfNull();

  uint32_t count_ = 0;
  std::optional<uint32_t> null_number_;
  boost::unordered_flat_map<int64_t, uint32_t> ints_;  // reals by their bits
  boost::unordered_flat_map<std::string, uint32_t, TextHash, TextEqual> texts_;
};

// Numbers pairs of numbers as they appear. One thread at a time.
class PairNumbers {
 public:
  // numbers[i] becomes the number of (numbers[i], second[i]).
  void Number(std::span<uint32_t> numbers, std::span<const uint32_t> second);

 private:
  boost::unordered_flat_map<uint64_t, uint32_t> numbers_;
};

}  // namespace stoa::sql
