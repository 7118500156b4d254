#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {

Status ExecuteDropTable(const DropTableStatement& statement, StatementContext& context) {
  RETURN_IF_ERROR(CommitTransaction(context));
  const auto missing = [](const std::string& name) {
    return SyntaxError(fmt::format("DROP TABLE failed: unknown local table '{}'", name));
  };
  // All are looked at before the first one goes.
  for (const TableReference& reference : statement.tables) {
    const std::shared_ptr<storage::Table> table = context.FindTable(reference);
    const bool damaged = table == nullptr && !context.MissingTable(reference, Status::Ok()).ok();
    if (table == nullptr && !damaged && !statement.if_exists) {
      return missing(reference.name);
    }
    if (table != nullptr && table->read_locked()) {
      return TableLocked(reference.name);
    }
  }
  for (const TableReference& reference : statement.tables) {
    if (context.FindTable(reference) == nullptr && context.MissingTable(reference, Status::Ok()).ok()) {
      continue;
    }
    const Status dropped = context.catalog().Drop(reference.name);
    if (dropped.code() == StatusCode::kNotFound) {
      if (!statement.if_exists) {
        return missing(reference.name);
      }
      continue;
    }
    RETURN_IF_ERROR(dropped);
  }
  return SendOk(context);
}

Status ExecuteTruncate(const TruncateStatement& statement, StatementContext& context) {
  RETURN_IF_ERROR(CommitTransaction(context));
  const std::shared_ptr<storage::Table> table = context.FindTable(statement.table);
  if (table == nullptr || table->definition()->kind == storage::TableKind::kDistributed) {
    return context.MissingTable(statement.table, SyntaxError("TRUNCATE TABLE requires an existing RT table"));
  }
  if (statement.with_reconfigure) {
    return NotSupportedYet("TRUNCATE TABLE … WITH RECONFIGURE");
  }
  if (table->read_locked()) {
    return TableLocked(statement.table.name);
  }
  RETURN_IF_ERROR(context.catalog().Truncate(statement.table.name));
  return SendOk(context);
}

}  // namespace stoa::sql
