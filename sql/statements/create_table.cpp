#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/literal.h"
#include "sql/statements/row_copy.h"
#include "sql/statements/statements.h"
#include "sql/statements/table_ddl.h"
#include "sql/statements/table_settings.h"

namespace stoa::sql {
namespace {

using storage::TableDefinition;
using storage::TableKind;
using storage::WriteSet;

Status CreateFailed(std::string_view table, std::string_view why) {
  return SyntaxError(fmt::format("table '{}': CREATE TABLE failed: {}", table, why));
}

// Puts the statement in front of an error that does not carry a number of its own.
Status Explain(const Status& status, std::string_view context) {
  return status.number() != 0 ? status : status.WithContext(context);
}

Status SetKind(std::string_view type, TableDefinition& definition) {
  if (type == "rt") {
    definition.kind = TableKind::kRealTime;
  } else if (type == "pq" || type == "percolate") {
    definition.kind = TableKind::kPercolate;
  } else if (type == "distributed") {
    definition.kind = TableKind::kDistributed;
  } else if (type == "shard") {
    return NotSupportedYet("a sharded table");
  } else {
    return InvalidError("setting not allowed: type='{}'", type);
  }
  return Status::Ok();
}

Status AddLocal(const std::string& name, StatementContext& context, TableDefinition& definition) {
  const std::shared_ptr<storage::Table> table = context.catalog().Find(name);
  if (table == nullptr || table->definition()->kind == TableKind::kDistributed) {
    return InvalidError("unknown local table '{}'", name);
  }
  definition.local_tables.push_back(name);
  return Status::Ok();
}

bool ChoosesAgents(std::string_view name) { return name.starts_with("agent") || name.starts_with("ha_"); }

bool ChoosesShards(std::string_view name) { return name == "shards" || name == "rf"; }

Status ApplySettings(const CreateTableStatement& statement, StatementContext& context,
                     TableDefinition& definition) {
  std::vector<ParsedOption> rest;
  for (const ParsedOption& option : statement.settings) {
    if (option.name == "type") {
      ASSIGN_OR_RETURN(const std::string type, OptionText(option));
      RETURN_IF_ERROR(SetKind(type, definition));
    }
  }
  const bool distributed = definition.kind == TableKind::kDistributed;
  for (const ParsedOption& option : statement.settings) {
    ASSIGN_OR_RETURN(const std::string value, OptionText(option));
    if (option.name == "type") {
      continue;
    }
    if (ChoosesAgents(option.name) || ChoosesShards(option.name)) {
      return NotSupportedYet(fmt::format("the table setting {}", option.name));
    }
    if (option.name == "local" && distributed) {
      RETURN_IF_ERROR(AddLocal(value, context, definition));
    } else if (distributed) {
      return InvalidError("setting not allowed: {}='{}'", option.name, value);
    } else {
      ParsedOption& kept = rest.emplace_back();
      kept.name = option.name;
      kept.value = std::make_unique<ParsedExpr>();
      kept.value->kind = ParsedKind::kString;
      kept.value->text = value;
    }
  }
  return ApplyTableSettings(rest, definition, context.warnings);
}

Status AddColumns(const CreateTableStatement& statement, StatementContext& context,
                  TableDefinition& definition) {
  definition.columns.push_back(MakeIdColumn());
  if (definition.kind == TableKind::kDistributed && !statement.columns.empty()) {
    return InvalidError("a distributed table has no columns of its own");
  }
  bool id_given = false;
  for (const ParsedColumn& parsed : statement.columns) {
    if (parsed.name == "id" && !id_given) {
      if (parsed.type == "uuid") {
        return NotSupportedYet("the type uuid");
      }
      if (parsed.type != "bigint") {
        return InvalidError("the id is a bigint, not '{}'", parsed.type);
      }
      id_given = true;
      continue;
    }
    ASSIGN_OR_RETURN(storage::ColumnDefinition column, MakeColumn(parsed, definition, context.warnings));
    RETURN_IF_ERROR(AddColumn(std::move(column), definition));
  }
  return Status::Ok();
}

// The server's engine for tables that do not name one.
void SetDefaultEngine(StatementContext& context, TableDefinition& definition) {
  const Result<std::string> engine = context.server().Setting("engine");
  if (definition.kind != TableKind::kDistributed && !definition.settings.contains("engine") && engine.ok() &&
      *engine == "columnar") {
    definition.settings["engine"] = *engine;
    definition.setting_order.insert(definition.setting_order.begin(), "engine");
  }
}

Result<TableDefinition> Define(const CreateTableStatement& statement, StatementContext& context) {
  const std::string& name = statement.table.name;
  TableDefinition definition;
  definition.name = name;
  if (const Status named = CheckTableName(name); !named.ok()) {
    return CreateFailed(name, named.text());
  }
  if (const Status settings = ApplySettings(statement, context, definition); !settings.ok()) {
    return Explain(settings, fmt::format("error adding table '{}'", name));
  }
  SetDefaultEngine(context, definition);
  if (const Status columns = AddColumns(statement, context, definition); !columns.ok()) {
    return Explain(columns, fmt::format("table '{}': CREATE TABLE failed", name));
  }
  return definition;
}

// The definition of another table under a new name; ids are given anew.
TableDefinition Renamed(TableDefinition definition, const std::string& name) {
  definition.id = {};
  definition.name = name;
  definition.next_column_id = 1;
  for (storage::ColumnDefinition& column : definition.columns) {
    column.id = {};
  }
  return definition;
}

Status CopyData(const storage::TableSnapshot& from, const std::shared_ptr<storage::Table>& to,
                StatementContext& context) {
  const std::vector<storage::RowLocation> locations = LiveRows(from);
  ASSIGN_OR_RETURN(storage::RowBatch rows, CopyRows(from, locations));
  if (rows.ids.empty()) {
    return Status::Ok();
  }
  const std::shared_ptr<const TableDefinition> target = to->definition();
  for (storage::ColumnValues& values : rows.columns) {
    const int index = from.definition->IndexOf(values.column);
    values.column = target->Find(from.definition->columns[static_cast<size_t>(index)].name)->id;
  }
  const auto build = [&](const auto&) -> Result<WriteSet> {
    WriteSet changes;
    changes.push_back({to, storage::InsertRows{std::move(rows), false}});
    return changes;
  };
  return context.catalog().Commit({to}, build).status();
}

Status Create(TableDefinition definition, StatementContext& context,
              std::shared_ptr<storage::Table>& created) {
  const std::string name = definition.name;
  Result<std::shared_ptr<storage::Table>> table = context.catalog().Create(std::move(definition));
  if (table.ok()) {
    created = std::move(table).value();
    return Status::Ok();
  }
  if (table.status().code() == StatusCode::kExists) {
    return CreateFailed(name, fmt::format("table '{}' already exists", name));
  }
  return table.status();
}

Status CreateLike(const CreateTableStatement& statement, StatementContext& context) {
  const std::string& name = statement.table.name;
  const std::shared_ptr<storage::Table> source = context.catalog().Find(statement.like);
  if (source == nullptr) {
    return CreateFailed(name, fmt::format("unknown local table '{}'", statement.like));
  }
  if (const Status named = CheckTableName(name); !named.ok()) {
    return CreateFailed(name, named.text());
  }
  const std::shared_ptr<const storage::TableSnapshot> snapshot = source->Snapshot();
  const bool with_data = statement.with_data && snapshot->definition->kind != TableKind::kDistributed;
  if (with_data) {
    RETURN_IF_ERROR(CheckCopyable(*snapshot->definition));
  }
  std::shared_ptr<storage::Table> created;
  RETURN_IF_ERROR(Create(Renamed(*snapshot->definition, name), context, created));
  if (!with_data) {
    return Status::Ok();
  }
  const Status copied = CopyData(*snapshot, created, context);
  if (!copied.ok()) {
    // Half a table is none; why it could not be filled matters more than a failure here.
    (void)context.catalog().Drop(name);
  }
  return copied;
}

}  // namespace

Status ExecuteCreateTable(const CreateTableStatement& statement, StatementContext& context) {
  const std::string& database = statement.table.database;
  if (!database.empty() && database != "manticore") {
    return NoSuchDatabase(database);
  }
  RETURN_IF_ERROR(CommitTransaction(context));
  const std::string& name = statement.table.name;
  if (context.catalog().Find(name) != nullptr) {
    return statement.if_not_exists ? SendOk(context)
                                   : CreateFailed(name, fmt::format("table '{}' already exists", name));
  }
  if (!statement.like.empty()) {
    RETURN_IF_ERROR(CreateLike(statement, context));
    return SendOk(context);
  }
  ASSIGN_OR_RETURN(TableDefinition definition, Define(statement, context));
  std::shared_ptr<storage::Table> created;
  RETURN_IF_ERROR(Create(std::move(definition), context, created));
  return SendOk(context);
}

}  // namespace stoa::sql
