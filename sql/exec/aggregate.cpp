#include "sql/exec/aggregate.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cmath>
#include <cstring>

#include "sql/exec/key_numbers.h"
#include "sql/exec/value_key.h"
#include "sql/expr/collation.h"

namespace stoa::sql {
namespace {

// What COUNT(*) and COUNT(x) share: a number a group.
class Counts : public Aggregate {
 public:
  Counts() : Aggregate(ValueType::kBigint) {}
  void Resize(size_t count) override { counts_.resize(count); }
  void Read(std::span<const uint32_t> groups, Vector& out) const override {
    out.Reset(type(), groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      out.ints()[i] = counts_[groups[i]];
    }
  }

 protected:
  std::vector<int64_t> counts_;
};

class CountRows : public Counts {
 public:
  void Update(const GroupedRows& input, const Vector&) override {
    if (input.whole) {
      AddUnread(0, input.rows.size());
      return;
    }
    for (const uint32_t group : input.groups) {
      ++counts_[group];
    }
  }
  bool only_counts_rows() const override { return true; }
  void AddUnread(uint32_t group, uint64_t rows) override { counts_[group] += static_cast<int64_t>(rows); }
};

// COUNT(x): rows where x is not NULL.
class CountValues : public Counts {
 public:
  void Update(const GroupedRows& input, const Vector& argument) override {
    for (size_t i = 0; i < input.groups.size(); ++i) {
      counts_[input.groups[i]] += argument.IsNull(input.rows[i]) ? 0 : 1;
    }
  }
};

// COUNT(DISTINCT x); the values of a set count one by one.
class CountDistinct : public Counts {
 public:
  CountDistinct(ValueType type, Collation collation)
      : numbers_whole_(KeyNumbers::Takes(type)),
        numbers_(numbers_whole_ ? collation : Collation::kBinary),  // else of keys
        collation_(collation) {}

  void Update(const GroupedRows& input, const Vector& argument) override {
    if (!numbers_whole_) {
      for (size_t i = 0; i < input.groups.size(); ++i) {
        ForEachKey(argument, input.rows[i], collation_, [&](std::string_view key) {
          if (!key.empty()) {
            Count(input.groups[i], numbers_.NumberOfText(key));
          }
        });
      }
      return;
    }
    numbers_.Number(argument, batch_);
    if (input.whole) {
      counts_[0] = numbers_.size();
      return;
    }
    for (size_t i = 0; i < input.groups.size(); ++i) {
      if (!argument.IsNull(input.rows[i])) {
        Count(input.groups[i], batch_[input.rows[i]]);
      }
    }
  }

 private:
  void Count(uint32_t group, uint32_t number) {
    counts_[group] += seen_.insert(uint64_t{group} << 32 | number).second ? 1 : 0;
  }

  bool numbers_whole_;
  KeyNumbers numbers_;
  Collation collation_;
  boost::unordered_flat_set<uint64_t> seen_;  // group and number of the value
  std::vector<uint32_t> batch_;
};

class SumInts : public Aggregate {
 public:
  explicit SumInts(ValueType type) : Aggregate(type) {}
  void Resize(size_t count) override { sums_.resize(count); }
  void Update(const GroupedRows& input, const Vector& argument) override {
    const auto values = argument.ints();
    if (input.whole) {  // a NULL is 0 in its lane
      uint64_t sum = 0;
      for (const int64_t value : values) {
        sum += static_cast<uint64_t>(value);
      }
      sums_[0] += sum;
      return;
    }
    for (size_t i = 0; i < input.groups.size(); ++i) {
      sums_[input.groups[i]] +=
          argument.IsNull(input.rows[i]) ? 0 : static_cast<uint64_t>(values[input.rows[i]]);
    }
  }
  void Read(std::span<const uint32_t> groups, Vector& out) const override {
    out.Reset(type(), groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      out.ints()[i] = static_cast<int64_t>(sums_[groups[i]]);
    }
  }

 private:
  std::vector<uint64_t> sums_;  // wraps without being undefined
};

// AVG of integers: their sum is exact, so large values that cancel out leave no error behind.
class AverageInts : public Aggregate {
 public:
  AverageInts() : Aggregate(ValueType::kDouble) {}
  void Resize(size_t count) override { states_.resize(count); }
  void Update(const GroupedRows& input, const Vector& argument) override {
    const bool is_unsigned = argument.type() == ValueType::kUint64;
    const auto values = argument.ints();
    for (size_t i = 0; i < input.groups.size(); ++i) {
      const uint32_t row = input.rows[i];
      if (!argument.IsNull(row)) {
        State& state = states_[input.groups[i]];
        state.sum += is_unsigned ? Wide{static_cast<uint64_t>(values[row])} : Wide{values[row]};
        ++state.count;
      }
    }
  }
  void Read(std::span<const uint32_t> groups, Vector& out) const override {
    out.Reset(type(), groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      const State& state = states_[groups[i]];
      out.reals()[i] =
          state.count == 0 ? 0 : static_cast<double>(state.sum) / static_cast<double>(state.count);
    }
  }

