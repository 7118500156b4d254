#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {

Status ExecuteKill(const KillStatement& statement, StatementContext& context) {
  const Status killed = context.server().Kill(statement.id, statement.query_only);
  if (killed.code() == StatusCode::kNotFound) {
    return UnknownThread(statement.id);
  }
  RETURN_IF_ERROR(killed);
  return SendOk(context, 1);
}

}  // namespace stoa::sql
