#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/session/system_variables.h"

namespace stoa::sql {

// Makes a VirtualTable: the columns from one text, "name,name,#number" ('#': bigint), then rows.
class VirtualRows {
 public:
  explicit VirtualRows(std::string_view columns);

  static Value Text(std::string_view text) { return Value::String(std::string(text)); }
  static Value Number(uint64_t number) { return Value::Bigint(static_cast<int64_t>(number)); }

  // One value a column; missing ones at the end are NULL.
  void Add(std::vector<Value> row);
  VirtualTable Take() { return std::move(table_); }

 private:
  VirtualTable table_;
};

// Tables of information_schema about tables and columns (catalog_tables.cpp) and about the server
// (server_tables.cpp), and t.@table, t.@files, t.@status (table_metadata.cpp).
VirtualTable SchemataTable(StatementContext& context);
VirtualTable TablesTable(StatementContext& context);
VirtualTable ColumnsTable(StatementContext& context);
VirtualTable StatisticsTable(StatementContext& context);
VirtualTable KeyColumnUsageTable(StatementContext& context);
VirtualTable TableConstraintsTable(StatementContext& context);
VirtualTable PartitionsTable(StatementContext& context);
VirtualTable EnginesTable(StatementContext& context);
VirtualTable CharacterSetsTable(StatementContext& context);
VirtualTable CollationsTable(StatementContext& context);
VirtualTable CollationCharacterSetsTable(StatementContext& context);
VirtualTable ProcessListTable(StatementContext& context);
VirtualTable PluginsTable(StatementContext& context);
VirtualTable GlobalVariablesTable(StatementContext& context);
VirtualTable SessionVariablesTable(StatementContext& context);
VirtualTable StatusTable(StatementContext& context);
VirtualTable UserPrivilegesTable(StatementContext& context);
VirtualTable MysqlUserTable(StatementContext& context);
Result<VirtualTable> ReadTableMetadata(const TableReference& table, StatementContext& context);

}  // namespace stoa::sql
