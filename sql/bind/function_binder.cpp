#include <algorithm>
#include <array>
#include <charconv>

#include "sql/bind/binder.h"
#include "sql/bind/expr_binder.h"
#include "sql/expr/conditional.h"
#include "sql/expr/convert.h"
#include "sql/expr/leaf.h"
#include "sql/expr/operand.h"
#include "sql/expr/tags.h"
#include "sql/sql_error.h"

// Calls: the scope's own names first, then casts and conditions, then the families of sql/expr/functions.
namespace stoa::sql {
namespace {

constexpr size_t kAnyCount = SIZE_MAX;

struct CastName {
  std::string_view name;
  ValueType type;
};

// Functions of FN-18.
constexpr std::array kCastCalls = {
    CastName{"bigint", ValueType::kBigint}, CastName{"double", ValueType::kDouble},
    CastName{"float", ValueType::kDouble},  CastName{"integer", ValueType::kBigint},
    CastName{"int", ValueType::kBigint},    CastName{"to_string", ValueType::kString},
    CastName{"uint", ValueType::kInt},      CastName{"uint64", ValueType::kUint64},
};

// Types of CAST(x AS type).
constexpr std::array kCastTypes = {
    CastName{"signed", ValueType::kBigint},  CastName{"bigint", ValueType::kBigint},
    CastName{"int", ValueType::kBigint},     CastName{"integer", ValueType::kBigint},
    CastName{"year", ValueType::kBigint},    CastName{"unsigned", ValueType::kUint64},
    CastName{"decimal", ValueType::kDouble}, CastName{"dec", ValueType::kDouble},
    CastName{"numeric", ValueType::kDouble}, CastName{"double", ValueType::kDouble},
    CastName{"real", ValueType::kDouble},    CastName{"float", ValueType::kFloat},
    CastName{"char", ValueType::kString},    CastName{"character", ValueType::kString},
    CastName{"nchar", ValueType::kString},   CastName{"varchar", ValueType::kString},
    CastName{"binary", ValueType::kString},  CastName{"text", ValueType::kString},
    CastName{"string", ValueType::kString},  CastName{"json", ValueType::kString},
    CastName{"date", ValueType::kString},    CastName{"datetime", ValueType::kString},
    CastName{"time", ValueType::kString},    CastName{"timestamp", ValueType::kString},
};

template <size_t n>
std::optional<ValueType> FindType(const std::array<CastName, n>& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &CastName::name);
  return found == table.end() ? std::nullopt : std::optional<ValueType>(found->type);
}

bool IsAggregate(const ParsedExpr& call) {
  constexpr std::array kAggregates = {"count", "sum",        "avg",         "group_concat", "stddev",
                                      "std",   "stddev_pop", "stddev_samp", "variance",     "var_pop"};
  const bool one_argument = call.args.size() == 1;
  return std::ranges::find(kAggregates, call.name) != kAggregates.end() ||
         (one_argument && (call.name == "min" || call.name == "max"));
}

bool IsSetOrVector(const Expr& expr) {
  const ValueClass kind = ClassOf(expr.type());
  return kind == ValueClass::kSet || kind == ValueClass::kVector;
}

// The numbers in "decimal(10,2)"; the name alone stays.
std::vector<uint64_t> TakeArguments(std::string& type) {
  std::vector<uint64_t> numbers;
  const size_t open = type.find('(');
  if (open == std::string::npos) {
    return numbers;
  }
  for (size_t at = open; at < type.size(); ++at) {
    uint64_t number = 0;
    const auto read = std::from_chars(type.data() + at, type.data() + type.size(), number);
    if (read.ec == std::errc()) {
      numbers.push_back(number);
      at = static_cast<size_t>(read.ptr - type.data());
    }
  }
  type.resize(open);
  return numbers;
}

}  // namespace

