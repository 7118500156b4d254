#include "sql/bind/expr_binder.h"

#include <limits>

#include "sql/bind/binder.h"
#include "sql/expr/arithmetic.h"
#include "sql/expr/leaf.h"
#include "sql/expr/logic.h"
#include "sql/expr/operand.h"
#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  }
  return lower;
}

bool IsComparison(Operator op) {
  switch (op) {
    case Operator::kEqual:
    case Operator::kNotEqual:
    case Operator::kLess:
    case Operator::kLessEqual:
    case Operator::kGreater:
    case Operator::kGreaterEqual:
      return true;
    default:
      return false;
  }
}

bool IsLogic(const ParsedExpr& expr) {
  return (expr.kind == ParsedKind::kBinary && (expr.op == Operator::kAnd || expr.op == Operator::kOr)) ||
         (expr.kind == ParsedKind::kUnary && expr.op == Operator::kNot);
}

bool IsPredicate(const ParsedExpr& expr) {
  switch (expr.kind) {
    case ParsedKind::kBinary:
      return IsComparison(expr.op);
    case ParsedKind::kBetween:
    case ParsedKind::kIn:
    case ParsedKind::kIsNull:
    case ParsedKind::kLike:
      return true;
    default:
      return false;
  }
}

Value IntegerLiteral(const ParsedExpr& expr) {
  if (expr.out_of_range) {
    return Value::Double(LeadingDouble(expr.text));
  }
  if (expr.unsigned_integer > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Value::Uint64(expr.unsigned_integer);
  }
  return expr.integer >= 0 && expr.integer <= int64_t{std::numeric_limits<uint32_t>::max()}
             ? Value::Int(expr.integer)
             : Value::Bigint(expr.integer);
}

}  // namespace

std::string NameText(const ParsedExpr& column) {
  std::string text = column.name;
  for (const storage::JsonStep& step : column.path) {
    text += step.index ? fmt::format("[{}]", *step.index) : fmt::format(".{}", step.name);
  }
  return text;
}

Result<SharedExpr> Binder::Bind(const ParsedExpr& expr) {
  switch (expr.kind) {
    case ParsedKind::kInteger:
    case ParsedKind::kFloat:
    case ParsedKind::kString:
    case ParsedKind::kNull:
    case ParsedKind::kBool:
      return BindLiteral(expr);
    case ParsedKind::kColumn:
      return BindColumn(expr);
    case ParsedKind::kUnary:
      return BindUnary(expr);
    case ParsedKind::kBinary:
      return BindBinary(expr);
    case ParsedKind::kBetween:
    case ParsedKind::kIn:
    case ParsedKind::kIsNull:
    case ParsedKind::kLike:
      return BindPredicate(expr, false);
    case ParsedKind::kCase:
      return BindCase(expr);
    case ParsedKind::kCast:
      return BindCast(expr);
    case ParsedKind::kFunction:
    case ParsedKind::kLoop:
      return BindCall(expr);
    case ParsedKind::kSystemVariable:
    case ParsedKind::kUserVariable:
      return BindVariable(expr);
    case ParsedKind::kSubquery:
      return NotSupportedYet("a sub-select as a value");
    case ParsedKind::kMatch:
      return NotSupportedYet("MATCH() at this place");
    case ParsedKind::kKnn:
      return FilterError("knn() can stand in the WHERE of a SELECT only, joined to other conditions by AND");
    case ParsedKind::kParameter:
      return ItemError("a placeholder has no value");
    case ParsedKind::kStar:
      return ItemError("'*' is no value");
    case ParsedKind::kList:
    case ParsedKind::kArray:
    case ParsedKind::kNumbers:
      return ItemError("a list is no single value");
    case ParsedKind::kOptionMap:
      return ItemError("options stand inside of function calls only");
    case ParsedKind::kInterval:
      return ItemError("INTERVAL stands inside of date functions only");
  }
  return InternalError("an expression of kind {}", static_cast<int>(expr.kind));
}

Result<SharedExpr> Binder::BindCondition(const ParsedExpr& condition) {
  if (IsLogic(condition)) {
    return BindLogic(condition, true);
  }
  if (IsPredicate(condition)) {
    return BindPredicate(condition, true);
  }
  Result<SharedExpr> value = Bind(condition);
  if (!value.ok()) {
    return value;
  }
  const ValueClass kind = ClassOf((*value)->type());
  if (kind == ValueClass::kSet || kind == ValueClass::kVector) {
    return FilterError("a multi-value or vector column alone is no filter");
  }
  return value;
}

