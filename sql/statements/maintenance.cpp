#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include "sql/parser/keywords.h"
#include "sql/sql_error.h"
#include "sql/statements/literal.h"
#include "sql/statements/statements.h"
#include "sql/statements/table_ddl.h"

// OPTIMIZE, FREEZE, UNFREEZE, BACKUP, IMPORT TABLE.
namespace stoa::sql {
namespace {

// 0, 1 and the words for them.
Result<bool> ReadSwitch(const ParsedOption& option) {
  ASSIGN_OR_RETURN(const std::string text, OptionText(option));
  for (const std::string_view on : {"1", "on", "true", "yes"}) {
    if (EqualsLower(text, on)) {
      return true;
    }
  }
  for (const std::string_view off : {"0", "off", "false", "no"}) {
    if (EqualsLower(text, off)) {
      return false;
    }
  }
  return InvalidError("option '{}' must be 0 or 1, not '{}'", option.name, text);
}

Result<uint32_t> ReadCutoff(const ParsedOption& option) {
  ASSIGN_OR_RETURN(const std::string text, OptionText(option));
  uint32_t number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  if (error != std::errc() || end != text_end || number == 0) {
    return InvalidError("option '{}' must be a number from 1 to {}, not '{}'", option.name,
                        std::numeric_limits<uint32_t>::max(), text);
  }
  return number;
}

Status UnknownOption(std::string_view statement, const ParsedOption& option) {
  return InvalidError("unknown option '{}' of {}", option.name, statement);
}

Result<storage::OptimizeRequest> ReadOptimizeOptions(const std::vector<ParsedOption>& options) {
  storage::OptimizeRequest request;
  for (const ParsedOption& option : options) {
    if (option.name == "sync") {
      ASSIGN_OR_RETURN(request.wait, ReadSwitch(option));
    } else if (option.name == "cutoff") {
      ASSIGN_OR_RETURN(request.cutoff, ReadCutoff(option));
    } else {
      return UnknownOption("OPTIMIZE TABLE", option);
    }
  }
  return request;
}

// A backup is always complete when its answer comes, so that there is nothing to choose with `async`.
Status CheckBackupOptions(const std::vector<ParsedOption>& options) {
  for (const ParsedOption& option : options) {
    if (option.name != "async" && option.name != "compress") {
      return UnknownOption("BACKUP", option);
    }
    ASSIGN_OR_RETURN(const bool on, ReadSwitch(option));
    if (on && option.name == "compress") {
      return NotSupportedYet("BACKUP with compress=1");
    }
  }
  return Status::Ok();
}

// Relative to what would be a riddle: the server's own folder is none of the client's business.
Status CheckAbsolute(std::string_view statement, std::string_view path) {
  return path.starts_with('/') && path.find('\0') == std::string_view::npos
             ? Status::Ok()
             : InvalidError("{} needs an absolute path, not '{}'", statement, path);
}

// Names of existing real-time tables, each once.
Result<std::vector<std::string>> RealTimeTables(std::string_view statement,
                                                const std::vector<TableReference>& tables,
                                                StatementContext& context) {
  std::vector<std::string> names;
  for (const TableReference& table : tables) {
    RETURN_IF_ERROR(RequireRealTime(statement, table, context));
    if (std::find(names.begin(), names.end(), table.name) == names.end()) {
      names.push_back(table.name);
    }
  }
  return names;
}

// The tables of a FREEZE that is under way. Lets go of them again unless the client got to know of it: who
// was cancelled, or lost, will never send UNFREEZE.
class FrozenTables {
 public:
  explicit FrozenTables(storage::Catalog& catalog) : catalog_(catalog) {}
  ~FrozenTables() {
    for (const std::string& name : names_) {
      (void)catalog_.Unfreeze(name);  // fails when it was dropped meanwhile: nothing is left to do
    }
  }
  FrozenTables(const FrozenTables&) = delete;
  FrozenTables& operator=(const FrozenTables&) = delete;

  Result<std::vector<std::string>> Freeze(const std::string& name) {
    ASSIGN_OR_RETURN(std::vector<std::string> files, catalog_.Freeze(name));
    names_.push_back(name);
    return files;
  }
  void Keep() { names_.clear(); }

