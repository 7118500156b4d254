#include "sql/expr/functions/date_format.h"
#include "sql/expr/functions/date_math.h"
#include "sql/expr/functions/function.h"

// Parts of an instant as numbers, in the zone of the statement.
namespace stoa::sql {
namespace {

template <auto kPart>
Result<SharedExpr> BindPart(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope));
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  return MakeKernel(ValueType::kInt, std::move(args), [zone](const KernelInputs& in, Vector& out) {
    ZoneClock clock(zone);
    std::span<const int64_t> instants = in[0].ints();
    for (size_t row = 0; row < out.size(); ++row) {
      out.ints()[row] = kPart(clock.Civil(instants[row]));
    }
  });
}

int YearMonth(const CivilTime& civil) { return civil.year * 100 + civil.month; }
int YearMonthDay(const CivilTime& civil) { return YearMonth(civil) * 100 + civil.day; }

// The week's Sunday, as its year and its day in that year.
int YearWeek(const CivilTime& civil) {
  CivilTime sunday = CivilFromLocal((civil.days - civil.weekday) * kDaySeconds);
  return sunday.year * 1000 + sunday.year_day;
}

// week(t[, mode]): MySQL's modes.
Result<SharedExpr> BindWeek(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope, 1));
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  int64_t mode = 0;
  if (call.args.size() == 2) {
    ASSIGN_OR_RETURN(Value value, ConstantArgument(call, 1, scope));
    mode = IntegerOf(value);
  }
  if (mode < 0 || mode > 7) {
    return FunctionError(scope, fmt::format("week() has the modes 0 to 7, not {}", mode));
  }
  return MakeKernel(ValueType::kInt, std::move(args),
                    [zone, mode = static_cast<int>(mode)](const KernelInputs& in, Vector& out) {
                      ZoneClock clock(zone);
                      for (size_t row = 0; row < out.size(); ++row) {
                        out.ints()[row] = WeekOfYear(clock.Civil(in[0].ints()[row]), mode);
                      }
                    });
}

constexpr FunctionEntry kFunctions[] = {
    {"second", 1, 1, BindPart<[](const CivilTime& t) { return t.second; }>},
    {"minute", 1, 1, BindPart<[](const CivilTime& t) { return t.minute; }>},
    {"hour", 1, 1, BindPart<[](const CivilTime& t) { return t.hour; }>},
    {"day", 1, 1, BindPart<[](const CivilTime& t) { return t.day; }>},
    {"dayofmonth", 1, 1, BindPart<[](const CivilTime& t) { return t.day; }>},
    {"month", 1, 1, BindPart<[](const CivilTime& t) { return t.month; }>},
    {"quarter", 1, 1, BindPart<[](const CivilTime& t) { return (t.month + 2) / 3; }>},
    {"year", 1, 1, BindPart<[](const CivilTime& t) { return t.year; }>},
    {"dayofweek", 1, 1, BindPart<[](const CivilTime& t) { return t.weekday + 1; }>},
    {"weekday", 1, 1, BindPart<[](const CivilTime& t) { return (t.weekday + 6) % 7; }>},
    {"dayofyear", 1, 1, BindPart<[](const CivilTime& t) { return t.year_day; }>},
    {"week", 1, 2, BindWeek},
    {"weekofyear", 1, 1, BindPart<[](const CivilTime& t) { return WeekOfYear(t, 3); }>},
    {"yearweek", 1, 1, BindPart<YearWeek>},
    {"yearmonth", 1, 1, BindPart<YearMonth>},
    {"yearmonthday", 1, 1, BindPart<YearMonthDay>},
};

}  // namespace

std::span<const FunctionEntry> DatePartFunctions() { return kFunctions; }

}  // namespace stoa::sql
