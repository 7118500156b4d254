#include <algorithm>
#include <cmath>
#include <limits>

#include "sql/expr/functions/date_math.h"
#include "sql/expr/functions/function.h"
#include "sql/expr/functions/options.h"

// histogram(), range(), date_histogram(), date_range(): values to the bucket they fall into, for GROUP BY.
namespace stoa::sql {
namespace {

// offset + floor((x - offset) / interval) * interval without overflow: the ends of int64 stand for what lies
// outside.
int64_t BucketStart(int64_t x, int64_t interval, int64_t offset) {
  __extension__ using Wide = __int128;
  Wide distance = Wide{x} - offset;
  Wide rest = distance % interval;
  Wide start = Wide{x} - (rest < 0 ? rest + interval : rest);
  return static_cast<int64_t>(std::max<Wide>(start, std::numeric_limits<int64_t>::min()));
}

Result<SharedExpr> BindHistogram(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope, 1));
  ASSIGN_OR_RETURN(FunctionOptions options,
                   FunctionOptions::Read(call, 1, {"hist_interval", "hist_offset"}, scope));
  const Value* interval = options.Find("hist_interval");
  const Value* given_offset = options.Find("hist_offset");
  Value offset = given_offset != nullptr ? *given_offset : Value::Int(0);
  if (interval == nullptr || !(RealOf(*interval) > 0)) {
    return FunctionError(scope, "histogram() needs a hist_interval above 0");
  }
  bool real =
      RealOf(*interval) != std::floor(RealOf(*interval)) || RealOf(offset) != std::floor(RealOf(offset));
  if (!real && IsInteger(args[0]->type())) {
    return MakeKernel(
        ValueType::kBigint, std::move(args),
        [width = IntegerOf(*interval), first = IntegerOf(offset)](const KernelInputs& in, Vector& out) {
          for (size_t row = 0; row < out.size(); ++row) {
            out.ints()[row] = BucketStart(in[0].ints()[row], width, first);
          }
        });
  }
  args[0] = AsReal(std::move(args[0]));
  ASSIGN_OR_RETURN(
      SharedExpr start,
      MakeKernel(ValueType::kDouble, std::move(args),
                 [width = RealOf(*interval), first = RealOf(offset)](const KernelInputs& in, Vector& out) {
                   for (size_t row = 0; row < out.size(); ++row) {
                     double bucket = std::floor((in[0].reals()[row] - first) / width);
                     out.reals()[row] = FiniteOrZero(bucket * width + first);
                   }
                 }));
  return real ? start : AsBigint(std::move(start));
}

template <typename T>
struct Interval {
  T from = std::numeric_limits<T>::lowest();  // inclusive
  std::optional<T> to;                        // exclusive; none: open
};

// The first interval that holds the value; behind all of them: their number.
template <typename T, typename Lane>
void FindIntervals(const KernelInputs& in, const std::vector<Interval<T>>& intervals, Vector& out,
                   Lane lane) {
  std::span<const T> x = lane(in[0]);
  for (size_t row = 0; row < out.size(); ++row) {
    size_t at = 0;
    while (at < intervals.size() &&
           !(x[row] >= intervals[at].from && (!intervals[at].to || x[row] < *intervals[at].to))) {
      ++at;
    }
    out.ints()[row] = static_cast<int64_t>(at);
  }
}

// Bounds of all option maps; `bound` turns the value of a bound into a T.
template <typename T, typename Bound>
Result<std::vector<Interval<T>>> ReadIntervals(const ParsedExpr& call, NameScope& scope, Bound bound) {
  std::vector<Interval<T>> intervals;
  for (size_t arg = 1; arg < call.args.size(); ++arg) {
    ASSIGN_OR_RETURN(FunctionOptions options,
                     FunctionOptions::Read(call, arg, {"range_from", "range_to"}, scope));
    const Value* from = options.Find("range_from");
    const Value* to = options.Find("range_to");
    if (from == nullptr && to == nullptr) {
      return FunctionError(scope, fmt::format("each range of {}() needs range_from or range_to", call.name));
    }
    Interval<T> interval;
    if (from != nullptr) {
      ASSIGN_OR_RETURN(interval.from, bound(*from));
    }
    if (to != nullptr) {
      ASSIGN_OR_RETURN(interval.to, bound(*to));
    }
    intervals.push_back(interval);
  }
  return intervals;
}