 private:
  __extension__ using Wide = __int128;
  struct State {
    Wide sum = 0;
    uint64_t count = 0;
  };
  std::vector<State> states_;
};

// SUM, AVG, VARIANCE and STDDEV in doubles; Welford's update keeps the variance exact enough for large means
// (B. P. Welford, Technometrics 4(3), 1962).
class Moments : public Aggregate {
 public:
  enum class Result : uint8_t { kSum, kMean, kVariance, kDeviation };
  explicit Moments(Result result) : Aggregate(ValueType::kDouble), result_(result) {}

  void Resize(size_t count) override { states_.resize(count); }
  void Update(const GroupedRows& input, const Vector& argument) override {
    const bool is_unsigned = argument.type() == ValueType::kUint64;
    const bool spreads = result_ == Result::kVariance || result_ == Result::kDeviation;
    for (size_t i = 0; i < input.groups.size(); ++i) {
      const uint32_t row = input.rows[i];
      if (argument.IsNull(row)) {
        continue;
      }
      double value = 0;
      if (LaneOf(argument.type()) == VectorLane::kReal) {
        value = argument.reals()[row];
      } else {
        value = is_unsigned ? static_cast<double>(static_cast<uint64_t>(argument.ints()[row]))
                            : static_cast<double>(argument.ints()[row]);
      }
      State& state = states_[input.groups[i]];
      ++state.count;
      state.sum += value;
      if (spreads) {
        state.AddSpread(value);
      }
    }
  }
  void Read(std::span<const uint32_t> groups, Vector& out) const override {
    out.Reset(type(), groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      out.reals()[i] = Value(states_[groups[i]]);
    }
  }

 private:
  struct State {
    double count = 0;
    double sum = 0;
    double mean = 0;
    double squares = 0;

    // After the value was counted.
    void AddSpread(double value) {
      const double delta = value - mean;
      mean += delta / count;
      squares += delta * (value - mean);
    }
  };

  double Value(const State& state) const {
    if (state.count == 0) {
      return 0;
    }
    switch (result_) {
      case Result::kSum:
        return state.sum;
      case Result::kMean:
        return state.sum / state.count;
      case Result::kVariance:
        return state.squares / state.count;
      case Result::kDeviation:
        return std::sqrt(state.squares / state.count);
    }
    return 0;
  }

  Result result_;
  std::vector<State> states_;
};

// MIN and MAX keep the type of their argument; 0 or empty over no rows.
class Extreme : public Aggregate {
 public:
  Extreme(ValueType type, bool maximum, Collation collation)
      : Aggregate(type), maximum_(maximum), collation_(collation), nothing_{type, 0, 0, {}} {}

  void Resize(size_t count) override { values_.resize(count); }
  void Update(const GroupedRows& input, const Vector& argument) override {
    if (input.whole && LaneOf(type()) != VectorLane::kBytes && !argument.has_nulls()) {
      UpdateWhole(argument);
      return;
    }
    for (size_t i = 0; i < input.groups.size(); ++i) {
      const uint32_t row = input.rows[i];
      Value& best = values_[input.groups[i]];
      if (!argument.IsNull(row) && (best.is_null() || Beats(argument, row, best))) {
        best = argument.At(row);
      }
    }
  }
  void Read(std::span<const uint32_t> groups, Vector& out) const override {
    out.Reset(type(), groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      const Value& value = values_[groups[i]];
      out.Set(i, value.is_null() ? nothing_ : value);
    }
  }

 private:
  // The best number of the batch first, then against what was before.
  void UpdateWhole(const Vector& argument) {
    Value& best = values_[0];
    if (argument.size() == 0) {
      return;
    }
    if (best.is_null()) {
      best = argument.At(0);
    }
    if (LaneOf(type()) == VectorLane::kReal) {
      best.real = BestOf(argument.reals(), best.real);
    } else if (type() == ValueType::kUint64) {
      const auto bits = argument.ints();
      best.integer =
          static_cast<int64_t>(BestOf(std::span(reinterpret_cast<const uint64_t*>(bits.data()), bits.size()),
                                      static_cast<uint64_t>(best.integer)));
    } else {
      best.integer = BestOf(argument.ints(), best.integer);
    }
  }