 private:
  storage::Catalog& catalog_;
  std::vector<std::string> names_;
};

std::string Normalized(const std::string& path) {
  std::error_code error;
  const std::filesystem::path normal = std::filesystem::weakly_canonical(path, error);
  return error ? path : normal.string();
}

Status Freeze(const FreezeStatement& statement, StatementContext& context) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, RealTimeTables("FREEZE", statement.tables, context));
  FrozenTables frozen(context.catalog());
  std::vector<std::vector<Value>> rows;
  for (const std::string& name : names) {
    RETURN_IF_ERROR(context.cancel.Check());
    ASSIGN_OR_RETURN(const std::vector<std::string> files, frozen.Freeze(name));
    for (const std::string& file : files) {
      rows.push_back({Value::String(file), Value::String(Normalized(file))});
    }
  }
  RETURN_IF_ERROR(context.cancel.Check());
  RETURN_IF_ERROR(SendRows(context, {"file", "normalized"}, rows));
  frozen.Keep();
  return Status::Ok();
}

// Every table is let go, whatever became of the others; the first error is told.
Status Unfreeze(const FreezeStatement& statement, StatementContext& context) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   RealTimeTables("UNFREEZE", statement.tables, context));
  Status first;
  for (const std::string& name : names) {
    if (const auto table = context.catalog().Find(name);
        table != nullptr && !context.catalog().Statistics(*table).frozen) {
      context.warnings.push_back(fmt::format("table '{}' is not frozen", name));
    }
    if (Status status = context.catalog().Unfreeze(name); first.ok()) {
      first = std::move(status);
    }
  }
  RETURN_IF_ERROR(first);
  return SendOk(context);
}

}  // namespace

Status RequireRealTime(std::string_view statement, const TableReference& reference,
                       StatementContext& context) {
  const auto table = context.FindTable(reference);
  if (table == nullptr || !reference.suffix.empty() ||
      table->definition()->kind != storage::TableKind::kRealTime) {
    return context.MissingTable(
        reference, SyntaxError(fmt::format("{} requires an existing RT table, '{}' is none", statement,
                                           reference.name)));
  }
  return Status::Ok();
}

Status ExecuteOptimize(const OptimizeStatement& statement, StatementContext& context) {
  RETURN_IF_ERROR(RequireRealTime("OPTIMIZE TABLE", statement.table, context));
  ASSIGN_OR_RETURN(storage::OptimizeRequest request, ReadOptimizeOptions(statement.options));
  if (request.wait) {
    request.cancel = &context.cancel;  // in the background the merge outlives this statement
  }
  RETURN_IF_ERROR(context.catalog().Optimize(statement.table.name, request));
  return SendOk(context);
}

Status ExecuteFreeze(const FreezeStatement& statement, StatementContext& context) {
  return statement.unfreeze ? Unfreeze(statement, context) : Freeze(statement, context);
}

Status ExecuteBackup(const BackupStatement& statement, StatementContext& context) {
  RETURN_IF_ERROR(CheckBackupOptions(statement.options));
  RETURN_IF_ERROR(CheckAbsolute("BACKUP", statement.folder));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, RealTimeTables("BACKUP", statement.tables, context));
  ASSIGN_OR_RETURN(std::string path, context.catalog().Backup(names, statement.folder, &context.cancel));
  return SendRows(context, {"Path"}, {{Value::String(std::move(path))}});
}

Status ExecuteImportTable(const ImportTableStatement& statement, StatementContext& context) {
  const TableReference& table = statement.table;
  if (!table.database.empty() && table.database != "manticore") {
    return NoSuchDatabase(table.database);
  }
  RETURN_IF_ERROR(CommitTransaction(context));
  const auto failed = [&table](std::string_view why) {
    return SyntaxError(fmt::format("table '{}': IMPORT TABLE failed: {}", table.name, why));
  };
  if (const Status named = CheckTableName(table.name); !named.ok()) {
    return failed(named.text());
  }
  if (!table.suffix.empty()) {
    return failed("a chunk is no table");
  }
  const std::string taken = fmt::format("table '{}' already exists", table.name);
  if (context.catalog().Find(table.name) != nullptr) {
    return failed(taken);
  }
  RETURN_IF_ERROR(CheckAbsolute("IMPORT TABLE", statement.path));
  const Status imported = context.catalog().Import(table.name, statement.path);
  if (imported.code() == StatusCode::kExists) {
    return failed(taken);
  }
  RETURN_IF_ERROR(imported);
  return SendOk(context);
}

}  // namespace stoa::sql
