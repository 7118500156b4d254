#include "sql/parser/keywords.h"
#include "sql/statements/statements.h"

namespace stoa::sql {

// Drivers send USE with whatever their configuration says; there is one database, so any name is fine.
Status ExecuteUse(const UseStatement& statement, StatementContext& context) {
  if (EqualsLower(statement.database, "information_schema")) {
    context.session.database = "information_schema";
  } else if (EqualsLower(statement.database, "manticore")) {
    context.session.database = "Manticore";
  }
  return SendOk(context);
}

}  // namespace stoa::sql
