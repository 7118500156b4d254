#pragma once

#include <optional>
#include <vector>

#include "sql/bind/name_scope.h"
#include "sql/parser/ast.h"
#include "storage/base/ids.h"

namespace stoa::sql {

// The documents to which `id = n` or `id IN (n, …)` among the ANDed conditions confines a WHERE; none: it
// does not. The rows still have to pass the whole condition.
std::optional<std::vector<DocId>> DocumentsOf(const ParsedExpr& where, const NameScope& scope);

}  // namespace stoa::sql
