#pragma once

#include <vector>

#include "sql/expr/expr.h"
#include "storage/json/json_value.h"

// The leaves of expressions. MakeConstant() and MakeSlot() are declared in sql/bind/expr_binder.h.
namespace stoa::sql {

// The value at `path` of a stored JSON; kJson, NULL where it is absent or a JSON null.
SharedExpr MakeJsonPath(SharedExpr json, std::vector<storage::JsonStep> path);

// A NULL of this type.
SharedExpr MakeNull(ValueType type);

// Replaces an expression whose operands are all constant by its value.
Result<SharedExpr> Fold(SharedExpr expr, bool operands_are_constant);

}  // namespace stoa::sql
