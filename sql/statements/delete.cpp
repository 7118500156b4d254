#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/pending.h"
#include "sql/statements/statements.h"
#include "sql/statements/write_options.h"

namespace stoa::sql {
namespace {

using storage::DeleteRows;
using storage::WriteSet;

// Rows of the snapshot that the open transaction deleted already are passed over.
Result<uint64_t> DeletePending(const DeleteStatement& statement, const std::shared_ptr<storage::Table>& table,
                               StatementContext& context) {
  ASSIGN_OR_RETURN(std::vector<DocId> ids, SelectDocuments(*table->Snapshot(), *statement.where, context));
  const PendingRows rows(context.session.pending, *table, ids);
  std::erase_if(ids, [&](DocId id) { return rows.StateOf(id) == PendingRows::State::kAbsent; });
  const uint64_t affected = ids.size();
  AddPending({table, DeleteRows{std::move(ids)}}, context.session);
  return affected;
}

Result<uint64_t> DeleteNow(const DeleteStatement& statement, const std::shared_ptr<storage::Table>& table,
                           StatementContext& context) {
  const auto build =
      [&](const std::vector<std::shared_ptr<const storage::TableSnapshot>>& heads) -> Result<WriteSet> {
    ASSIGN_OR_RETURN(std::vector<DocId> ids, SelectDocuments(*heads[0], *statement.where, context));
    WriteSet changes;
    if (!ids.empty()) {
      changes.push_back({table, DeleteRows{std::move(ids)}});
    }
    return changes;
  };
  ASSIGN_OR_RETURN(const storage::CommitResult result, context.catalog().Commit({table}, build));
  return result.deleted;
}

}  // namespace

Status ExecuteDelete(const DeleteStatement& statement, StatementContext& context) {
  const std::shared_ptr<storage::Table> table = context.FindTable(statement.table);
  if (table == nullptr) {
    return context.MissingTable(statement.table,
                                InvalidError("unknown table '{}' in delete request", statement.table.name));
  }
  RETURN_IF_ERROR(CheckWritable(*table, "DELETE"));
  ASSIGN_OR_RETURN(const WriteOptions options, ReadWriteOptions(statement.options));
  if (!options.store.empty()) {
    return NotSupportedYet("OPTION store");
  }
  if (statement.where == nullptr) {
    return SyntaxError("P01: syntax error, DELETE needs a WHERE clause");
  }
  ASSIGN_OR_RETURN(const uint64_t affected, WritesArePending(context.session)
                                                ? DeletePending(statement, table, context)
                                                : DeleteNow(statement, table, context));
  return SendOk(context, affected);
}

}  // namespace stoa::sql