  template <typename T>
  T BestOf(std::span<const T> values, T best) const {
    if (maximum_) {
      for (const T value : values) {
        best = value > best ? value : best;
      }
    } else {
      for (const T value : values) {
        best = value < best ? value : best;
      }
    }
    return best;
  }

  bool Beats(const Vector& argument, size_t row, const Value& best) const {
    int order = 0;
    switch (LaneOf(type())) {
      case VectorLane::kInt: {
        const int64_t value = argument.ints()[row];
        const bool less = type() == ValueType::kUint64
                              ? static_cast<uint64_t>(value) < static_cast<uint64_t>(best.integer)
                              : value < best.integer;
        order = less ? -1 : (value == best.integer ? 0 : 1);
        break;
      }
      case VectorLane::kReal:
        order = argument.reals()[row] < best.real ? -1 : argument.reals()[row] > best.real;
        break;
      case VectorLane::kBytes:
        order = CompareStrings(collation_, argument.texts()[row], best.bytes);
        break;
    }
    return maximum_ ? order > 0 : order < 0;
  }

  bool maximum_;
  Collation collation_;
  Value nothing_;  // of a group without rows
  std::vector<Value> values_;
};

class GroupConcat : public Aggregate {
 public:
  explicit GroupConcat(std::string separator)
      : Aggregate(ValueType::kString), separator_(std::move(separator)) {}
  void Resize(size_t count) override { values_.resize(count); }
  void Update(const GroupedRows& input, const Vector& argument) override {
    for (size_t i = 0; i < input.groups.size(); ++i) {
      if (argument.IsNull(input.rows[i])) {
        continue;
      }
      Entry& entry = values_[input.groups[i]];
      if (entry.any) {
        entry.text.append(separator_);
      }
      entry.any = true;
      entry.text.append(argument.texts()[input.rows[i]]);
    }
  }
  void Read(std::span<const uint32_t> groups, Vector& out) const override {
    out.Reset(type(), groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      out.texts()[i] = values_[groups[i]].text;
    }
  }

 private:
  struct Entry {
    std::string text;
    bool any = false;
  };
  std::string separator_;
  std::vector<Entry> values_;
};

bool IsNumber(ValueType type) { return LaneOf(type) != VectorLane::kBytes && type != ValueType::kNull; }

}  // namespace

bool IsAggregateName(std::string_view function) {
  static constexpr std::string_view kNames[] = {"count",
                                                "sum",
                                                "avg",
                                                "min",
                                                "max",
                                                "group_concat",
                                                "stddev",
                                                "stddev_pop",
                                                "std",
                                                "variance",
                                                "var_pop",
                                                "percentiles",
                                                "percentile_ranks",
                                                "median_absolute_deviation"};
  return std::find(std::begin(kNames), std::end(kNames), function) != std::end(kNames);
}

Result<std::unique_ptr<Aggregate>> MakeAggregate(const AggregateCall& call, Collation collation) {
  const std::string& name = call.function;
  if (name == "count") {
    if (call.argument == nullptr) {
      return std::unique_ptr<Aggregate>(std::make_unique<CountRows>());
    }
    if (call.distinct) {
      return std::unique_ptr<Aggregate>(std::make_unique<CountDistinct>(call.argument->type(), collation));
    }
    return std::unique_ptr<Aggregate>(std::make_unique<CountValues>());
  }
  const ValueType type = call.argument->type();
  if (name == "group_concat") {
    return std::unique_ptr<Aggregate>(std::make_unique<GroupConcat>(call.separator));
  }
  if (name == "min" || name == "max") {
    if (!IsNumber(type) && type != ValueType::kString) {
      return InvalidError("{}() takes a number or a string", name);
    }
    return std::unique_ptr<Aggregate>(std::make_unique<Extreme>(type, name == "max", collation));
  }
  if (!IsNumber(type)) {
    return InvalidError("{}() takes a number", name);
  }
  if (name == "sum" && LaneOf(type) == VectorLane::kInt) {
    return std::unique_ptr<Aggregate>(
        std::make_unique<SumInts>(type == ValueType::kUint64 ? ValueType::kUint64 : ValueType::kBigint));
  }
  if (name == "avg" && LaneOf(type) == VectorLane::kInt) {
    return std::unique_ptr<Aggregate>(std::make_unique<AverageInts>());
  }
  Moments::Result result = Moments::Result::kSum;
  if (name == "avg") {
    result = Moments::Result::kMean;
  } else if (name == "variance" || name == "var_pop") {
    result = Moments::Result::kVariance;
  } else if (name.starts_with("std")) {
    result = Moments::Result::kDeviation;
  } else if (name != "sum") {
    return UnsupportedError("{}() is not supported yet", name);
  }
  return std::unique_ptr<Aggregate>(std::make_unique<Moments>(result));
}

}  // namespace stoa::sql
