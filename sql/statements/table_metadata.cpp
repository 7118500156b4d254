#include "sql/sql_error.h"
#include "sql/statements/show_rows.h"
#include "sql/statements/virtual_rows.h"

namespace stoa::sql {
namespace {

VirtualTable ColumnsOf(const storage::TableDefinition& definition) {
  VirtualRows rows("#id,field,type,properties");
  uint64_t id = 0;
  for (const storage::ColumnDefinition& column : definition.columns) {
    rows.Add({VirtualRows::Number(++id), VirtualRows::Text(column.name),
              VirtualRows::Text(storage::DescribeType(column)),
              VirtualRows::Text(ColumnProperties(definition, column))});
  }
  return rows.Take();
}

}  // namespace

// t.@table: the columns; t.@status: SHOW TABLE t STATUS; t.@files: its files on disk.
Result<VirtualTable> ReadTableMetadata(const TableReference& table, StatementContext& context) {
  TableReference plain;
  plain.database = table.database;
  plain.name = table.name;
  ASSIGN_OR_RETURN(const std::shared_ptr<storage::Table> found, FindShownTable(plain, context));
  if (table.suffix == "@table") {
    return ColumnsOf(*found->definition());
  }
  if (table.suffix == "@files") {
    return VirtualRows("file,normalized,#size").Take();
  }
  if (table.suffix != "@status") {
    return NoSuchTable(table.name + "." + table.suffix);
  }
  ShowStatement show;
  show.what = "table_status_of";
  show.table = std::move(plain);
  ASSIGN_OR_RETURN(ShowRows status, ShowTableDetails(show, context));
  VirtualRows rows("variable_name,value");
  for (std::vector<Value>& row : status.rows) {
    rows.Add(std::move(row));
  }
  return rows.Take();
}

}  // namespace stoa::sql
