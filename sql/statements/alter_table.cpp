#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/literal.h"
#include "sql/statements/statements.h"
#include "sql/statements/table_ddl.h"
#include "sql/statements/table_settings.h"

namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::ColumnType;
using storage::TableDefinition;
using Action = AlterTableStatement::Action;

Result<ColumnDefinition*> FindColumn(std::string_view name, TableDefinition& definition) {
  const auto found = std::find_if(definition.columns.begin(), definition.columns.end(),
                                  [name](const auto& column) { return column.name == name; });
  if (found == definition.columns.end()) {
    return InvalidError("attribute '{}' does not exist", name);
  }
  if (found->type == ColumnType::kId) {
    return InvalidError("attribute 'id' can not be altered");
  }
  return &*found;
}

Status AddNewColumn(const AlterTableStatement& statement, TableDefinition& definition,
                    std::vector<std::string>& warnings) {
  const bool columnar_json =
      statement.column.type == "json" &&
      std::any_of(statement.column.options.begin(), statement.column.options.end(),
                  [](const ParsedOption& option) {
                    const Result<std::string> value = OptionText(option);
                    return option.name == "engine" && value.ok() && *value == "columnar";
                  });
  if (columnar_json) {
    return InvalidError("columnar storage does not support json type ('{}' attribute specified as columnar)",
                        statement.column.name);
  }
  // That a json stays row-wise in a columnar table is said by CREATE TABLE only.
  std::vector<std::string> said;
  ASSIGN_OR_RETURN(ColumnDefinition column, MakeColumn(statement.column, definition, said));
  if (column.type != ColumnType::kJson) {
    warnings.insert(warnings.end(), said.begin(), said.end());
  }
  return AddColumn(std::move(column), definition);
}

Status DropColumn(const AlterTableStatement& statement, TableDefinition& definition) {
  ASSIGN_OR_RETURN(ColumnDefinition* const column, FindColumn(statement.column.name, definition));
  definition.columns.erase(definition.columns.begin() + (column - definition.columns.data()));
  return Status::Ok();
}

Status ModifyColumn(const AlterTableStatement& statement, TableDefinition& definition) {
  ASSIGN_OR_RETURN(ColumnDefinition* const column, FindColumn(statement.column.name, definition));
  if (statement.column.type.empty()) {
    return NotSupportedYet("ALTER TABLE … MODIFY COLUMN of options");
  }
  if (column->type != ColumnType::kInt || statement.column.type != "bigint") {
    return InvalidError("attribute '{}' can not become a {}: only int can become bigint", column->name,
                        statement.column.type);
  }
  column->type = ColumnType::kBigint;
  column->bits = ColumnDefinition().bits;
  return Status::Ok();
}

Status RenameColumn(const AlterTableStatement& statement, TableDefinition& definition) {
  ASSIGN_OR_RETURN(ColumnDefinition* const column, FindColumn(statement.column.name, definition));
  RETURN_IF_ERROR(CheckColumnName(statement.new_name));
  if (definition.Find(statement.new_name) != nullptr && column->name != statement.new_name) {
    return InvalidError("duplicate attribute name '{}'", statement.new_name);
  }
  column->name = statement.new_name;
  return Status::Ok();
}

Status ChangeSettings(const AlterTableStatement& statement, TableDefinition& definition,
                      std::vector<std::string>& warnings) {
  for (const ParsedOption& option : statement.settings) {
    if (option.name == "engine" || option.name == "type" || option.name == "local" ||
        option.name == "shards") {
      ASSIGN_OR_RETURN(const std::string value, OptionText(option));
      return InvalidError("setting not allowed: {}='{}'", option.name, value);
    }
  }
  return ApplyTableSettings(statement.settings, definition, warnings);
}

Status Change(const AlterTableStatement& statement, TableDefinition& definition,
              std::vector<std::string>& warnings) {
  Status status;
  switch (statement.action) {
    case Action::kAddColumn:
      status = AddNewColumn(statement, definition, warnings);
      break;
    case Action::kDropColumn:
      status = DropColumn(statement, definition);
      break;
    case Action::kModifyColumn:
      status = ModifyColumn(statement, definition);
      break;
    case Action::kRenameColumn:
      status = RenameColumn(statement, definition);
      break;
    case Action::kSettings:
      status = ChangeSettings(statement, definition, warnings);
      break;
    default:
      status = InternalError("not a change of the definition");
      break;
  }
  if (!status.ok() && status.number() == 0) {
    return TableError(definition.name, fmt::format("ALTER failed: {}", status.text()));
  }
  return status;
}

Status RenameTable(const AlterTableStatement& statement, StatementContext& context) {
  const std::string& name = statement.table.name;
  Status renamed = CheckTableName(statement.new_name);
  if (renamed.ok()) {
    renamed = context.catalog().Rename(name, statement.new_name);
  }
  if (renamed.code() == StatusCode::kExists) {
    return TableError(name, fmt::format("ALTER failed: table '{}' already exists", statement.new_name));
  }
  return renamed.code() == StatusCode::kInvalid ? TableError(name, "ALTER failed: " + renamed.text())
                                                : renamed;
}

Status RebuildKnn(const std::string& name, StatementContext& context) {
  const Status rebuilt = context.catalog().RebuildVectorIndexes(name, &context.cancel);
  return rebuilt.code() == StatusCode::kInvalid && rebuilt.number() == 0
             ? TableError(name, "ALTER failed: " + rebuilt.text())
             : rebuilt;
}

}  // namespace

Status ExecuteAlterTable(const AlterTableStatement& statement, StatementContext& context) {
  RETURN_IF_ERROR(CommitTransaction(context));
  const std::string& name = statement.table.name;
  const std::shared_ptr<storage::Table> table = context.FindTable(statement.table);
  if (table == nullptr || (table->definition()->kind != storage::TableKind::kRealTime &&
                           statement.action != Action::kRenameTable)) {
    return context.MissingTable(statement.table,
                                SyntaxError(fmt::format("table '{}' is not found, or not real-time", name)));
  }
  if (table->read_locked()) {
    return TableLocked(name);
  }
  switch (statement.action) {
    case Action::kRebuildSecondary:
      return NotSupportedYet("ALTER TABLE … REBUILD SECONDARY");
    case Action::kRebuildKnn:
      RETURN_IF_ERROR(RebuildKnn(name, context));
      break;
    case Action::kRebuildEmbeddings:
      return NotSupportedYet("ALTER TABLE … REBUILD EMBEDDINGS");
    case Action::kReconfigure:
      return NotSupportedYet("ALTER TABLE … RECONFIGURE");
    case Action::kRenameTable:
      RETURN_IF_ERROR(RenameTable(statement, context));
      break;
    default:
      RETURN_IF_ERROR(context.catalog().Alter(name, [&](TableDefinition& definition) {
        return Change(statement, definition, context.warnings);
      }));
      break;
  }
  return SendOk(context);
}

}  // namespace stoa::sql
