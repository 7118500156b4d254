#include <algorithm>
#include <cstring>

#include "sql/bind/binder.h"
#include "sql/bind/expr_binder.h"
#include "sql/expr/convert.h"
#include "sql/expr/leaf.h"
#include "sql/expr/logic.h"
#include "sql/expr/operand.h"
#include "sql/sql_error.h"

// Comparisons, BETWEEN, IN, IS NULL, LIKE. Against constants they become one test of a column; in filters
// with the rules and refusals of features FI-04, FI-06 and FI-08.
namespace stoa::sql {
namespace {

bool AllConstant(const std::vector<SharedExpr>& items) {
  return std::ranges::all_of(items, [](const SharedExpr& item) { return item->is_constant(); });
}

template <typename Item>
void AppendItems(std::string_view set, std::vector<Value>& out) {
  for (size_t at = 0; at + sizeof(Item) <= set.size(); at += sizeof(Item)) {
    Item item;
    std::memcpy(&item, set.data() + at, sizeof(Item));
    out.push_back(Value::Bigint(static_cast<int64_t>(item)));
  }
}

}  // namespace

Result<SharedExpr> Binder::BindPredicate(const ParsedExpr& expr, bool by_filter_rules) {
  switch (expr.kind) {
    case ParsedKind::kBetween:
      return BindBetween(expr, by_filter_rules);
    case ParsedKind::kIn:
      return BindIn(expr, by_filter_rules);
    case ParsedKind::kIsNull:
      return BindIsNull(expr, by_filter_rules);
    case ParsedKind::kLike:
      return BindLike(expr, by_filter_rules);
    default:
      return BindComparison(expr, by_filter_rules);
  }
}

// A side of a comparison: ANY(x) and ALL(x) are taken off.
Result<Binder::Operand> Binder::BindOperand(const ParsedExpr& expr, bool by_filter_rules) {
  Operand operand;
  const bool is_call = expr.kind == ParsedKind::kFunction && expr.args.size() == 1;
  if (is_call && (expr.name == "any" || expr.name == "all")) {
    ASSIGN_OR_RETURN(operand, BindOperand(*expr.args[0], by_filter_rules));
    const ValueClass kind = ClassOf(operand.expr->type());
    if (kind != ValueClass::kSet && kind != ValueClass::kJson) {
      return FilterError(
          fmt::format("{}() takes a multi-value or JSON column", expr.name == "any" ? "ANY" : "ALL"));
    }
    operand.quantifier = expr.name == "any" ? Quantifier::kAny : Quantifier::kAll;
    return operand;
  }
  if (expr.kind != ParsedKind::kColumn) {
    ASSIGN_OR_RETURN(operand.expr, Bind(expr));
    return operand;
  }
  ASSIGN_OR_RETURN(std::optional<Name> name, FindName(expr));
  if (!name) {
    return UnknownName(expr);
  }
  if (!name->is_stored && !by_filter_rules) {  // filters say that they refuse fields at all
    return NotStored(expr);
  }
  operand.expr = std::move(name->expr);
  operand.is_id = name->is_id;
  operand.column = NameText(expr);
  return operand;
}

Status Binder::CheckOperand(const Operand& operand) const {
  if (operand.column.empty()) {
    return Status::Ok();
  }
  if (operand.expr->type() == ValueType::kText) {
    return FilterError(fmt::format(
        "unsupported filter on field '{}' (filters are supported only on attributes, not stored fields)",
        operand.column));
  }
  if (ClassOf(operand.expr->type()) == ValueClass::kVector) {
    return FilterError(fmt::format("unsupported filter on a '{}' float vector column", operand.column));
  }
  return Status::Ok();
}

Status Binder::CheckConstants(const Operand& operand, ConstantTest& test, std::string_view text_kind) const {
  RETURN_IF_ERROR(CheckOperand(operand));
  if (operand.column.empty() || operand.expr->type() == ValueType::kJson) {
    return Status::Ok();
  }
  const bool is_text = ClassOf(operand.expr->type()) == ValueClass::kText;
  if (operand.is_id) {  // drivers that emulate prepared statements quote every value
    ConvertNumericTexts(test);
  }
  for (const Value* value : test.values()) {
    if (is_text && IsNumber(ClassOf(value->type))) {
      return FilterError(fmt::format("unsupported filter on a '{}' string column", operand.column));
    }
    if (!is_text && ClassOf(value->type) == ValueClass::kText) {
      return FilterError(
          fmt::format("unsupported filter type '{}' on attribute '{}'", text_kind, operand.column));
    }
  }
  return Status::Ok();
}

Result<SharedExpr> Binder::FinishTest(Operand operand, ConstantTest test) {
  return Named(MakeTest(std::move(operand.expr), std::move(test), operand.quantifier, Options()));
}

Result<SharedExpr> Binder::BindComparison(const ParsedExpr& expr, bool by_filter_rules) {
  ASSIGN_OR_RETURN(Operand left, BindOperand(*expr.args[0], by_filter_rules));
  ASSIGN_OR_RETURN(Operand right, BindOperand(*expr.args[1], by_filter_rules));
  Operator op = expr.op;
  if (left.expr->is_constant() && !right.expr->is_constant()) {
    std::swap(left, right);
    op = Mirror(op);
  }
  const bool by_rules = by_filter_rules && !left.expr->is_constant();
  const bool is_quantified = left.quantifier != Quantifier::kPlain || right.quantifier != Quantifier::kPlain;
  if (right.expr->is_constant() && (by_rules || is_quantified)) {
    ASSIGN_OR_RETURN(Value value, EvaluateConstant(*right.expr));
    ConstantTest test = ConstantTest::Compare(op, std::move(value));
    if (by_rules) {
      RETURN_IF_ERROR(CheckConstants(left, test, "string"));
    }
    if (Fits(left.expr->type(), test)) {
      return FinishTest(std::move(left), std::move(test));
    }
  }
  if (by_filter_rules) {
    RETURN_IF_ERROR(CheckOperand(left));
    RETURN_IF_ERROR(CheckOperand(right));
  }
  if (is_quantified) {
    return FilterError("ANY() and ALL() are compared with constants only");
  }
  return Named(MakeComparison(op, std::move(left.expr), std::move(right.expr), Options()));
}

Result<SharedExpr> Binder::BindBetween(const ParsedExpr& expr, bool by_filter_rules) {
  ASSIGN_OR_RETURN(Operand operand, BindOperand(*expr.args[0], by_filter_rules));
  ASSIGN_OR_RETURN(SharedExpr low, Bind(*expr.args[1]));
  ASSIGN_OR_RETURN(SharedExpr high, Bind(*expr.args[2]));
  if (low->is_constant() && high->is_constant()) {
    ASSIGN_OR_RETURN(Value low_value, EvaluateConstant(*low));
    ASSIGN_OR_RETURN(Value high_value, EvaluateConstant(*high));
    ConstantTest test = ConstantTest::Between(std::move(low_value), std::move(high_value), expr.negated);
    if (by_filter_rules) {
      RETURN_IF_ERROR(CheckConstants(operand, test, "string"));
    } else if (IsNumber(ClassOf(operand.expr->type()))) {
      ConvertNumericTexts(test);
    }
    if (Fits(operand.expr->type(), test)) {
      return FinishTest(std::move(operand), std::move(test));
    }
  }
  if (by_filter_rules) {
    RETURN_IF_ERROR(CheckOperand(operand));
  }
  if (operand.quantifier != Quantifier::kPlain) {
    return FilterError("ANY() and ALL() are compared with constants only");
  }
  std::vector<SharedExpr> bounds(2);
  ASSIGN_OR_RETURN(bounds[0],
                   Named(MakeComparison(Operator::kGreaterEqual, operand.expr, std::move(low), Options())));
  ASSIGN_OR_RETURN(bounds[1],
                   Named(MakeComparison(Operator::kLessEqual, operand.expr, std::move(high), Options())));
  const bool is_constant = AllConstant(bounds);
  SharedExpr made = MakeAnd(std::move(bounds));
  return Fold(expr.negated ? MakeNot(std::move(made)) : std::move(made), is_constant);
}

// IN @list.
Result<std::vector<Value>> Binder::ListOfVariable(const ParsedExpr& variable) const {
  std::optional<Value> value = scope_.UserVariable(variable.name);
  if (!value) {
    return FilterError(fmt::format("undefined user variable '@{}' in IN", variable.name));
  }
  std::vector<Value> values;
  if (value->type == ValueType::kMulti) {
    AppendItems<uint32_t>(value->bytes, values);
  } else if (value->type == ValueType::kMulti64) {
    AppendItems<int64_t>(value->bytes, values);
  } else {
    values.push_back(std::move(*value));
  }
  return values;
}

Result<SharedExpr> Binder::BindIn(const ParsedExpr& expr, bool by_filter_rules) {
  ASSIGN_OR_RETURN(Operand operand, BindOperand(*expr.args[0], by_filter_rules));
  std::vector<Value> values;
  std::vector<SharedExpr> items;
  for (size_t i = 1; i < expr.args.size(); ++i) {
    const ParsedExpr& item = *expr.args[i];
    if (item.kind == ParsedKind::kSubquery) {
      return NotSupportedYet("a sub-select in IN");
    }
    if (item.kind == ParsedKind::kUserVariable) {
      ASSIGN_OR_RETURN(std::vector<Value> list, ListOfVariable(item));
      std::ranges::move(list, std::back_inserter(values));
      continue;
    }
    ASSIGN_OR_RETURN(SharedExpr bound, Bind(item));
    if (bound->is_constant()) {
      ASSIGN_OR_RETURN(Value value, EvaluateConstant(*bound));
      values.push_back(std::move(value));
    } else {
      items.push_back(std::move(bound));
    }
  }
  ConstantTest test = ConstantTest::In(std::move(values), expr.negated);
  if (by_filter_rules) {
    RETURN_IF_ERROR(CheckConstants(operand, test, "stringlist"));
  }
  const bool is_set = ClassOf(operand.expr->type()) == ValueClass::kSet;
  if (by_filter_rules && is_set && operand.quantifier == Quantifier::kPlain) {
    scope_.AddWarning(fmt::format("multi-value column '{}' in IN without ANY() or ALL(): any value counts",
                                  operand.column));
  }
  if (items.empty()) {
    return FinishTest(std::move(operand), std::move(test));
  }
  if (operand.quantifier != Quantifier::kPlain) {
    return FilterError("ANY() and ALL() are compared with constants only");
  }
  test.negated = false;
  for (SharedExpr& item : items) {
    ASSIGN_OR_RETURN(item, Named(MakeComparison(Operator::kEqual, operand.expr, std::move(item), Options())));
  }
  if (!test.list.empty() || test.has_null) {
    ASSIGN_OR_RETURN(SharedExpr listed, FinishTest(operand, std::move(test)));
    items.push_back(std::move(listed));
  }
  SharedExpr made = MakeOr(std::move(items));
  return expr.negated ? MakeNot(std::move(made)) : made;
}

Result<SharedExpr> Binder::BindIsNull(const ParsedExpr& expr, bool by_filter_rules) {
  ASSIGN_OR_RETURN(Operand operand, BindOperand(*expr.args[0], by_filter_rules));
  if (by_filter_rules) {
    RETURN_IF_ERROR(CheckOperand(operand));
  }
  const bool is_constant = operand.expr->is_constant();
  return Fold(MakeIsNull(std::move(operand.expr), expr.negated), is_constant);
}

Result<SharedExpr> Binder::BindLike(const ParsedExpr& expr, bool by_filter_rules) {
  ASSIGN_OR_RETURN(Operand text, BindOperand(*expr.args[0], by_filter_rules));
  ASSIGN_OR_RETURN(SharedExpr pattern, Bind(*expr.args[1]));
  if (by_filter_rules) {
    RETURN_IF_ERROR(CheckOperand(text));
  }
  for (const SharedExpr& side : {text.expr, pattern}) {
    const ValueClass kind = ClassOf(side->type());
    if (kind == ValueClass::kSet || kind == ValueClass::kVector) {
      return ItemError("LIKE compares strings");
    }
  }
  const bool is_constant = text.expr->is_constant() && pattern->is_constant();
  return Fold(MakeLike(std::move(text.expr), std::move(pattern), expr.negated), is_constant);
}

}  // namespace stoa::sql