Result<SharedExpr> BindRange(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope, 1));
  bool integers = IsInteger(args[0]->type());
  auto integer_bound = [&integers](const Value& value) -> Result<int64_t> {
    integers = integers && IsInteger(value.type);
    return IntegerOf(value);
  };
  ASSIGN_OR_RETURN(auto whole, ReadIntervals<int64_t>(call, scope, integer_bound));
  if (integers) {
    return MakeKernel(ValueType::kInt, std::move(args),
                      [intervals = std::move(whole)](const KernelInputs& in, Vector& out) {
                        FindIntervals<int64_t>(in, intervals, out, [](const Vector& v) { return v.ints(); });
                      });
  }
  bool is_float = args[0]->type() == ValueType::kFloat;
  auto real_bound = [is_float](const Value& value) -> Result<double> {
    return is_float ? static_cast<double>(static_cast<float>(RealOf(value))) : RealOf(value);
  };
  ASSIGN_OR_RETURN(auto real, ReadIntervals<double>(call, scope, real_bound));
  args[0] = AsReal(std::move(args[0]));
  return MakeKernel(ValueType::kInt, std::move(args),
                    [intervals = std::move(real)](const KernelInputs& in, Vector& out) {
                      FindIntervals<double>(in, intervals, out, [](const Vector& v) { return v.reals(); });
                    });
}

Result<SharedExpr> BindDateRange(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope, 1));
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  ZoneClock clock(zone);
  auto bound = [&clock, &scope](const Value& value) -> Result<int64_t> {
    if (!IsText(value.type)) {
      return IntegerOf(value);
    }
    std::optional<int64_t> instant = ParseDateMath(value.bytes, scope.context().now_seconds, clock);
    if (!instant) {
      return FunctionError(scope, fmt::format("date_range() does not understand the date '{}'", value.bytes));
    }
    return *instant;
  };
  ASSIGN_OR_RETURN(auto intervals, ReadIntervals<int64_t>(call, scope, bound));
  return MakeKernel(ValueType::kInt, std::move(args),
                    [intervals = std::move(intervals)](const KernelInputs& in, Vector& out) {
                      FindIntervals<int64_t>(in, intervals, out, [](const Vector& v) { return v.ints(); });
                    });
}

Result<SharedExpr> BindFixedHistogram(std::vector<SharedExpr> args, const std::string& text,
                                      NameScope& scope) {
  std::optional<int64_t> width = ParseDuration(text);
  if (!width) {
    return FunctionError(
        scope,
        fmt::format("fixed_interval '{}' of date_histogram() is not a duration above 0, such as '30s', '2h'",
                    text));
  }
  return MakeKernel(ValueType::kBigint, std::move(args),
                    [width = *width](const KernelInputs& in, Vector& out) {
                      for (size_t row = 0; row < out.size(); ++row) {
                        out.ints()[row] = BucketStart(in[0].ints()[row], width, 0);
                      }
                    });
}

Result<SharedExpr> BindDateHistogram(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope, 1));
  ASSIGN_OR_RETURN(FunctionOptions options,
                   FunctionOptions::Read(call, 1, {"calendar_interval", "fixed_interval"}, scope));
  std::optional<std::string> calendar = options.Text("calendar_interval");
  std::optional<std::string> fixed = options.Text("fixed_interval");
  if (calendar.has_value() == fixed.has_value()) {
    return FunctionError(scope,
                         "date_histogram() needs calendar_interval or fixed_interval, and only one of them");
  }
  if (fixed) {
    return BindFixedHistogram(std::move(args), *fixed, scope);
  }
  std::optional<CalendarUnit> unit = ParseCalendarUnit(*calendar);
  if (!unit) {
    return FunctionError(scope, fmt::format("unknown calendar_interval '{}' of date_histogram()", *calendar));
  }
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  return MakeKernel(ValueType::kBigint, std::move(args),
                    [zone, unit = *unit](const KernelInputs& in, Vector& out) {
                      ZoneClock clock(zone);
                      for (size_t row = 0; row < out.size(); ++row) {
                        out.ints()[row] = clock.Floor(in[0].ints()[row], unit);
                      }
                    });
}

constexpr FunctionEntry kFunctions[] = {
    {"histogram", 2, 2, BindHistogram},
    {"range", 2, kAnyCount, BindRange},
    {"date_histogram", 2, 2, BindDateHistogram},
    {"date_range", 2, kAnyCount, BindDateRange},
};

}  // namespace

std::span<const FunctionEntry> BucketFunctions() { return kFunctions; }

}  // namespace stoa::sql
