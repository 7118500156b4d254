#pragma once

#include <vector>

#include "sql/expr/expr.h"

// AND, OR, NOT and IS NULL with SQL's three values: kInt, 0, 1 or NULL.
namespace stoa::sql {

// Of at least one operand. The rest is not evaluated once nothing of the batch can change.
SharedExpr MakeAnd(std::vector<SharedExpr> operands);
SharedExpr MakeOr(std::vector<SharedExpr> operands);
SharedExpr MakeNot(SharedExpr operand);
// Never NULL. An absent JSON value and a JSON null are NULL.
SharedExpr MakeIsNull(SharedExpr operand, bool negated);
// 0 or 1, never NULL: what a filter asks of its rows.
SharedExpr MakeCondition(SharedExpr operand);
// text LIKE pattern.
SharedExpr MakeLike(SharedExpr text, SharedExpr pattern, bool negated);

}  // namespace stoa::sql
