#pragma once

#include <memory>
#include <string>

#include "sql/session/session_state.h"
#include "sql/statements/value_converter.h"

namespace stoa::sql {

// REPLACE INTO t SET c = v, … WHERE …: rewrites the rows with some values changed and all others kept.
Status ExecutePartialReplace(const InsertStatement& statement, const std::shared_ptr<storage::Table>& table,
                             StatementContext& context);

// What conversions need to know of a statement.
ValueConverter::Context MakeValueContext(StatementContext& context, const std::string& table_name);

}  // namespace stoa::sql
