#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/json_path_update.h"
#include "sql/statements/partial_replace.h"
#include "sql/statements/pending.h"
#include "sql/statements/row_copy.h"
#include "sql/statements/statements.h"
#include "sql/statements/write_options.h"

namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::ColumnType;
using storage::ColumnValues;
using storage::UpdateRows;
using storage::WriteSet;

// What the assignments of a statement mean for one definition of the table.
struct UpdatePlan {
  std::vector<ColumnValues> values;   // one value each
  std::vector<JsonPathUpdate> paths;  // parts of JSON columns
};

Result<const ColumnDefinition*> FindTarget(const Assignment& assignment,
                                           const storage::TableDefinition& definition,
                                           const WriteOptions& options) {
  const ColumnDefinition* column = definition.Find(assignment.column);
  if (column == nullptr) {
    if (options.ignore_nonexistent_columns) {
      return column;
    }
    return TableError(definition.name, fmt::format("attribute '{}' not found", assignment.column));
  }
  if (column->type == ColumnType::kId) {
    return TableError(definition.name, "attribute 'id' can not be updated");
  }
  if (column->is_field()) {
    return TableError(definition.name,
                      fmt::format("attribute '{}' can not be updated (full-text field)", column->name));
  }
  if (!assignment.path.empty() && column->type != ColumnType::kJson) {
    return TableError(definition.name,
                      fmt::format("attribute '{}' is no json, its parts can not be updated", column->name));
  }
  return column;
}

Status AddValue(const Assignment& assignment, const ColumnDefinition& column, const std::string& table,
                const ValueConverter::Context& context, UpdatePlan& plan) {
  Number number;
  if (column.type == ColumnType::kString && ReadNumber(*assignment.value, number)) {
    return TableError(
        table, fmt::format("attribute '{}' can not be updated: {} is a number, a text is needed", column.name,
                           LiteralText(*assignment.value)));
  }
  ColumnValues values;
  values.column = column.id;
  values.type = column.type;
  const Status status = ValueConverter(column, context).Append(*assignment.value, values);
  if (!status.ok()) {
    return status.number() != 0 ? status
                                : TableError(table, fmt::format("attribute '{}' can not be updated: {}",
                                                                column.name, status.text()));
  }
  plan.values.push_back(std::move(values));
  return Status::Ok();
}

Result<UpdatePlan> MakePlan(const UpdateStatement& statement, const storage::TableDefinition& definition,
                            const WriteOptions& options, const ValueConverter::Context& context) {
  UpdatePlan plan;
  for (const Assignment& assignment : statement.assignments) {
    ASSIGN_OR_RETURN(const ColumnDefinition* const column, FindTarget(assignment, definition, options));
    if (column == nullptr) {
      continue;
    }
    const auto same = [column](const auto& other) { return other.column == column->id; };
    if (std::any_of(plan.values.begin(), plan.values.end(), same) ||
        (assignment.path.empty() && std::any_of(plan.paths.begin(), plan.paths.end(), same))) {
      return ColumnTwice(column->name);
    }
    if (assignment.path.empty()) {
      RETURN_IF_ERROR(AddValue(assignment, *column, definition.name, context, plan));
      continue;
    }
    if (assignment.value->kind == ParsedKind::kNull) {
      return UnexpectedNull(context.statement, assignment.value->range);
    }
    plan.paths.push_back({column->id, &assignment.path, assignment.value.get()});
  }
  return plan;
}

Result<std::vector<DocId>> MatchingDocuments(const UpdateStatement& statement,
                                             const storage::TableSnapshot& snapshot,
                                             StatementContext& context) {
  if (statement.where != nullptr) {
    return SelectDocuments(snapshot, *statement.where, context);
  }
  return LiveDocuments(snapshot);
}

// Builds the change of one statement; `affected` gets the number of matching rows.
class UpdateBuilder {
 public:
  UpdateBuilder(const UpdateStatement& statement, std::shared_ptr<storage::Table> table,
                const WriteOptions& options, StatementContext& context)
      : statement_(statement), table_(std::move(table)), options_(options), context_(context) {}

  Result<WriteSet> Build(const storage::TableSnapshot& snapshot) {
    const storage::TableDefinition& definition = *snapshot.definition;
    ASSIGN_OR_RETURN(const UpdatePlan plan,
                     MakePlan(statement_, definition, options_, MakeValueContext(context_, definition.name)));
    UpdateRows update;
    ASSIGN_OR_RETURN(update.ids, MatchingDocuments(statement_, snapshot, context_));
    affected_ = update.ids.size();
    WriteSet changes;
    if (update.ids.empty()) {
      return changes;
    }
    for (const ColumnValues& value : plan.values) {
      update.columns.push_back(RepeatedValue(value, update.ids.size()));
    }
    if (!plan.paths.empty()) {
      RETURN_IF_ERROR(AddPaths(plan.paths, snapshot, update));
    }
    if (!update.columns.empty()) {
      changes.push_back({table_, std::move(update)});
    }
    return changes;
  }

  uint64_t affected() const { return affected_; }

 private:
  Status AddPaths(const std::vector<JsonPathUpdate>& paths, const storage::TableSnapshot& snapshot,
                  UpdateRows& update) {
    JsonPathUpdater updater(snapshot, *table_, context_.session.pending);
    ASSIGN_OR_RETURN(std::vector<ColumnValues> columns, updater.Apply(paths, update.ids));
    const size_t refused = options_.strict ? updater.refused_somewhere() : updater.refused_everywhere();
    const auto text = [](size_t count) {
      return fmt::format("{} attribute(s) can not be updated (not found or incompatible types)", count);
    };
    if (refused > 0) {
      return TableError(snapshot.definition->name, text(refused));
    }
    if (updater.refused_somewhere() > 0) {
      context_.warnings.push_back(fmt::format("table {}: {} in some rows", snapshot.definition->name,
                                              text(updater.refused_somewhere())));
    }
    std::move(columns.begin(), columns.end(), std::back_inserter(update.columns));
    return Status::Ok();
  }

  const UpdateStatement& statement_;
  std::shared_ptr<storage::Table> table_;
  WriteOptions options_;
  StatementContext& context_;
  uint64_t affected_ = 0;
};

}  // namespace

Status ExecuteUpdate(const UpdateStatement& statement, StatementContext& context) {
  const std::shared_ptr<storage::Table> table = context.FindTable(statement.table);
  if (table == nullptr) {
    return context.MissingTable(statement.table,
                                InvalidError("unknown table '{}' in update request", statement.table.name));
  }
  RETURN_IF_ERROR(CheckWritable(*table, "UPDATE"));
  ASSIGN_OR_RETURN(const WriteOptions options, ReadWriteOptions(statement.options));
  UpdateBuilder builder(statement, table, options, context);
  if (WritesArePending(context.session)) {
    ASSIGN_OR_RETURN(WriteSet changes, builder.Build(*table->Snapshot()));
    for (storage::TableChange& change : changes) {
      AddPending(std::move(change), context.session);
    }
  } else {
    const auto build = [&](const auto& heads) { return builder.Build(*heads[0]); };
    RETURN_IF_ERROR(context.catalog().Commit({table}, build).status());
  }
  return SendOk(context, builder.affected());
}

}  // namespace stoa::sql
