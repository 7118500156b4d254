#include <algorithm>
#include <filesystem>

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

// Files of the table on disk; how much of them is mapped, and of that in memory right now.
VirtualTable FilesOf(const storage::Table& table, StatementContext& context) {
  VirtualRows rows("file,normalized,#size,#mapped_bytes,#resident_bytes");
  const Result<std::string> data_dir = context.server().Setting("data_dir");
  const std::filesystem::path folder = data_dir.ok() ? *data_dir : std::string();
  for (const storage::ChunkFileInfo& file : context.catalog().Statistics(table).files) {
    rows.Add({VirtualRows::Text(file.name), VirtualRows::Text((folder / file.name).string()),
              VirtualRows::Number(file.bytes), VirtualRows::Number(file.mapped_bytes),
              VirtualRows::Number(std::min(file.resident_bytes, file.mapped_bytes))});
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
    return FilesOf(*found, context);
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
