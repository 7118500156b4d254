#include <algorithm>

#include "sql/exec/capture_sink.h"
#include "sql/exec/select_plan.h"
#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

using storage::Table;
using storage::TableKind;
using storage::TableSnapshot;

bool IsVirtual(const TableReference& table) {
  return table.database == "information_schema" || table.database == "performance_schema" ||
         table.database == "mysql" || table.database == "sys" || table.suffix.starts_with('@');
}

// FROM DUAL is no table, as MySQL has it; a real one of that name comes first.
bool IsDual(const SelectStatement& statement, StatementContext& context) {
  const TableReference& table = statement.from[0];
  return statement.from.size() == 1 && statement.joins.empty() && table.subquery == nullptr &&
         table.name == "dual" && table.database.empty() && context.FindTable(table) == nullptr;
}

// The snapshots that a table reference stands for.
Status AddSnapshots(const TableReference& reference, StatementContext& context,
                    std::vector<std::shared_ptr<const TableSnapshot>>& snapshots) {
  const std::shared_ptr<Table> table = context.FindTable(reference);
  if (table == nullptr) {
    return context.MissingTable(reference, UnknownLocalTables(reference.name));
  }
  if (!reference.suffix.empty()) {
    return NotSupportedYet("reading one chunk of a table");
  }
  std::shared_ptr<const TableSnapshot> snapshot = table->Snapshot();
  if (snapshot->definition->kind == TableKind::kPercolate) {
    return NotSupportedYet("SELECT from a percolate table");
  }
  if (snapshot->definition->kind != TableKind::kDistributed) {
    snapshots.push_back(std::move(snapshot));
    return Status::Ok();
  }
  for (const std::string& name : snapshot->definition->local_tables) {
    const std::shared_ptr<Table> local = context.catalog().Find(name);
    if (local == nullptr) {
      return UnknownLocalTables(name);
    }
    snapshots.push_back(local->Snapshot());
  }
  return snapshots.empty() ? UnknownLocalTables(reference.name) : Status::Ok();
}

// OPTION ignore_nonexistent_indexes=1
bool SkipsUnknownTables(const SelectStatement& statement) {
  return std::any_of(statement.options.begin(), statement.options.end(), [](const ParsedOption& option) {
    return option.name == "ignore_nonexistent_indexes" && option.value->unsigned_integer != 0;
  });
}

Result<OpenedSource> OpenSubquery(const TableReference& reference, StatementContext& context) {
  if (!reference.subquery->facets.empty()) {
    return NotSupportedYet("FACET in a sub-select");
  }
  constexpr uint64_t kMostBytes = uint64_t{512} << 20;
  CaptureSink rows = CaptureSink::ForSubselect(kMostBytes);
  StatementContext inner{context.session, context.cancel, rows, context.text, false, {}};
  RETURN_IF_ERROR(ExecuteSelect(*reference.subquery, inner));
  OpenedSource source;
  source.rows = MakeMemorySource(rows.Take());
  source.names = {reference.alias.empty() ? "subselect" : reference.alias};
  return source;
}

}  // namespace

Result<OpenedSource> OpenSource(const SelectStatement& statement, StatementContext& context) {
  OpenedSource source;
  if (statement.from.empty() || IsDual(statement, context)) {
    VirtualTable one_row;
    one_row.rows.emplace_back();
    source.rows = MakeMemorySource(std::move(one_row));
    return source;
  }
  if (!statement.joins.empty()) {
    return NotSupportedYet("JOIN");
  }
  const TableReference& first = statement.from[0];
  if (first.subquery != nullptr) {
    return OpenSubquery(first, context);
  }
  source.names.push_back(first.name);
  if (!first.alias.empty()) {
    source.names.push_back(first.alias);
  }
  if (IsVirtual(first)) {
    ASSIGN_OR_RETURN(VirtualTable table, ReadVirtualTable(first.database, first, context));
    source.rows = MakeMemorySource(std::move(table));
    source.is_virtual = true;
    return source;
  }
  const bool skip_unknown = SkipsUnknownTables(statement);
  std::vector<std::shared_ptr<const TableSnapshot>> snapshots;
  for (const TableReference& reference : statement.from) {
    const bool is_last_hope = &reference == &statement.from.back() && snapshots.empty();
    if (skip_unknown && !is_last_hope && context.FindTable(reference) == nullptr) {
      continue;
    }
    RETURN_IF_ERROR(AddSnapshots(reference, context, snapshots));
    source.names.push_back(reference.name);
  }
  source.rows = MakeTableSource(std::move(snapshots));
  return source;
}

}  // namespace stoa::sql
