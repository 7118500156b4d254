#include <utility>

#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

void Unlock(Session::State& session) {
  for (const auto& table : session.read_locks) {
    table->RemoveReadLock();
  }
  session.read_locks.clear();
}

}  // namespace

// READ locks refuse everyone's writes until UNLOCK TABLES; the tables locked before are let go, as in MySQL.
Status ExecuteLockTables(const LockTablesStatement& statement, StatementContext& context) {
  std::vector<std::shared_ptr<storage::Table>> tables;
  for (const LockTablesStatement::Lock& lock : statement.locks) {
    auto table = context.FindTable(lock.table);
    if (table == nullptr) {
      return NoSuchTable(lock.table.name);
    }
    if (!lock.write) {
      tables.push_back(std::move(table));
    }
  }
  if (!statement.unlock && context.session.in_transaction) {
    RETURN_IF_ERROR(CommitTransaction(context));
  }
  Unlock(context.session);
  for (const auto& table : tables) {
    table->AddReadLock();
  }
  const bool wants_write = tables.size() != statement.locks.size();
  context.session.read_locks = std::move(tables);
  if (wants_write) {
    context.warnings.emplace_back("Write lock is not implemented.");
  }
  return SendOk(context);
}

}  // namespace stoa::sql