Result<SharedExpr> Binder::BindLiteral(const ParsedExpr& expr) {
  switch (expr.kind) {
    case ParsedKind::kInteger:
      return MakeConstant(IntegerLiteral(expr));
    case ParsedKind::kFloat:
      return MakeConstant(Value::Double(expr.real));
    case ParsedKind::kString:
      return MakeConstant(Value::String(expr.text));
    case ParsedKind::kBool:
      return MakeConstant(Value::Int(expr.integer));
    default:
      return MakeConstant(Value::Null());
  }
}

Result<std::optional<Binder::Name>> Binder::FindColumn(std::string_view name) {
  const std::optional<NameScope::Column> column = scope_.FindColumn(name);
  if (!column) {
    return std::optional<Name>();
  }
  Name found;
  found.expr = MakeSlot(column->slot, column->is_attribute ? column->type : ValueType::kText);
  found.is_id = column->column_type == storage::ColumnType::kId;
  found.is_stored = column->column_type != storage::ColumnType::kText || column->stored;
  return std::optional<Name>(std::move(found));
}

// table.column.path before column.path before alias.path.
Result<std::optional<Binder::Name>> Binder::FindName(const ParsedExpr& expr) {
  std::vector<storage::JsonStep> path = expr.path;
  std::optional<Name> found;
  if (!path.empty() && !path.front().index && scope_.IsTableName(expr.name)) {
    const std::string column = LowerAscii(path.front().name);
    ASSIGN_OR_RETURN(found, FindColumn(fmt::format("{}.{}", expr.name, column)));
    if (!found) {
      ASSIGN_OR_RETURN(found, FindColumn(column));
    }
    if (found) {
      path.erase(path.begin());
    }
  }
  if (!found) {
    ASSIGN_OR_RETURN(found, FindColumn(expr.name));
  }
  if (!found) {
    if (SharedExpr alias = scope_.FindAlias(expr.name)) {
      found = Name{.expr = std::move(alias)};
    }
  }
  if (found && !path.empty()) {
    if (found->expr->type() != ValueType::kJson) {
      return std::optional<Name>();
    }
    found = Name{.expr = MakeJsonPath(std::move(found->expr), std::move(path))};
  }
  return found;
}

Result<SharedExpr> Binder::BindColumn(const ParsedExpr& expr) {
  ASSIGN_OR_RETURN(std::optional<Name> name, FindName(expr));
  if (!name) {
    return UnknownName(expr);
  }
  if (!name->is_stored) {
    return NotStored(expr);
  }
  return std::move(name->expr);
}

Status Binder::NotStored(const ParsedExpr& expr) const {
  return ItemError(fmt::format("field '{}' is not stored, see 'stored_fields' option", NameText(expr)));
}

Status Binder::UnknownName(const ParsedExpr& expr) const {
  const std::string& table = scope_.context().table_name;
  if (table.empty()) {
    return SyntaxError(fmt::format("unknown column: {}", NameText(expr)));
  }
  return place_ == Place::kFilter ? UnknownColumn(table, NameText(expr))
                                  : UnknownColumnInItems(table, NameText(expr));
}

Result<SharedExpr> Binder::BindVariable(const ParsedExpr& expr) {
  if (expr.kind == ParsedKind::kUserVariable) {
    std::optional<Value> value = scope_.UserVariable(expr.name);
    return MakeConstant(value ? std::move(*value) : Value::Null());
  }
  std::optional<Value> value = scope_.SystemVariable(expr.qualifier, expr.name);
  if (!value) {
    return UnknownVariable(expr.name);
  }
  return MakeConstant(std::move(*value));
}

Result<SharedExpr> Binder::BindUnary(const ParsedExpr& expr) {
  if (expr.op == Operator::kNot) {
    return BindLogic(expr, false);
  }
  const ParsedExpr& inner = *expr.args[0];
  if (expr.op == Operator::kNegate && inner.kind == ParsedKind::kInteger && !inner.out_of_range) {
    // Below the smallest bigint: a real, as what is above the largest integer.
    return MakeConstant(inner.unsigned_integer <= uint64_t{1} << 63
                            ? Value::Bigint(static_cast<int64_t>(-inner.unsigned_integer))
                            : Value::Double(-static_cast<double>(inner.unsigned_integer)));
  }
  ASSIGN_OR_RETURN(SharedExpr operand, Bind(inner));
  const bool is_constant = operand->is_constant();
  ASSIGN_OR_RETURN(SharedExpr made, Named(expr.op == Operator::kBitNot ? MakeBitNot(std::move(operand))
                                                                       : MakeNegate(std::move(operand))));
  return Fold(std::move(made), is_constant);
}

