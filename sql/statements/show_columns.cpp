#include "sql/session/system_variables.h"
#include "sql/statements/display_order.h"
#include "sql/statements/mysql_type.h"
#include "sql/statements/show_rows.h"
#include "sql/statements/statements.h"

// DESC, SHOW [FULL] COLUMNS, SHOW INDEX.
namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::TableDefinition;
using storage::TableKind;

void AddWord(bool condition, std::string_view word, std::string& words) {
  if (condition) {
    words.append(words.empty() ? "" : " ").append(word);
  }
}

// The rules of a percolate table are its rows; `DESC t TABLE` shows the documents they are about.
ShowRows DescribeRules() {
  ShowRows answer({"Field", "Type", "Properties"});
  answer.Add({"id", "bigint", ""});
  answer.Add({"query", "string", ""});
  answer.Add({"filters", "string", ""});
  answer.Add({"tags", "string", ""});
  return answer;
}

ShowRows DescribeDistributed(const TableDefinition& definition) {
  ShowRows answer({"Agent", "Type"});
  for (const std::string& local : definition.local_tables) {
    answer.Add({local, "local"});
  }
  return answer;
}

ShowRows Describe(const ShowStatement& show, const TableDefinition& definition) {
  if (definition.kind == TableKind::kDistributed) {
    return DescribeDistributed(definition);
  }
  if (definition.kind == TableKind::kPercolate && show.argument != "table") {
    return DescribeRules();
  }
  ShowRows answer({"Field", "Type", "Properties"});
  for (const ColumnDefinition* column : DisplayOrder(definition)) {
    answer.Add({column->name, storage::DescribeType(*column), ColumnProperties(definition, *column)});
  }
  return answer;
}

ShowRows PlainColumns(const TableDefinition& definition) {
  ShowRows answer({"Field", "Type", "Null", "Key", "Default", "Extra"});
  for (const ColumnDefinition* column : DisplayOrder(definition)) {
    answer.Add({column->name, storage::DescribeType(*column), "NO", "", "", ""});
  }
  return answer;
}

ShowRows FullColumns(const TableDefinition& definition) {
  ShowRows answer({"Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"});
  for (const ColumnDefinition* column : DisplayOrder(definition)) {
    const MysqlType type = MysqlTypeOf(*column);
    const bool is_id = column->type == storage::ColumnType::kId;
    answer.Add({Value::String(column->name), Value::String(std::string(type.column_type)),
                type.character_length ? Value::String("utf8mb4_0900_ai_ci") : Value::Null(),
                Value::String("NO"), Value::String(is_id ? "PRI" : ""), Value::Null(), Value::String(""),
                Value::String("select,insert,update,references"),
                Value::String(ColumnProperties(definition, *column))});
  }
  return answer;
}

// Columns of a table of information_schema.
Result<ShowRows> VirtualColumns(const ShowStatement& show, StatementContext& context) {
  ASSIGN_OR_RETURN(const VirtualTable table, ReadVirtualTable(show.table.database, show.table, context));
  const bool describe = show.what == "describe";
  ShowRows answer = describe ? ShowRows({"Field", "Type", "Properties"})
                             : ShowRows({"Field", "Type", "Null", "Key", "Default", "Extra"});
  if (show.what == "full columns") {
    answer =
        ShowRows({"Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"});
  }
  for (const ResultColumn& column : table.columns) {
    const std::string_view type = column.type == ValueType::kString ? "varchar(512)" : "bigint";
    std::vector<Value> row(answer.names.size(), Value::String(""));
    row[0] = Value::String(column.name);
    row[1] = Value::String(std::string(type));
    if (!describe) {
      row[show.what == "full columns" ? 3 : 2] = Value::String("YES");
    }
    answer.Add(std::move(row));
  }
  return answer;
}

// MySQL's form: the document id is the one key of a table.
ShowRows Indexes(const TableDefinition& definition, uint64_t rows) {
  ShowRows answer({"Table", "Non_unique", "Key_name", "Seq_in_index", "Column_name", "Collation",
                   "Cardinality", "Sub_part", "Packed", "Null", "Index_type", "Comment", "Index_comment",
                   "Visible", "Expression"});
  answer.like_column = 2;
  if (definition.kind != TableKind::kDistributed) {
    auto text = [](std::string_view value) { return Value::String(std::string(value)); };
    answer.Add({text(definition.name), text("0"), text("PRIMARY"), text("1"), text("id"), text("A"),
                text(std::to_string(rows)), Value::Null(), Value::Null(), text(""), text("HASH"), text(""),
                text(""), text("YES"), Value::Null()});
  }
  return answer;
}

}  // namespace

std::string ColumnProperties(const TableDefinition& table, const ColumnDefinition& column) {
  std::string words;
  const bool is_text = column.type == storage::ColumnType::kText;
  AddWord(column.indexed, "indexed", words);
  AddWord(is_text && column.stored, "stored", words);
  AddWord(column.type == storage::ColumnType::kString && column.indexed, "attribute", words);
  const bool columnar = table.IsColumnar(column);
  AddWord(columnar, "columnar", words);
  AddWord(column.knn.has_value(), "knn", words);
  AddWord(columnar && column.fast_fetch, "fast_fetch", words);
  AddWord(columnar && !column.hash, "no_hash", words);
  return words;
}

Result<ShowRows> ShowColumns(const ShowStatement& show, StatementContext& context) {
  if (!IsMainDatabase(show.table.database) || !show.table.suffix.empty()) {
    return VirtualColumns(show, context);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<storage::Table> table, FindShownTable(show.table, context));
  const auto snapshot = table->Snapshot();
  const TableDefinition& definition = *snapshot->definition;
  if (show.what == "describe") {
    return Describe(show, definition);
  }
  if (show.what == "index") {
    return Indexes(definition, snapshot->live_count());
  }
  return show.what == "full columns" ? FullColumns(definition) : PlainColumns(definition);
}

}  // namespace stoa::sql
