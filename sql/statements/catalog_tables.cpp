#include "sql/statements/display_order.h"
#include "sql/statements/mysql_type.h"
#include "sql/statements/show_rows.h"
#include "sql/statements/virtual_rows.h"

// The tables of information_schema that describe tables, columns and keys.
namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::ColumnType;
using storage::TableDefinition;
using storage::TableKind;

constexpr std::string_view kCatalog = "def";
constexpr std::string_view kSchema = "Manticore";
constexpr std::string_view kCollation = "utf8mb4_0900_ai_ci";

Value Text(std::string_view text) { return VirtualRows::Text(text); }
Value Number(uint64_t number) { return VirtualRows::Number(number); }
Value NumberOrNull(const std::optional<uint64_t>& number) { return number ? Number(*number) : Value::Null(); }

void AddColumn(const TableDefinition& table, const ColumnDefinition& column, uint64_t position,
               VirtualRows& rows) {
  const MysqlType type = MysqlTypeOf(column);
  const bool is_text = type.character_length.has_value();
  rows.Add({Text(kCatalog),
            Text(kSchema),
            Text(table.name),
            Text(column.name),
            Number(position),
            Value::Null(),
            Text("NO"),
            Text(type.data_type),
            NumberOrNull(type.character_length),
            NumberOrNull(type.character_length),
            NumberOrNull(type.numeric_precision),
            NumberOrNull(type.numeric_scale),
            Value::Null(),
            is_text ? Text("utf8mb4") : Value::Null(),
            is_text ? Text(kCollation) : Value::Null(),
            Text(type.column_type),
            Text(column.type == ColumnType::kId ? "PRI" : ""),
            Text(""),
            Text("select,insert,update,references"),
            Text(ColumnProperties(table, column)),
            Text("")});
}

}  // namespace

VirtualTable SchemataTable(StatementContext&) {
  VirtualRows rows(
      "catalog_name,schema_name,default_character_set_name,default_collation_name,sql_path,default_"
      "encryption");
  for (const std::string_view name : {std::string_view("information_schema"), kSchema}) {
    rows.Add({Text(kCatalog), Text(name), Text("utf8mb4"), Text(kCollation), Value::Null(), Text("NO")});
  }
  return rows.Take();
}

VirtualTable TablesTable(StatementContext& context) {
  VirtualRows rows(
      "table_catalog,table_schema,table_name,table_type,engine,#version,row_format,#table_rows,#avg_row_"
      "length,"
      "#data_length,#max_data_length,#index_length,#data_free,#auto_increment,create_time,update_time,check_"
      "time,"
      "table_collation,#checksum,create_options,table_comment");
  for (const auto& table : context.catalog().List()) {
    const auto snapshot = table->Snapshot();
    const uint64_t live = snapshot->live_count();
    const uint64_t bytes = context.catalog().DiskBytes(*table);
    rows.Add({Text(kCatalog),     Text(kSchema),  Text(snapshot->definition->name),
              Text("BASE TABLE"), Text("MyISAM"), Number(10),
              Text("Dynamic"),    Number(live),   Number(live == 0 ? 0 : bytes / live),
              Number(bytes),      Number(0),      Number(0),
              Number(0),          Value::Null(),  Value::Null(),
              Value::Null(),      Value::Null(),  Text(kCollation),
              Value::Null(),      Text(""),       Text("")});
  }
  return rows.Take();
}

VirtualTable ColumnsTable(StatementContext& context) {
  VirtualRows rows(
      "table_catalog,table_schema,table_name,column_name,#ordinal_position,column_default,is_nullable,data_"
      "type,"
      "#character_maximum_length,#character_octet_length,#numeric_precision,#numeric_scale,#datetime_"
      "precision,"
      "character_set_name,collation_name,column_type,column_key,extra,privileges,column_comment,generation_"
      "expression,"
      "#srs_id");
  for (const auto& table : context.catalog().List()) {
    const auto definition = table->definition();
    uint64_t position = 0;
    for (const ColumnDefinition* column : DisplayOrder(*definition)) {
      AddColumn(*definition, *column, ++position, rows);
    }
  }
  return rows.Take();
}

VirtualTable StatisticsTable(StatementContext& context) {
  VirtualRows rows(
      "table_catalog,table_schema,table_name,#non_unique,index_schema,index_name,#seq_in_index,column_name,"
      "collation,"
      "#cardinality,#sub_part,packed,nullable,index_type,comment,index_comment,is_visible,expression");
  for (const auto& table : context.catalog().List()) {
    const auto snapshot = table->Snapshot();
    if (snapshot->definition->kind != TableKind::kDistributed) {
      rows.Add({Text(kCatalog), Text(kSchema), Text(snapshot->definition->name), Number(0), Text(kSchema),
                Text("PRIMARY"), Number(1), Text("id"), Text("A"), Number(snapshot->live_count()),
                Value::Null(), Value::Null(), Text(""), Text("HASH"), Text(""), Text(""), Text("YES"),
                Value::Null()});
    }
  }
  return rows.Take();
}

VirtualTable KeyColumnUsageTable(StatementContext& context) {
  VirtualRows rows(
      "constraint_catalog,constraint_schema,constraint_name,table_catalog,table_schema,table_name,column_"
      "name,"
      "#ordinal_position,#position_in_unique_constraint,referenced_table_schema,referenced_table_name,"
      "referenced_column_name");
  for (const auto& table : context.catalog().List()) {
    const auto definition = table->definition();
    if (definition->kind != TableKind::kDistributed) {
      rows.Add({Text(kCatalog), Text(kSchema), Text("PRIMARY"), Text(kCatalog), Text(kSchema),
                Text(definition->name), Text("id"), Number(1)});
    }
  }
  return rows.Take();
}

VirtualTable TableConstraintsTable(StatementContext& context) {
  VirtualRows rows(
      "constraint_catalog,constraint_schema,constraint_name,table_schema,table_name,constraint_type,"
      "enforced");
  for (const auto& table : context.catalog().List()) {
    const auto definition = table->definition();
    if (definition->kind != TableKind::kDistributed) {
      rows.Add({Text(kCatalog), Text(kSchema), Text("PRIMARY"), Text(kSchema), Text(definition->name),
                Text("PRIMARY KEY"), Text("YES")});
    }
  }
  return rows.Take();
}

// One row a table, as MySQL has for tables without partitions.
VirtualTable PartitionsTable(StatementContext& context) {
  VirtualRows rows(
      "table_catalog,table_schema,table_name,partition_name,subpartition_name,#partition_ordinal_position,"
      "#subpartition_ordinal_position,partition_method,subpartition_method,partition_expression,"
      "subpartition_expression,partition_description,#table_rows,#avg_row_length,#data_length,#max_data_"
      "length,"
      "#index_length,#data_free,create_time,update_time,check_time,#checksum,partition_comment,nodegroup,"
      "tablespace_name");
  for (const auto& table : context.catalog().List()) {
    const auto snapshot = table->Snapshot();
    std::vector<Value> row = {Text(kCatalog), Text(kSchema), Text(snapshot->definition->name)};
    row.resize(12);
    row.push_back(Number(snapshot->live_count()));
    rows.Add(std::move(row));
  }
  return rows.Take();
}

}  // namespace stoa::sql
