#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/bind/name_scope.h"
#include "sql/expr/comparison.h"

namespace stoa::sql {

// Binds one expression. Lives for one BindExpr() or BindFilter(); inside sql/bind only.
class Binder {
 public:
  enum class Place : uint8_t { kItem, kFilter };
  Binder(NameScope& scope, Place place) : scope_(scope), place_(place) {}

  // Any expression, as a value.
  Result<SharedExpr> Bind(const ParsedExpr& expr);
  // The skeleton of a filter: AND, OR, NOT over comparisons by the rules of filters. May be NULL.
  Result<SharedExpr> BindCondition(const ParsedExpr& condition);

 private:
  // One side of a comparison.
  struct Operand {
    SharedExpr expr;
    Quantifier quantifier = Quantifier::kPlain;
    std::string column;  // the name when it is nothing but a column or an alias
    bool is_id = false;
  };
  struct Name {
    SharedExpr expr;
    bool is_id = false;
    bool is_stored = true;
  };

  // expr_binder.cpp: names, literals, operators.
  Result<SharedExpr> BindLiteral(const ParsedExpr& expr);
  Result<SharedExpr> BindColumn(const ParsedExpr& expr);
  Result<std::optional<Name>> FindName(const ParsedExpr& expr);
  Result<std::optional<Name>> FindColumn(std::string_view name);
  Result<SharedExpr> BindVariable(const ParsedExpr& expr);
  Result<SharedExpr> BindUnary(const ParsedExpr& expr);
  Result<SharedExpr> BindBinary(const ParsedExpr& expr);
  Result<SharedExpr> BindLogic(const ParsedExpr& expr, bool by_filter_rules);
  Status CollectOperands(const ParsedExpr& expr, Operator op, bool by_filter_rules,
                         std::vector<SharedExpr>& out);

  // predicate_binder.cpp: comparisons, BETWEEN, IN, IS NULL, LIKE; `by_filter_rules` checks types as filters
  // do.
  Result<SharedExpr> BindPredicate(const ParsedExpr& expr, bool by_filter_rules);
  Result<SharedExpr> BindComparison(const ParsedExpr& expr, bool by_filter_rules);
  Result<SharedExpr> BindBetween(const ParsedExpr& expr, bool by_filter_rules);
  Result<SharedExpr> BindIn(const ParsedExpr& expr, bool by_filter_rules);
  Result<SharedExpr> BindIsNull(const ParsedExpr& expr, bool by_filter_rules);
  Result<SharedExpr> BindLike(const ParsedExpr& expr, bool by_filter_rules);
  Result<SharedExpr> BindInOfExpressions(const Operand& operand, const std::vector<SharedExpr>& items,
                                         bool negated);
  Result<Operand> BindOperand(const ParsedExpr& expr, bool by_filter_rules);
  Status CheckOperand(const Operand& operand) const;
  // The rules of FI-06 for constants against a column; converts texts that stand for ids.
  Status CheckConstants(const Operand& operand, ConstantTest& test, std::string_view text_kind) const;
  Result<SharedExpr> FinishTest(Operand operand, ConstantTest test);
  Result<std::vector<Value>> ListOfVariable(const ParsedExpr& variable) const;

  // function_binder.cpp: calls, casts, conditions.
  Result<SharedExpr> BindCall(const ParsedExpr& call);
  Result<SharedExpr> BindOwnCall(const ParsedExpr& call);
  Result<SharedExpr> BindIf(const ParsedExpr& call);
  Result<SharedExpr> BindNullIf(const ParsedExpr& call);
  Result<SharedExpr> BindTags(const ParsedExpr& call);
  Result<SharedExpr> BindCase(const ParsedExpr& expr);
  Result<SharedExpr> BindCast(const ParsedExpr& expr);
  Result<SharedExpr> BindCastCall(const ParsedExpr& call, ValueType type);
  Result<std::vector<SharedExpr>> BindAll(const ParsedExpr& call);
  Status CheckCount(const ParsedExpr& call, size_t least, size_t most) const;

  CompareOptions Options() const { return {scope_.context().collation, exact_floats_}; }
  // "table t: parse error: <text>".
  Status ItemError(std::string_view text) const;
  // "table t: <text>".
  Status FilterError(std::string_view text) const;
  // Puts the table in front of an error of the nodes, which do not know it.
  Result<SharedExpr> Named(Result<SharedExpr> made) const;
  Status UnknownName(const ParsedExpr& expr) const;
  Status NotStored(const ParsedExpr& expr) const;

  NameScope& scope_;
  Place place_;
  bool exact_floats_ = false;  // inside IF
};

// "j.a[0]['b c']" as a user wrote it.
std::string NameText(const ParsedExpr& column);

}  // namespace stoa::sql
