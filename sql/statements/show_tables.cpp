#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/show_rows.h"

// SHOW TABLES, FULL TABLES, TABLE STATUS, OPEN TABLES, DATABASES, and the answers of CHECK TABLE and its
// like.
namespace stoa::sql {
namespace {

bool IsKnownDatabase(std::string_view database) {
  return IsMainDatabase(database) || database == "information_schema" || database == "mysql" ||
         database == "performance_schema" || database == "sys";
}

struct NamedTable {
  std::string name;
  std::string_view kind;  // rt, … or SYSTEM VIEW
  std::shared_ptr<storage::Table> table;
};

Result<std::vector<NamedTable>> TablesOf(const std::string& database, StatementContext& context) {
  if (!IsKnownDatabase(database)) {
    return NoSuchDatabase(database);
  }
  std::vector<NamedTable> tables;
  if (IsMainDatabase(database)) {
    for (const auto& table : context.catalog().List()) {
      const auto definition = table->definition();
      tables.push_back({definition->name, TableKindName(definition->kind), table});
    }
  } else if (database == "information_schema") {
    for (std::string& name : InformationSchemaTables()) {
      tables.push_back({std::move(name), "SYSTEM VIEW", nullptr});
    }
  }
  return tables;
}

ShowRows PlainTables(const std::vector<NamedTable>& tables) {
  ShowRows answer({"Table", "Type"});
  for (const NamedTable& table : tables) {
    answer.Add({table.name, table.kind});
  }
  return answer;
}

ShowRows FullTables(const std::vector<NamedTable>& tables, std::string_view database) {
  ShowRows answer;
  answer.names = {"Tables_in_" + std::string(DatabaseTitle(database)), "Table_type"};
  for (const NamedTable& table : tables) {
    answer.Add({table.name, table.table == nullptr ? "SYSTEM VIEW" : "BASE TABLE"});
  }
  return answer;
}

// MySQL's form: one row a table with 18 columns.
ShowRows TableStatus(const std::vector<NamedTable>& tables, StatementContext& context) {
  ShowRows answer({"Name", "Engine", "Version", "Row_format", "Rows", "Avg_row_length", "Data_length",
                   "Max_data_length", "Index_length", "Data_free", "Auto_increment", "Create_time",
                   "Update_time", "Check_time", "Collation", "Checksum", "Create_options", "Comment"});
  for (const NamedTable& table : tables) {
    const uint64_t rows = table.table == nullptr ? 0 : table.table->Snapshot()->live_count();
    const uint64_t bytes = table.table == nullptr ? 0 : context.catalog().DiskBytes(*table.table);
    const Value null = Value::Null();
    auto number = [](uint64_t value) { return Value::String(std::to_string(value)); };
    answer.Add({Value::String(table.name), Value::String("MyISAM"), Value::String("10"),
                Value::String("Dynamic"), number(rows), number(rows == 0 ? 0 : bytes / rows), number(bytes),
                number(0), number(0), number(0), null, null, null, null, Value::String("utf8mb4_0900_ai_ci"),
                null, Value::String(""), Value::String(std::string(table.kind))});
  }
  return answer;
}

ShowRows OpenTables(const std::vector<NamedTable>& tables) {
  ShowRows answer({"Database", "Table", "In_use", "Name_locked"});
  answer.like_column = 1;
  for (const NamedTable& table : tables) {
    const bool locked = table.table != nullptr && table.table->read_locked();
    answer.Add({"Manticore", table.name, locked ? "1" : "0", "0"});
  }
  return answer;
}

// CHECK, ANALYZE, REPAIR, CHECKSUM TABLE a, b: what MySQL's tools read.
ShowRows Maintenance(const ShowStatement& show, StatementContext& context) {
  const std::string verb = show.what.substr(0, show.what.find(' '));
  const bool checksum = verb == "checksum";
  ShowRows answer =
      checksum ? ShowRows({"Table", "Checksum"}) : ShowRows({"Table", "Op", "Msg_type", "Msg_text"});
  for (size_t begin = 0; begin <= show.argument.size();) {
    const size_t end = std::min(show.argument.find(',', begin), show.argument.size());
    TableReference reference;
    reference.name = show.argument.substr(begin, end - begin);
    begin = end + 1;
    const std::string full = "Manticore." + reference.name;
    const bool known = context.FindTable(reference) != nullptr;
    if (checksum) {
      answer.Add({Value::String(full), Value::Null()});
    } else if (known) {
      answer.Add({full, verb, "status", "OK"});
    } else {
      answer.Add({full, verb, "Error", context.MissingTable(reference, NoSuchTable(reference.name)).text()});
      answer.Add({full, verb, "status", "Operation failed"});
    }
  }
  return answer;
}

}  // namespace

Result<ShowRows> ShowTables(const ShowStatement& show, StatementContext& context) {
  if (show.what == "databases") {
    ShowRows answer({"Database"});
    answer.Add({"information_schema"});
    answer.Add({"Manticore"});
    return answer;
  }
  if (show.what.ends_with(" table") && !show.argument.empty()) {
    return Maintenance(show, context);
  }
  std::string database = show.table.database;
  if (database.empty() && context.session.database == "information_schema") {
    database = context.session.database;
  }
  ASSIGN_OR_RETURN(const std::vector<NamedTable> tables, TablesOf(database, context));
  if (show.what == "full tables") {
    return FullTables(tables, database);
  }
  if (show.what == "table status") {
    return TableStatus(tables, context);
  }
  return show.what == "open tables" ? OpenTables(tables) : PlainTables(tables);
}

}  // namespace stoa::sql
