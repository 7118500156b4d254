#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql/bind/name_scope.h"
#include "sql/expr/expr.h"
#include "sql/parser/ast.h"
#include "storage/column/column_predicate.h"
#include "storage/json/json_value.h"

// Tests of values against constants: comparisons, BETWEEN and IN, compiled once per query and type.
namespace stoa::sql {

// What a value is tested for, before its type is known: in a range, or one of a list.
struct ConstantTest {
  bool is_range = false;
  std::optional<Value> low;
  std::optional<Value> high;
  bool low_open = false;
  bool high_open = false;
  std::vector<Value> list;
  bool has_null = false;  // a constant was NULL: never true where it is not decided without it
  bool negated = false;

  static ConstantTest Compare(Operator op, Value value);
  static ConstantTest Between(Value low, Value high, bool negated);
  static ConstantTest In(std::vector<Value> values, bool negated);

  // All constants, to look at or to convert.
  std::vector<Value*> values();
};

// The compiled tests are immutable and do not regard `negated`. Predicate() is the same test for storage;
// nullopt when storage has none like it, or when nothing matches.
class IntegerTest {
 public:
  // Constants that are no numbers match nothing. `is_unsigned`: values are the bits of a uint64.
  IntegerTest(const ConstantTest& test, bool is_unsigned);

  bool Matches(int64_t value) const;
  // out[i] = Matches(in[i]) != negated, as 0 or 1.
  void Run(std::span<const int64_t> in, std::span<int64_t> out, bool negated) const;
  std::optional<storage::ColumnPredicate> Predicate() const;

 private:
  enum class Form : uint8_t { kRange, kBitmap, kSet };
  void CompileRange(const ConstantTest& test, bool is_unsigned);
  void CompileList(const ConstantTest& test, bool is_unsigned);
  std::vector<int64_t> Listed() const;

  Form form_ = Form::kRange;
  bool is_unsigned_;
  bool empty_ = false;
  uint64_t low_ = 0;  // kRange, kBitmap: matches value - low_ <= width_, modulo 2^64
  uint64_t width_ = 0;
  std::vector<uint8_t> bitmap_;
  boost::unordered_flat_set<int64_t> set_;
};

class RealTest {
 public:
  // `as_float`: the values are 32-bit floats, constants are rounded to them. Equality holds within
  // `tolerance`.
  RealTest(const ConstantTest& test, bool as_float, double tolerance);

  bool Matches(double value) const;
  void Run(std::span<const double> in, std::span<int64_t> out, bool negated) const;
  // For values that are 32-bit floats.
  std::optional<storage::ColumnPredicate> Predicate() const;

 private:
  bool is_range_ = false;
  double low_ = 0;
  double high_ = 0;
  double tolerance_;
  std::vector<double> list_;  // ascending
};

class TextTest {
 public:
  TextTest(const ConstantTest& test, Collation collation);

  bool Matches(std::string_view value) const;
  std::optional<storage::ColumnPredicate> Predicate() const;

 private:
  bool MatchesRange(std::string_view value) const;

  Collation collation_;
  bool is_range_ = false;
  std::optional<std::string> low_;
  std::optional<std::string> high_;
  bool low_open_ = false;
  bool high_open_ = false;
  std::vector<std::string> list_;
  std::unordered_multimap<uint64_t, size_t> by_hash_;  // into list_; only for long lists
};

// JSON values by their own type: numbers (true is 1) against numeric constants, texts against texts.
class JsonTest {
 public:
  JsonTest(const ConstantTest& test, Collation collation);

  bool Matches(storage::JsonView value) const;

 private:
  IntegerTest integers_;
  RealTest reals_;
  TextTest texts_;
  bool has_numbers_;
  bool has_texts_;
};

}  // namespace stoa::sql
