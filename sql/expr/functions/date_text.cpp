#include <cstdlib>

#include "sql/expr/functions/date_format.h"
#include "sql/expr/functions/date_math.h"
#include "sql/expr/functions/function.h"

// Instants as text, and arithmetic of dates, in the zone of the statement.
namespace stoa::sql {
namespace {

// A text made of each instant: kAppend(instant, clock, out).
template <auto kAppend>
Result<SharedExpr> BindDateText(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope, 1));
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  return MakeKernel(ValueType::kString, std::move(args), [zone](const KernelInputs& in, Vector& out) {
    ZoneClock clock(zone);
    for (size_t row = 0; row < out.size(); ++row) {
      std::string text;
      kAppend(in[0].ints()[row], clock, text);
      out.texts()[row] = out.Own(std::move(text));
    }
  });
}

void AppendDayName(int64_t instant, ZoneClock& clock, std::string& out) {
  out += WeekdayName(clock.Civil(instant).weekday);
}
void AppendMonthName(int64_t instant, ZoneClock& clock, std::string& out) {
  out += MonthName(clock.Civil(instant).month);
}
void AppendDateOf(int64_t instant, ZoneClock& clock, std::string& out) {
  AppendDate(clock.Civil(instant), out);
}
void AppendTimeOf(int64_t instant, ZoneClock& clock, std::string& out) {
  AppendTime(clock.Civil(instant), out);
}
void AppendDateTime(int64_t instant, ZoneClock& clock, std::string& out) {
  CivilTime civil = clock.Civil(instant);
  AppendDate(civil, out);
  out += ' ';
  AppendTime(civil, out);
}

Result<SharedExpr> BindDateFormat(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope, 1));
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  ASSIGN_OR_RETURN(SharedExpr format, BindExpr(*call.args[1], scope));
  if (!IsText(format->type()) && format->type() != ValueType::kJson) {
    return FunctionError(scope, fmt::format("{}() needs a format text as its second argument", call.name));
  }
  args.push_back(AsText(std::move(format)));
  return MakeKernel(ValueType::kString, std::move(args), [zone](const KernelInputs& in, Vector& out) {
    ZoneClock clock(zone);
    for (size_t row = 0; row < out.size(); ++row) {
      std::string text;
      AppendDateFormat(in[1].texts()[row], in[0].ints()[row], clock, text);
      out.texts()[row] = out.Own(std::move(text));
    }
  });
}

Result<SharedExpr> BindFromUnixtime(const ParsedExpr& call, NameScope& scope) {
  return call.args.size() == 2 ? BindDateFormat(call, scope) : BindDateText<AppendDateTime>(call, scope);
}

// timediff(a, b): a - b as hours, minutes and seconds.
Result<SharedExpr> BindTimediff(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope));
  return MakeKernel(ValueType::kString, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      int64_t difference = 0;
      if (__builtin_sub_overflow(in[0].ints()[row], in[1].ints()[row], &difference)) {
        difference = in[0].ints()[row] < 0 ? -kLastSecond : kLastSecond;
      }
      uint64_t seconds =
          difference < 0 ? -static_cast<uint64_t>(difference) : static_cast<uint64_t>(difference);
      out.texts()[row] = out.Own(fmt::format("{}{:02}:{:02}:{:02}", difference < 0 ? "-" : "", seconds / 3600,
                                             seconds / 60 % 60, seconds % 60));
    }
  });
}

// datediff(a, b): days from the date of b to that of a.
Result<SharedExpr> BindDatediff(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope));
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  return MakeKernel(ValueType::kBigint, std::move(args), [zone](const KernelInputs& in, Vector& out) {
    ZoneClock clock(zone);
    for (size_t row = 0; row < out.size(); ++row) {
      out.ints()[row] = clock.Civil(in[0].ints()[row]).days - clock.Civil(in[1].ints()[row]).days;
    }
  });
}

// date_add(t, INTERVAL n unit) and date_sub.
template <bool kSubtract>
Result<SharedExpr> BindShift(const ParsedExpr& call, NameScope& scope) {
  const ParsedExpr& interval = *call.args[1];
  std::optional<CalendarUnit> unit;
  if (interval.kind == ParsedKind::kInterval && interval.args.size() == 1) {
    unit = ParseCalendarUnit(interval.name);
  }
  if (!unit) {
    return FunctionError(
        scope, fmt::format("{}() needs INTERVAL n unit as its second argument, units are second to year",
                           call.name));
  }
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope, 1));
  ASSIGN_OR_RETURN(auto counts, BindBigints(interval, scope));
  args.push_back(std::move(counts[0]));
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  return MakeKernel(ValueType::kBigint, std::move(args),
                    [zone, unit = *unit](const KernelInputs& in, Vector& out) {
                      ZoneClock clock(zone);
                      for (size_t row = 0; row < out.size(); ++row) {
                        int64_t count = in[1].ints()[row];
                        count = !kSubtract ? count : count == INT64_MIN ? INT64_MAX : -count;
                        out.ints()[row] = clock.Add(in[0].ints()[row], count, unit);
                      }
                    });
}

constexpr FunctionEntry kFunctions[] = {
    {"dayname", 1, 1, BindDateText<AppendDayName>},
    {"monthname", 1, 1, BindDateText<AppendMonthName>},
    {"date", 1, 1, BindDateText<AppendDateOf>},
    {"time", 1, 1, BindDateText<AppendTimeOf>},
    {"date_format", 2, 2, BindDateFormat},
    {"from_unixtime", 1, 2, BindFromUnixtime},
    {"timediff", 2, 2, BindTimediff},
    {"datediff", 2, 2, BindDatediff},
    {"date_add", 2, 2, BindShift<false>},
    {"adddate", 2, 2, BindShift<false>},
    {"date_sub", 2, 2, BindShift<true>},
    {"subdate", 2, 2, BindShift<true>},
};

}  // namespace

std::span<const FunctionEntry> DateTextFunctions() { return kFunctions; }

}  // namespace stoa::sql
