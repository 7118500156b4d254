#include <array>

#include "sql/sql_error.h"
#include "sql/statements/show_rows.h"

// SHOW statements whose answer never changes: lists that clients read to fill their choices, and things that
// are not here (triggers, routines, events, replication), as empty sets with MySQL's columns.
namespace stoa::sql {
namespace {

struct EmptyShow {
  std::string_view what;
  std::string_view columns;  // divided by commas
};

constexpr auto kEmpty = std::to_array<EmptyShow>({
    {"triggers",
     "Trigger,Event,Table,Statement,Timing,Created,sql_mode,Definer,character_set_client,collation_"
     "connection,Database "
     "Collation"},
    {"function status",
     "Db,Name,Type,Definer,Modified,Created,Security_type,Comment,character_set_client,collation_connection,"
     "Database "
     "Collation"},
    {"procedure status",
     "Db,Name,Type,Definer,Modified,Created,Security_type,Comment,character_set_client,collation_connection,"
     "Database "
     "Collation"},
    {"events",
     "Db,Name,Definer,Time zone,Type,Execute at,Interval value,Interval "
     "field,Starts,Ends,Status,Originator,character_set_client,collation_connection,Database Collation"},
    {"master status", "File,Position,Binlog_Do_DB,Binlog_Ignore_DB,Executed_Gtid_Set"},
    {"slave status",
     "Slave_IO_State,Master_Host,Master_User,Master_Port,Connect_Retry,Master_Log_File,Read_Master_Log_Pos,"
     "Relay_Log_File,"
     "Relay_Log_Pos,Relay_Master_Log_File,Slave_IO_Running,Slave_SQL_Running"},
    {"slave hosts", "Server_Id,Host,Port,Source_Id,Replica_UUID"},
    {"binary logs", "Log_name,File_size,Encrypted"},
    {"profiles", "Query_ID,Duration,Query"},
    {"plan", "Variable,Value"},
    {"scroll", "scroll_token"},
    {"engine status", "Type,Name,Status"},
    {"help", "source_category_name,name,is_it_category"},
});

struct Collation {
  std::string_view name;
  std::string_view charset;
  std::string_view id;
  bool is_default;
};

constexpr auto kCollations = std::to_array<Collation>({
    {"utf8mb4_general_ci", "utf8mb4", "45", false},
    {"utf8mb4_bin", "utf8mb4", "46", false},
    {"utf8mb4_unicode_ci", "utf8mb4", "224", false},
    {"utf8mb4_0900_ai_ci", "utf8mb4", "255", true},
    {"utf8mb3_general_ci", "utf8mb3", "33", true},
    {"utf8mb3_bin", "utf8mb3", "83", false},
    {"utf8_general_ci", "utf8", "33", true},
    {"latin1_swedish_ci", "latin1", "8", true},
    {"ascii_general_ci", "ascii", "11", true},
    {"binary", "binary", "63", true},
});

ShowRows WithColumns(std::string_view columns) {
  ShowRows answer;
  while (!columns.empty()) {
    const size_t comma = std::min(columns.find(','), columns.size());
    answer.names.emplace_back(columns.substr(0, comma));
    columns.remove_prefix(std::min(comma + 1, columns.size()));
  }
  return answer;
}

ShowRows Engines() {
  ShowRows answer({"Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"});
  answer.Add(
      {"MyISAM", "DEFAULT", "Real-time tables with row-wise and columnar attributes", "YES", "NO", "NO"});
  return answer;
}

ShowRows Collations() {
  ShowRows answer({"Collation", "Charset", "Id", "Default", "Compiled", "Sortlen", "Pad_attribute"});
  for (const Collation& collation : kCollations) {
    answer.Add({collation.name, collation.charset, collation.id, collation.is_default ? "Yes" : "", "Yes",
                "1", "PAD SPACE"});
  }
  return answer;
}

ShowRows CharacterSets() {
  ShowRows answer({"Charset", "Description", "Default collation", "Maxlen"});
  answer.Add({"utf8mb4", "UTF-8 Unicode", "utf8mb4_0900_ai_ci", "4"});
  answer.Add({"utf8mb3", "UTF-8 Unicode", "utf8mb3_general_ci", "3"});
  answer.Add({"utf8", "UTF-8 Unicode", "utf8_general_ci", "4"});
  answer.Add({"latin1", "cp1252 West European", "latin1_swedish_ci", "1"});
  answer.Add({"ascii", "US ASCII", "ascii_general_ci", "1"});
  answer.Add({"binary", "Binary pseudo charset", "binary", "1"});
  return answer;
}

ShowRows Plugins() {
  ShowRows answer({"Name", "Status", "Type", "Library", "License"});
  for (const std::string_view name : {"mysql_native_password", "caching_sha2_password"}) {
    answer.Add({Value::String(std::string(name)), Value::String("ACTIVE"), Value::String("AUTHENTICATION"),
                Value::Null(), Value::String("Apache-2.0")});
  }
  return answer;
}

ShowRows Privileges() {
  ShowRows answer({"Privilege", "Context", "Comment"});
  answer.Add({"Select", "Tables", "To retrieve rows from table"});
  answer.Add({"Insert", "Tables", "To insert data into tables"});
  answer.Add({"Update", "Tables", "To update existing rows"});
  answer.Add({"Delete", "Tables", "To delete existing rows"});
  answer.Add({"Create", "Databases,Tables", "To create new tables"});
  answer.Add({"Drop", "Databases,Tables", "To drop tables"});
  answer.Add({"Alter", "Tables", "To alter the table"});
  return answer;
}

}  // namespace

Result<ShowRows> ShowFixed(const ShowStatement& show) {
  if (show.what == "engines") {
    return Engines();
  }
  if (show.what == "collation") {
    return Collations();
  }
  if (show.what == "character set") {
    return CharacterSets();
  }
  if (show.what == "plugins") {
    return Plugins();
  }
  if (show.what == "privileges") {
    return Privileges();
  }
  for (const EmptyShow& empty : kEmpty) {
    if (empty.what == show.what) {
      return WithColumns(empty.columns);
    }
  }
  return NotSupportedYet("SHOW " + show.what);
}

}  // namespace stoa::sql
