#pragma once

#include <vector>

#include "sql/session/session_state.h"

namespace stoa::sql {

// Runs the SELECT of INSERT … SELECT and REPLACE … SELECT and gives its rows as the constants they are.
// Without a LIMIT of its own it gives all rows.
Result<std::vector<std::vector<ParsedExprPtr>>> SelectRowsToInsert(SelectStatement& select,
                                                                   StatementContext& context);

}  // namespace stoa::sql