Result<SharedExpr> Binder::BindCall(const ParsedExpr& call) {
  if (call.kind == ParsedKind::kFunction) {
    ASSIGN_OR_RETURN(SharedExpr special, scope_.FindSpecial(call));
    if (special != nullptr) {
      return special;
    }
    if (IsAggregate(call)) {
      return FilterError(
          fmt::format("{}() of a group can not stand here; to filter groups use 'HAVING'", call.name));
    }
    ASSIGN_OR_RETURN(SharedExpr own, BindOwnCall(call));
    if (own != nullptr) {
      return own;
    }
  }
  Result<SharedExpr> bound = BindFunction(call, scope_);
  if (!bound.ok() && bound.status().code() == StatusCode::kNotFound && bound.status().number() == 0) {
    return ItemError(fmt::format("unknown function: '{}'", call.name));
  }
  if (!bound.ok()) {
    return bound;
  }
  const bool is_constant = (*bound)->is_constant();
  return Fold(std::move(bound).value(), is_constant);
}

// nullptr when the name belongs to a family.
Result<SharedExpr> Binder::BindOwnCall(const ParsedExpr& call) {
  if (const std::optional<ValueType> type = FindType(kCastCalls, call.name)) {
    return BindCastCall(call, *type);
  }
  if (call.name == "if") {
    return BindIf(call);
  }
  if (call.name == "nullif") {
    return BindNullIf(call);
  }
  if (call.name == "tags_any" || call.name == "tags_all") {
    return BindTags(call);
  }
  if (call.name == "sint") {
    RETURN_IF_ERROR(CheckCount(call, 1, 1));
    ASSIGN_OR_RETURN(SharedExpr operand, Bind(*call.args[0]));
    if (IsSetOrVector(*operand)) {
      return ItemError("sint() takes one number");
    }
    const bool is_constant = operand->is_constant();
    return Fold(ToSigned(std::move(operand)), is_constant);
  }
  if (call.name == "coalesce" || call.name == "ifnull") {
    RETURN_IF_ERROR(call.name == "ifnull" ? CheckCount(call, 2, 2) : CheckCount(call, 1, kAnyCount));
    ASSIGN_OR_RETURN(std::vector<SharedExpr> values, BindAll(call));
    return Named(MakeCoalesce(std::move(values)));
  }
  return SharedExpr();
}

Status Binder::CheckCount(const ParsedExpr& call, size_t least, size_t most) const {
  const size_t given = call.args.size();
  if (given >= least && given <= most) {
    return Status::Ok();
  }
  const std::string_view bound = least == most ? "" : given < least ? "at least " : "at most ";
  return ItemError(fmt::format("{}() called with {} args, {}{} args expected", call.name, given, bound,
                               given < least ? least : most));
}

Result<std::vector<SharedExpr>> Binder::BindAll(const ParsedExpr& call) {
  std::vector<SharedExpr> bound;
  for (const ParsedExprPtr& arg : call.args) {
    ASSIGN_OR_RETURN(SharedExpr value, Bind(*arg));
    bound.push_back(std::move(value));
  }
  return bound;
}

Result<SharedExpr> Binder::BindIf(const ParsedExpr& call) {
  RETURN_IF_ERROR(CheckCount(call, 3, 3));
  std::vector<SharedExpr> conditions(1);
  const bool outer = std::exchange(exact_floats_, true);
  Result<SharedExpr> condition = Bind(*call.args[0]);
  exact_floats_ = outer;
  if (!condition.ok()) {
    return condition;
  }
  conditions[0] = std::move(condition).value();
  std::vector<SharedExpr> values(2);
  ASSIGN_OR_RETURN(values[0], Bind(*call.args[1]));
  ASSIGN_OR_RETURN(values[1], Bind(*call.args[2]));
  return Named(MakeCase(std::move(conditions), std::move(values)));
}

Result<SharedExpr> Binder::BindNullIf(const ParsedExpr& call) {
  RETURN_IF_ERROR(CheckCount(call, 2, 2));
  ASSIGN_OR_RETURN(std::vector<SharedExpr> sides, BindAll(call));
  const bool is_constant = sides[0]->is_constant() && sides[1]->is_constant();
  ASSIGN_OR_RETURN(SharedExpr equal, Named(MakeComparison(Operator::kEqual, sides[0], sides[1], Options())));
  return Fold(MakeNullIf(std::move(equal), std::move(sides[0])), is_constant);
}

