#include "sql/expr/functions/date_format.h"
#include "sql/expr/functions/date_math.h"
#include "sql/expr/functions/function.h"

// The time of the statement: the same for all its rows, so all of these are constants.
namespace stoa::sql {
namespace {

Result<SharedExpr> BindNow(const ParsedExpr&, NameScope& scope) {
  return MakeConstant(Value::Int(scope.context().now_seconds));
}

// A text of now in the statement's zone, or in UTC.
template <bool kUtc>
Result<SharedExpr> NowText(std::string_view format, NameScope& scope) {
  Zone zone;
  if (!kUtc) {
    ASSIGN_OR_RETURN(zone, FindZone(scope));
  }
  ZoneClock clock(zone);
  std::string text;
  AppendDateFormat(format, scope.context().now_seconds, clock, text);
  return MakeConstant(Value::String(std::move(text)));
}

Result<SharedExpr> BindCurtime(const ParsedExpr&, NameScope& scope) { return NowText<false>("%T", scope); }
Result<SharedExpr> BindCurdate(const ParsedExpr&, NameScope& scope) { return NowText<false>("%F", scope); }
Result<SharedExpr> BindUtcTime(const ParsedExpr&, NameScope& scope) { return NowText<true>("%T", scope); }
Result<SharedExpr> BindUtcDate(const ParsedExpr&, NameScope& scope) { return NowText<true>("%F", scope); }
Result<SharedExpr> BindUtcTimestamp(const ParsedExpr&, NameScope& scope) {
  return NowText<true>("%F %T", scope);
}

// unix_timestamp(): now; unix_timestamp(t): the seconds of a date text.
Result<SharedExpr> BindUnixTimestamp(const ParsedExpr& call, NameScope& scope) {
  if (call.args.empty()) {
    return BindNow(call, scope);
  }
  ASSIGN_OR_RETURN(auto args, BindInstants(call, scope));
  return std::move(args[0]);
}

constexpr FunctionEntry kFunctions[] = {
    {"now", 0, 1, BindNow},
    {"sysdate", 0, 1, BindNow},
    {"current_timestamp", 0, 1, BindNow},
    {"localtime", 0, 1, BindNow},
    {"localtimestamp", 0, 1, BindNow},
    {"unix_timestamp", 0, 1, BindUnixTimestamp},
    {"curtime", 0, 1, BindCurtime},
    {"current_time", 0, 1, BindCurtime},
    {"curdate", 0, 0, BindCurdate},
    {"current_date", 0, 0, BindCurdate},
    {"utc_time", 0, 1, BindUtcTime},
    {"utc_date", 0, 0, BindUtcDate},
    {"utc_timestamp", 0, 1, BindUtcTimestamp},
};

}  // namespace

std::span<const FunctionEntry> ClockFunctions() { return kFunctions; }

}  // namespace stoa::sql
