#include <array>

#include "sql/sql_error.h"
#include "sql/statements/show_rows.h"
#include "sql/statements/virtual_rows.h"

namespace stoa::sql {
namespace {

struct CatalogTable {
  std::string_view name;
  VirtualTable (*make)(StatementContext&);  // nullptr: always empty
  std::string_view columns = {};            // of empty ones
};

constexpr std::string_view kPrivilegeColumns =
    "grantee,table_catalog,table_schema,privilege_type,is_grantable";

constexpr auto kInformationSchema = std::to_array<CatalogTable>({
    {"applicable_roles", nullptr,
     "user,host,grantee,grantee_host,role_name,role_host,is_grantable,is_default,is_mandatory"},
    {"character_sets", CharacterSetsTable},
    {"check_constraints", nullptr, "constraint_catalog,constraint_schema,constraint_name,check_clause"},
    {"collation_character_set_applicability", CollationCharacterSetsTable},
    {"collations", CollationsTable},
    {"column_privileges", nullptr,
     "grantee,table_catalog,table_schema,table_name,column_name,privilege_type,is_grantable"},
    {"column_statistics", nullptr, "schema_name,table_name,column_name,histogram"},
    {"columns", ColumnsTable},
    {"enabled_roles", nullptr, "role_name,role_host,is_default,is_mandatory"},
    {"engines", EnginesTable},
    {"events", nullptr,
     "event_catalog,event_schema,event_name,definer,time_zone,event_body,event_definition,event_type,execute_"
     "at,"
     "interval_value,interval_field,sql_mode,starts,ends,status,on_completion,created,last_altered,last_"
     "executed,"
     "event_comment,#originator,character_set_client,collation_connection,database_collation"},
    {"files", nullptr,
     "#file_id,file_name,file_type,tablespace_name,table_catalog,table_schema,table_name,logfile_group_name,"
     "#logfile_group_number,engine,fulltext_keys,#deleted_rows,#update_count,#free_extents,#total_extents,#"
     "extent_size,"
     "#initial_size,#maximum_size,#autoextend_size,creation_time,last_update_time,last_access_time,#recover_"
     "time,"
     "#transaction_counter,#version,row_format,#table_rows,#avg_row_length,#data_length,#max_data_length,#"
     "index_length,"
     "#data_free,create_time,update_time,check_time,checksum,status,extra"},
    {"global_status", StatusTable},
    {"global_variables", GlobalVariablesTable},
    {"innodb_tables", nullptr, "#table_id,name,#flag,#n_cols,#space,row_format,#zip_page_size,space_type"},
    {"key_column_usage", KeyColumnUsageTable},
    {"keywords", nullptr, "word,#reserved"},
    {"parameters", nullptr,
     "specific_catalog,specific_schema,specific_name,#ordinal_position,parameter_mode,parameter_name,data_"
     "type,"
     "#character_maximum_length,#character_octet_length,#numeric_precision,#numeric_scale,#datetime_"
     "precision,"
     "character_set_name,collation_name,dtd_identifier,routine_type"},
    {"partitions", PartitionsTable},
    {"plugins", PluginsTable},
    {"processlist", ProcessListTable},
    {"profiling", nullptr, "#query_id,#seq,state,duration"},
    {"referential_constraints", nullptr,
     "constraint_catalog,constraint_schema,constraint_name,unique_constraint_catalog,unique_constraint_"
     "schema,"
     "unique_constraint_name,match_option,update_rule,delete_rule,table_name,referenced_table_name"},
    {"routines", nullptr,
     "specific_name,routine_catalog,routine_schema,routine_name,routine_type,data_type,#character_maximum_"
     "length,"
     "#character_octet_length,#numeric_precision,#numeric_scale,#datetime_precision,character_set_name,"
     "collation_name,"
     "dtd_identifier,routine_body,routine_definition,external_name,external_language,parameter_style,is_"
     "deterministic,"
     "sql_data_access,sql_path,security_type,created,last_altered,sql_mode,routine_comment,definer,"
     "character_set_client,collation_connection,database_collation"},
    {"schema_privileges", nullptr, kPrivilegeColumns},
    {"schemata", SchemataTable},
    {"session_status", StatusTable},
    {"session_variables", SessionVariablesTable},
    {"st_geometry_columns", nullptr,
     "table_catalog,table_schema,table_name,column_name,srs_name,#srs_id,geometry_type_name"},
    {"statistics", StatisticsTable},
    {"table_constraints", TableConstraintsTable},
    {"table_privileges", nullptr,
     "grantee,table_catalog,table_schema,table_name,privilege_type,is_grantable"},
    {"tables", TablesTable},
    {"tablespaces", nullptr, "tablespace_name,engine,tablespace_type,logfile_group_name,#extent_size"},
    {"triggers", nullptr,
     "trigger_catalog,trigger_schema,trigger_name,event_manipulation,event_object_catalog,event_object_"
     "schema,"
     "event_object_table,#action_order,action_condition,action_statement,action_orientation,action_timing,"
     "action_reference_old_table,action_reference_new_table,action_reference_old_row,action_reference_new_"
     "row,created,"
     "sql_mode,definer,character_set_client,collation_connection,database_collation"},
    {"user_privileges", UserPrivilegesTable},
    {"view_table_usage", nullptr, "view_catalog,view_schema,view_name,table_catalog,table_schema,table_name"},
    {"views", nullptr,
     "table_catalog,table_schema,table_name,view_definition,check_option,is_updatable,definer,security_type,"
     "character_set_client,collation_connection"},
});

constexpr auto kPerformanceSchema = std::to_array<CatalogTable>({
    {"global_status", StatusTable},
    {"global_variables", GlobalVariablesTable},
    {"processlist", ProcessListTable},
    {"session_status", StatusTable},
    {"session_variables", SessionVariablesTable},
});

constexpr auto kMysql = std::to_array<CatalogTable>({
    {"db", nullptr, "host,db,user"},
    {"event", nullptr, "db,name"},
    {"func", nullptr, "name,#ret,dl,type"},
    {"proc", nullptr, "db,name,type"},
    {"time_zone_name", nullptr, "name,#time_zone_id"},
    {"user", MysqlUserTable},
});

Result<VirtualTable> Find(std::span<const CatalogTable> tables, const TableReference& reference,
                          StatementContext& context) {
  for (const CatalogTable& table : tables) {
    if (table.name == reference.name) {
      return table.make != nullptr ? table.make(context) : VirtualRows(table.columns).Take();
    }
  }
  return NoSuchTable(fmt::format("{}.{}", reference.database, reference.name));
}

}  // namespace

std::vector<std::string> InformationSchemaTables() {
  std::vector<std::string> names;
  for (const CatalogTable& table : kInformationSchema) {
    names.emplace_back(table.name);
  }
  return names;
}

Result<VirtualTable> ReadVirtualTable(std::string_view database, const TableReference& table,
                                      StatementContext& context) {
  if (table.suffix.starts_with('@')) {
    return ReadTableMetadata(table, context);
  }
  if (database == "performance_schema") {
    return Find(kPerformanceSchema, table, context);
  }
  if (database == "mysql" || database == "sys") {
    return Find(kMysql, table, context);
  }
  return Find(kInformationSchema, table, context);
}

}  // namespace stoa::sql
