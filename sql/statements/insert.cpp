#include <algorithm>
#include <array>
#include <charconv>

#include "sql/sql_error.h"
#include "sql/statements/insert_select.h"
#include "sql/statements/partial_replace.h"
#include "sql/statements/pending.h"
#include "sql/statements/row_converter.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

using storage::InsertRows;
using storage::RowBatch;
using storage::WriteSet;
using Rows = std::vector<std::vector<ParsedExprPtr>>;
using Snapshots = std::vector<std::shared_ptr<const storage::TableSnapshot>>;

Result<RowBatch> ConvertRows(const InsertStatement& statement, const Rows& rows,
                             const storage::TableDefinition& definition,
                             const ValueConverter::Context& context) {
  ASSIGN_OR_RETURN(RowConverter converter, RowConverter::Make(statement.columns, definition, context));
  return converter.Convert(rows);
}

void AssignIds(std::vector<DocId>& ids, storage::Catalog& catalog) {
  const auto missing = static_cast<size_t>(std::count(ids.begin(), ids.end(), DocId(0)));
  if (missing == 0) {
    return;
  }
  const std::vector<DocId> fresh = catalog.NewDocIds(missing);
  auto next = fresh.begin();
  for (DocId& id : ids) {
    if (id == DocId(0)) {
      id = *next++;
    }
  }
}

void RememberIds(const std::vector<DocId>& ids, Session::State& session) {
  std::string list;
  list.reserve(ids.size() * 20);
  std::array<char, 24> buffer;
  for (const DocId id : ids) {
    if (!list.empty()) {
      list.push_back(',');
    }
    list.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), id.value).ptr);
  }
  session.last_insert_ids = std::move(list);
  session.first_insert_id = ids.empty() ? 0 : ids.front().value;
}

Status CheckOptions(const InsertStatement& statement) {
  for (const ParsedOption& option : statement.options) {
    if (option.name != "token_filter_options") {
      return InvalidError("unknown option '{}'", option.name);
    }
  }
  return Status::Ok();
}

Status Write(std::shared_ptr<storage::Table> table, const InsertStatement& statement, const Rows& given,
             StatementContext& context, std::vector<DocId>& ids) {
  const ValueConverter::Context values = MakeValueContext(context, statement.table.name);
  const std::shared_ptr<const storage::TableDefinition> definition = table->definition();
  ASSIGN_OR_RETURN(RowBatch rows, ConvertRows(statement, given, *definition, values));
  AssignIds(rows.ids, context.catalog());
  ids = rows.ids;
  if (WritesArePending(context.session)) {
    if (!statement.replace) {
      RETURN_IF_ERROR(CheckDuplicates(context.session.pending, *table, *table->Snapshot(), ids));
    }
    AddPending({table, InsertRows{std::move(rows), statement.replace}}, context.session);
    return Status::Ok();
  }
  const auto build = [&](const Snapshots& heads) -> Result<WriteSet> {
    const storage::TableDefinition& newest = *heads[0]->definition;
    if (&newest != definition.get() && newest != *definition) {
      ASSIGN_OR_RETURN(rows, ConvertRows(statement, given, newest, values));
      rows.ids = ids;
    }
    WriteSet changes;
    changes.push_back({table, InsertRows{std::move(rows), statement.replace}});
    return changes;
  };
  return context.catalog().Commit({table}, build).status();
}

}  // namespace

Status ExecuteInsert(const InsertStatement& statement, StatementContext& context) {
  const std::shared_ptr<storage::Table> table = context.FindTable(statement.table);
  if (table == nullptr) {
    return context.MissingTable(statement.table, NoSuchTable(statement.table.name));
  }
  RETURN_IF_ERROR(CheckWritable(*table, statement.replace ? "REPLACE" : "INSERT"));
  RETURN_IF_ERROR(CheckOptions(statement));
  if (statement.is_partial) {
    return ExecutePartialReplace(statement, table, context);
  }
  std::vector<DocId> ids;
  Rows selected;
  if (statement.select != nullptr) {
    ASSIGN_OR_RETURN(selected, SelectRowsToInsert(*statement.select, context));
  }
  RETURN_IF_ERROR(
      Write(table, statement, statement.select != nullptr ? selected : statement.rows, context, ids));
  RememberIds(ids, context.session);
  return SendOk(context, ids.size(), context.session.first_insert_id);
}

}  // namespace stoa::sql
