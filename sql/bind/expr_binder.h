#pragma once

#include <memory>
#include <vector>

#include "sql/bind/name_scope.h"

namespace stoa::sql {

// Binds a parsed expression: names to slots and aliases, operators and functions to typed nodes; constant
// parts are folded. Errors carry the MySQL number and users' words ("table t: parse error: unknown column:
// x"). Aggregates are not bound here: the scope's FindSpecial() is asked for every function name first.
Result<SharedExpr> BindExpr(const ParsedExpr& expr, NameScope& scope);

// Binds a WHERE or HAVING condition to a boolean expression (kInt, 0 or 1; NULL counts as 0), with the rules
// of filters (features 1.8): numbers never compare with strings ("unsupported filter on a 's' string
// column"), sets need ANY or ALL (a plain one means ANY, with a warning for IN), text fields are refused,
// float constants on float columns compare as 32-bit floats, JSON compares by its own type and absent values
// match nothing.
Result<SharedExpr> BindFilter(const ParsedExpr& condition, NameScope& scope);

// Functions, one file per family in sql/expr/functions. Arguments that are plain expressions are bound with
// BindExpr. NotFound when no function has this name.
Result<SharedExpr> BindFunction(const ParsedExpr& call, NameScope& scope);

// Helpers of the families.
Result<std::vector<SharedExpr>> BindArguments(const ParsedExpr& call, NameScope& scope);
SharedExpr MakeConstant(Value value);
SharedExpr MakeSlot(size_t slot, ValueType type);
// Value of a constant expression.
Result<Value> EvaluateConstant(const Expr& expr);

// Conversions that wrap an expression: to 64-bit integers (JSON and text by their value), to double, to text.
SharedExpr ToBigint(SharedExpr expr);
SharedExpr ToDouble(SharedExpr expr);
SharedExpr ToText(SharedExpr expr);

}  // namespace stoa::sql