Result<SharedExpr> Binder::BindBinary(const ParsedExpr& expr) {
  if (expr.op == Operator::kAnd || expr.op == Operator::kOr) {
    return BindLogic(expr, false);
  }
  if (IsComparison(expr.op)) {
    return BindPredicate(expr, false);
  }
  ASSIGN_OR_RETURN(SharedExpr left, Bind(*expr.args[0]));
  ASSIGN_OR_RETURN(SharedExpr right, Bind(*expr.args[1]));
  const bool is_constant = left->is_constant() && right->is_constant();
  ASSIGN_OR_RETURN(SharedExpr made, Named(MakeArithmetic(expr.op, std::move(left), std::move(right))));
  return Fold(std::move(made), is_constant);
}

// A tree of one operator as one list, in order.
Status Binder::CollectOperands(const ParsedExpr& expr, Operator op, bool by_filter_rules,
                               std::vector<SharedExpr>& out) {
  if (expr.kind == ParsedKind::kBinary && expr.op == op) {
    RETURN_IF_ERROR(CollectOperands(*expr.args[0], op, by_filter_rules, out));
    return CollectOperands(*expr.args[1], op, by_filter_rules, out);
  }
  ASSIGN_OR_RETURN(SharedExpr bound, by_filter_rules ? BindCondition(expr) : Bind(expr));
  out.push_back(std::move(bound));
  return Status::Ok();
}

Result<SharedExpr> Binder::BindLogic(const ParsedExpr& expr, bool by_filter_rules) {
  std::vector<SharedExpr> operands;
  if (expr.op == Operator::kNot) {
    ASSIGN_OR_RETURN(SharedExpr operand,
                     by_filter_rules ? BindCondition(*expr.args[0]) : Bind(*expr.args[0]));
    operands.push_back(std::move(operand));
  } else {
    RETURN_IF_ERROR(CollectOperands(expr, expr.op, by_filter_rules, operands));
  }
  bool is_constant = true;
  for (const SharedExpr& operand : operands) {
    const ValueClass kind = ClassOf(operand->type());
    if (kind == ValueClass::kVector) {
      return ItemError("a vector is neither true nor false");
    }
    is_constant = is_constant && operand->is_constant();
  }
  SharedExpr made = expr.op == Operator::kNot   ? MakeNot(std::move(operands[0]))
                    : expr.op == Operator::kAnd ? MakeAnd(std::move(operands))
                                                : MakeOr(std::move(operands));
  return Fold(std::move(made), is_constant);
}

Status Binder::ItemError(std::string_view text) const {
  const std::string& table = scope_.context().table_name;
  return table.empty() ? SyntaxError(fmt::format("parse error: {}", text))
                       : TableError(table, fmt::format("parse error: {}", text));
}

Status Binder::FilterError(std::string_view text) const {
  const std::string& table = scope_.context().table_name;
  return table.empty() ? SyntaxError(std::string(text)) : TableError(table, text);
}

Result<SharedExpr> Binder::Named(Result<SharedExpr> made) const {
  if (made.ok() || made.status().code() != StatusCode::kInvalid || made.status().number() != 0) {
    return made;
  }
  return ItemError(made.status().text());
}

Result<SharedExpr> BindExpr(const ParsedExpr& expr, NameScope& scope) {
  return Binder(scope, Binder::Place::kItem).Bind(expr);
}

Result<SharedExpr> BindFilter(const ParsedExpr& condition, NameScope& scope) {
  Binder binder(scope, Binder::Place::kFilter);
  ASSIGN_OR_RETURN(SharedExpr bound, binder.BindCondition(condition));
  const bool is_constant = bound->is_constant();
  return Fold(MakeCondition(std::move(bound)), is_constant);
}

Result<std::vector<SharedExpr>> BindArguments(const ParsedExpr& call, NameScope& scope) {
  std::vector<SharedExpr> arguments;
  arguments.reserve(call.args.size());
  for (const ParsedExprPtr& arg : call.args) {
    ASSIGN_OR_RETURN(SharedExpr bound, BindExpr(*arg, scope));
    arguments.push_back(std::move(bound));
  }
  return arguments;
}

}  // namespace stoa::sql
