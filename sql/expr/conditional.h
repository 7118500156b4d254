#pragma once

#include <vector>

#include "sql/expr/expr.h"

// IF, CASE, COALESCE, NULLIF. Values are converted to their common type.
namespace stoa::sql {

// The value behind the first condition that is true, else the last value: one value more than conditions.
Result<SharedExpr> MakeCase(std::vector<SharedExpr> conditions, std::vector<SharedExpr> values);
// The first value that is not NULL.
Result<SharedExpr> MakeCoalesce(std::vector<SharedExpr> values);
// NULL where `condition` is true, else `value`.
SharedExpr MakeNullIf(SharedExpr condition, SharedExpr value);

}  // namespace stoa::sql
