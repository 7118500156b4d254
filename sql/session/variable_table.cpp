#include "sql/session/variable_table.h"

#include <algorithm>
#include <array>

namespace stoa::sql {
namespace {

constexpr VariableDefinition Number(std::string_view name, std::string_view value) {
  return {.name = name, .value = value, .number = true};
}
constexpr VariableDefinition Text(std::string_view name, std::string_view value) {
  return {.name = name, .value = value};
}
constexpr VariableDefinition Fixed(VariableDefinition variable) {
  variable.read_only = true;
  return variable;
}
constexpr VariableDefinition Unlisted(VariableDefinition variable) {
  variable.listed = false;
  return variable;
}

constexpr std::string_view kSqlMode =
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_ENGINE_SUBSTITUTION";

constexpr auto kVariables = std::to_array<VariableDefinition>({
    // Our own, in the order users know.
    Number("autocommit", "1"),
    Number("auto_optimize", "1"),
    Number("optimize_cutoff", ""),
    Number("parallel_chunk_merges", ""),
    Number("merge_chunks_per_job", "2"),
    Number("knn_parallel_build", ""),
    Fixed(Number("knn_mem_limit", "")),
    Number("embeddings_threads", "4"),
    Text("collation_connection", "utf8mb4_0900_ai_ci"),
    Text("query_log_format", "sphinxql"),
    Number("session_read_only", "0"),
    Text("log_level", "info"),
    Number("max_allowed_packet", "134217728"),
    Text("character_set_client", "utf8"),
    Text("character_set_connection", "utf8"),
    Number("grouping_in_utc", "0"),
    Text("timezone", ""),
    Text("last_insert_id", ""),
    Number("pseudo_sharding", "1"),
    Text("secondary_indexes", "1"),
    Number("accurate_aggregation", "1"),
    Number("distinct_precision_threshold", "3500"),
    Text("threads_ex_effective", ""),
    Text("cluster_user", ""),
    Number("wait_timeout", "28800"),
    Number("interactive_timeout", "900"),
    Number("thread_stack", "1048576"),
    Text("threads_ex", ""),
    Fixed(Text("user", "")),
    Number("max_threads_per_query", "0"),
    Number("net_read_timeout", "30"),
    Number("net_write_timeout", "60"),
    Number("network_timeout", "5"),
    Number("optimize_by_id", "1"),
    Number("profiling", "0"),
    Unlisted(Number("ro", "0")),
    Number("throttling_period", "100"),
    Number("sql_quote_show_create", "1"),
    // MySQL's, by name.
    Unlisted(Number("auto_increment_increment", "1")),
    Unlisted(Number("auto_increment_offset", "1")),
    Text("basedir", "/usr/"),
    Number("big_tables", "0"),
    Text("character_set_database", "utf8mb4"),
    Text("character_set_filesystem", "binary"),
    Text("character_set_results", "utf8mb4"),
    Text("character_set_server", "utf8mb4"),
    Text("character_set_system", "utf8mb3"),
    Text("collation_database", "utf8mb4_0900_ai_ci"),
    Text("collation_server", "utf8mb4_0900_ai_ci"),
    Number("connect_timeout", "10"),
    Text("default_authentication_plugin", "mysql_native_password"),
    Text("default_storage_engine", "MyISAM"),
    Number("default_week_format", "0"),
    Number("div_precision_increment", "4"),
    Text("event_scheduler", "OFF"),
    Number("explicit_defaults_for_timestamp", "1"),
    Number("foreign_key_checks", "1"),
    Number("group_concat_max_len", "1048576"),
    Text("gtid_mode", "OFF"),
    Fixed(Text("have_openssl", "YES")),
    Fixed(Text("have_profiling", "NO")),
    Fixed(Text("have_query_cache", "NO")),
    Fixed(Text("have_ssl", "YES")),
    Fixed(Text("hostname", "")),
    Text("init_connect", ""),
    Number("innodb_read_only", "0"),
    Fixed(Text("license", "Apache-2.0")),
    Number("local_infile", "0"),
    Number("lock_wait_timeout", "31536000"),
    Number("log_bin", "0"),
    Number("long_query_time", "10"),
    Number("lower_case_file_system", "0"),
    Fixed(Number("lower_case_table_names", "1")),
    Number("max_connections", "0"),
    Number("max_execution_time", "0"),
    Number("max_statement_time", "0"),
    Number("max_user_connections", "0"),
    Number("net_buffer_length", "16384"),
    Number("old_passwords", "0"),
    Text("optimizer_switch", ""),
    Number("performance_schema", "0"),
    Number("port", "9306"),
    Number("protocol_version", "10"),
    Number("query_cache_limit", "1048576"),
    Number("query_cache_size", "0"),
    Text("query_cache_type", "OFF"),
    Number("read_only", "0"),
    Number("secure_auth", "1"),
    Text("secure_file_priv", ""),
    Number("server_id", "0"),
    Text("server_uuid", "00000000-0000-0000-0000-000000000000"),
    Number("session_track_gtids", "0"),
    Number("session_track_schema", "1"),
    Text("session_track_system_variables", ""),
    Number("session_track_state_change", "0"),
    Text("session_track_transaction_info", "OFF"),
    Number("show_old_temporals", "0"),
    Number("skip_networking", "0"),
    Text("socket", ""),
    Number("sql_auto_is_null", "0"),
    Number("sql_big_selects", "1"),
    Number("sql_generate_invisible_primary_key", "0"),
    Number("sql_log_bin", "1"),
    Text("sql_mode", kSqlMode),
    Number("sql_notes", "1"),
    Number("sql_require_primary_key", "0"),
    Number("sql_safe_updates", "0"),
    Number("sql_select_limit", "18446744073709551615"),
    Number("sql_warnings", "0"),
    Number("super_read_only", "0"),
    Fixed(Text("system_time_zone", "UTC")),
    Text("time_zone", "SYSTEM"),
    Text("tmpdir", "/tmp"),
    Text("transaction_isolation", "REPEATABLE-READ"),
    Number("transaction_read_only", "0"),
    Text("tx_isolation", "REPEATABLE-READ"),
    Number("tx_read_only", "0"),
    Number("unique_checks", "1"),
    Fixed(Text("version", "")),
    Fixed(Text("version_comment", "Stoa search server")),
    Fixed(Text("version_compile_machine", "x86_64")),
    Fixed(Text("version_compile_os", "Linux")),
    Unlisted(Number("warning_count", "0")),
    Unlisted(Number("error_count", "0")),
    Unlisted(Number("pseudo_thread_id", "0")),
    Unlisted(Number("timestamp", "0")),
    Unlisted(Number("identity", "0")),
    Unlisted(Number("in_transaction", "0")),
});

}  // namespace

std::span<const VariableDefinition> AllVariables() { return kVariables; }

const VariableDefinition* FindVariable(std::string_view name) {
  const auto found = std::find_if(kVariables.begin(), kVariables.end(),
                                  [&](const VariableDefinition& v) { return v.name == name; });
  return found == kVariables.end() ? nullptr : &*found;
}

}  // namespace stoa::sql