// tags ANY('x', 'y'), tags ALL(…).
Result<SharedExpr> Binder::BindTags(const ParsedExpr& call) {
  RETURN_IF_ERROR(CheckCount(call, 2, kAnyCount));
  ASSIGN_OR_RETURN(std::vector<SharedExpr> bound, BindAll(call));
  std::vector<std::string> wanted;
  for (size_t i = 1; i < bound.size(); ++i) {
    if (!bound[i]->is_constant() || ClassOf(bound[i]->type()) != ValueClass::kText) {
      return FilterError("the words of ANY() and ALL() on a string column are strings");
    }
    ASSIGN_OR_RETURN(Value word, EvaluateConstant(*bound[i]));
    wanted.push_back(std::move(word.bytes));
  }
  if (bound[0]->type() != ValueType::kString) {
    return FilterError("ANY() and ALL() of words filter string columns");
  }
  const bool is_constant = bound[0]->is_constant();
  return Fold(MakeTagTest(std::move(bound[0]), std::move(wanted), call.name == "tags_all",
                          scope_.context().collation),
              is_constant);
}

Result<SharedExpr> Binder::BindCase(const ParsedExpr& expr) {
  size_t next = 0;
  SharedExpr operand;
  if (expr.has_operand) {
    ASSIGN_OR_RETURN(operand, Bind(*expr.args[next++]));
  }
  const size_t pairs_end = expr.args.size() - (expr.has_else ? 1 : 0);
  std::vector<SharedExpr> conditions;
  std::vector<SharedExpr> values;
  while (next + 1 < pairs_end) {
    ASSIGN_OR_RETURN(SharedExpr condition, Bind(*expr.args[next]));
    if (operand != nullptr) {
      ASSIGN_OR_RETURN(condition,
                       Named(MakeComparison(Operator::kEqual, operand, std::move(condition), Options())));
    }
    conditions.push_back(std::move(condition));
    ASSIGN_OR_RETURN(SharedExpr value, Bind(*expr.args[next + 1]));
    values.push_back(std::move(value));
    next += 2;
  }
  SharedExpr otherwise = MakeConstant(Value::Null());
  if (expr.has_else) {
    ASSIGN_OR_RETURN(otherwise, Bind(*expr.args.back()));
  }
  values.push_back(std::move(otherwise));
  return Named(MakeCase(std::move(conditions), std::move(values)));
}

Result<SharedExpr> Binder::BindCastCall(const ParsedExpr& call, ValueType type) {
  RETURN_IF_ERROR(CheckCount(call, 1, 1));
  ASSIGN_OR_RETURN(SharedExpr operand, Bind(*call.args[0]));
  if (type != ValueType::kString && IsSetOrVector(*operand)) {
    return ItemError(fmt::format("{}() takes one value, neither a set nor a vector", call.name));
  }
  return CastTo(std::move(operand), type);
}

Result<SharedExpr> Binder::BindCast(const ParsedExpr& expr) {
  ASSIGN_OR_RETURN(SharedExpr operand, Bind(*expr.args[0]));
  std::string name = expr.name;
  const std::vector<uint64_t> numbers = TakeArguments(name);
  const std::optional<ValueType> type = FindType(kCastTypes, name);
  if (!type) {
    return ItemError(fmt::format("unknown type '{}' in CAST", expr.name));
  }
  if (*type != ValueType::kString && IsSetOrVector(*operand)) {
    return ItemError("CAST of a set or a vector to a number");
  }
  const bool is_constant = operand->is_constant();
  SharedExpr cast = ConvertTo(std::move(operand), *type);
  if (*type == ValueType::kString && !numbers.empty()) {
    cast = CutText(std::move(cast), numbers[0]);
  } else if (*type == ValueType::kDouble && name.starts_with("dec") && !numbers.empty()) {
    cast = RoundTo(std::move(cast), numbers.size() > 1 ? numbers[1] : 0);
  }
  return Fold(std::move(cast), is_constant);
}

}  // namespace stoa::sql
