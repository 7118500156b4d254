#pragma once

#include <string>
#include <vector>

#include "sql/bind/name_scope.h"
#include "sql/expr/expr.h"

namespace stoa::sql {

// Whether any (or all) of `wanted` are among the blank-separated words of a text (FI-07): kInt, 0 or 1.
SharedExpr MakeTagTest(SharedExpr text, std::vector<std::string> wanted, bool all, Collation collation);

}  // namespace stoa::sql
