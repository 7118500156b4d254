#include "sql/statements/partial_replace.h"

#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/pending.h"
#include "sql/statements/row_converter.h"
#include "sql/statements/row_copy.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

using storage::ColumnValues;
using storage::InsertRows;
using storage::RowBatch;
using storage::WriteSet;

Result<WriteSet> BuildReplacement(const InsertStatement& statement,
                                  const std::shared_ptr<storage::Table>& table,
                                  const storage::TableSnapshot& snapshot, StatementContext& context) {
  const storage::TableDefinition& definition = *snapshot.definition;
  RETURN_IF_ERROR(CheckCopyable(definition));
  const ValueConverter::Context values = MakeValueContext(context, definition.name);
  ASSIGN_OR_RETURN(RowConverter converter, RowConverter::Make(statement.columns, definition, values));
  if (std::any_of(converter.columns().begin(), converter.columns().end(),
                  [](const auto* column) { return column->type == storage::ColumnType::kId; })) {
    return TableError(definition.name, "attribute 'id' can not be updated");
  }
  ASSIGN_OR_RETURN(const RowBatch given, converter.Convert(statement.rows));
  ASSIGN_OR_RETURN(const std::vector<DocId> ids, SelectDocuments(snapshot, *statement.where, context));
  ASSIGN_OR_RETURN(const std::vector<storage::RowLocation> old_rows, RowsOf(snapshot, ids));
  ASSIGN_OR_RETURN(RowBatch rows, CopyRows(snapshot, old_rows));
  for (const ColumnValues& value : given.columns) {
    const auto place = std::find_if(rows.columns.begin(), rows.columns.end(),
                                    [&](const auto& column) { return column.column == value.column; });
    *place = RepeatedValue(value, rows.size());
  }
  WriteSet changes;
  changes.push_back({table, InsertRows{std::move(rows), true}});
  return changes;
}

}  // namespace

ValueConverter::Context MakeValueContext(StatementContext& context, const std::string& table_name) {
  ValueConverter::Context values{context.text, {}};
  const Result<TimeZone> zone = TimeZone::Find(context.MakeBindContext(table_name).timezone);
  if (zone.ok()) {
    values.zone = *zone;
  } else {
    context.warnings.push_back(zone.status().text() + "; dates are read as UTC");
  }
  return values;
}

Status ExecutePartialReplace(const InsertStatement& statement, const std::shared_ptr<storage::Table>& table,
                             StatementContext& context) {
  if (statement.where == nullptr || statement.rows.size() != 1) {
    return SyntaxError("REPLACE … SET needs a WHERE clause");
  }
  uint64_t affected = 0;
  const auto build = [&](const storage::TableSnapshot& snapshot) -> Result<WriteSet> {
    ASSIGN_OR_RETURN(WriteSet changes, BuildReplacement(statement, table, snapshot, context));
    affected = std::get<InsertRows>(changes[0].change).rows.size();
    return changes;
  };
  if (WritesArePending(context.session)) {
    ASSIGN_OR_RETURN(WriteSet changes, build(*table->Snapshot()));
    AddPending(std::move(changes[0]), context.session);
  } else {
    RETURN_IF_ERROR(
        context.catalog().Commit({table}, [&](const auto& heads) { return build(*heads[0]); }).status());
  }
  return SendOk(context, affected);
}

}  // namespace stoa::sql
