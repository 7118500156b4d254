#include <algorithm>
#include <variant>

#include "sql/sql_error.h"
#include "sql/statements/pending.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

using storage::ColumnValues;
using storage::TableChange;
using storage::WriteSet;

const std::vector<ColumnValues>* ColumnsOf(const storage::Change& change) {
  if (const auto* insert = std::get_if<storage::InsertRows>(&change)) {
    return &insert->rows.columns;
  }
  const auto* update = std::get_if<storage::UpdateRows>(&change);
  return update == nullptr ? nullptr : &update->columns;
}

// The columns of a change were looked up when its statement ran; ALTER TABLE may have come since.
Status CheckColumns(const TableChange& change, const storage::TableDefinition& definition) {
  const std::vector<ColumnValues>* columns = ColumnsOf(change.change);
  if (columns == nullptr) {
    return Status::Ok();
  }
  for (const ColumnValues& values : *columns) {
    const int index = definition.IndexOf(values.column);
    if (index < 0 || definition.columns[static_cast<size_t>(index)].type != values.type) {
      return TableError(definition.name, "altered while the transaction was open, rolled back");
    }
  }
  return Status::Ok();
}

std::vector<std::shared_ptr<storage::Table>> TablesOf(const WriteSet& changes) {
  std::vector<std::shared_ptr<storage::Table>> tables;
  for (const TableChange& change : changes) {
    if (std::find(tables.begin(), tables.end(), change.table) == tables.end()) {
      tables.push_back(change.table);
    }
  }
  return tables;
}

void Forget(Session::State& session) {
  session.pending.clear();
  session.in_transaction = false;
}

}  // namespace

Status CommitTransaction(StatementContext& context) {
  WriteSet changes = std::move(context.session.pending);
  Forget(context.session);
  if (changes.empty()) {
    return Status::Ok();
  }
  const std::vector<std::shared_ptr<storage::Table>> tables = TablesOf(changes);
  for (const auto& table : tables) {
    RETURN_IF_ERROR(CheckWritable(*table, "commit"));
  }
  const auto build =
      [&](const std::vector<std::shared_ptr<const storage::TableSnapshot>>& heads) -> Result<WriteSet> {
    for (const TableChange& change : changes) {
      const auto place =
          static_cast<size_t>(std::find(tables.begin(), tables.end(), change.table) - tables.begin());
      RETURN_IF_ERROR(CheckColumns(change, *heads[place]->definition));
    }
    return std::move(changes);
  };
  return context.catalog().Commit(tables, build).status();
}

Status ExecuteTransaction(const TransactionStatement& statement, StatementContext& context) {
  using Action = TransactionStatement::Action;
  switch (statement.action) {
    case Action::kBegin:
      RETURN_IF_ERROR(CommitTransaction(context));
      context.session.in_transaction = true;
      break;
    case Action::kCommit:
      RETURN_IF_ERROR(CommitTransaction(context));
      break;
    case Action::kRollback:
      Forget(context.session);
      break;
    case Action::kRollbackToSavepoint:
      if (!context.session.pending.empty()) {
        return NotSupportedYet("ROLLBACK TO SAVEPOINT after changes");
      }
      break;
    case Action::kSavepoint:
    case Action::kReleaseSavepoint:
      break;
  }
  return SendOk(context);
}

}  // namespace stoa::sql
