#include <algorithm>
#include <cstdlib>

#include "sql/statements/show_rows.h"
#include "sql/statements/virtual_rows.h"

// The tables of information_schema that describe the server. What SHOW says too comes from there.
namespace stoa::sql {
namespace {

// The answer of a SHOW as a table: columns in the order of `from`, by position.
VirtualTable FromShow(std::string_view what, std::string_view columns, std::initializer_list<size_t> from) {
  ShowStatement show;
  show.what = what;
  VirtualRows rows(columns);
  const Result<ShowRows> answer = ShowFixed(show);
  if (!answer.ok()) {
    return rows.Take();
  }
  VirtualTable table = rows.Take();
  for (const std::vector<Value>& line : answer->rows) {
    std::vector<Value> row;
    for (const size_t index : from) {
      const Value& cell = line[index];
      const bool number = table.columns[row.size()].type == ValueType::kBigint && !cell.is_null();
      row.push_back(number ? Value::Bigint(std::atoll(cell.bytes.c_str())) : cell);
    }
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

VirtualTable Variables(std::vector<NamedValue> values) {
  VirtualRows rows("variable_name,variable_value");
  for (const NamedValue& value : values) {
    rows.Add({VirtualRows::Text(value.name), VirtualRows::Text(value.value)});
  }
  return rows.Take();
}

}  // namespace

VirtualTable EnginesTable(StatementContext&) {
  return FromShow("engines", "engine,support,comment,transactions,xa,savepoints", {0, 1, 2, 3, 4, 5});
}

VirtualTable CharacterSetsTable(StatementContext&) {
  return FromShow("character set", "character_set_name,default_collate_name,description,#maxlen",
                  {0, 2, 1, 3});
}

VirtualTable CollationsTable(StatementContext&) {
  return FromShow("collation",
                  "collation_name,character_set_name,#id,is_default,is_compiled,#sortlen,pad_attribute",
                  {0, 1, 2, 3, 4, 5, 6});
}

VirtualTable CollationCharacterSetsTable(StatementContext&) {
  return FromShow("collation", "collation_name,character_set_name", {0, 1});
}

VirtualTable PluginsTable(StatementContext&) {
  return FromShow("plugins", "plugin_name,plugin_status,plugin_type,plugin_library,plugin_license",
                  {0, 1, 2, 3, 4});
}

VirtualTable ProcessListTable(StatementContext& context) {
  VirtualRows rows("#id,user,host,db,command,#time,state,info");
  const int64_t now = context.session.environment.clock->UnixMicros();
  for (const ProcessInfo& process : context.server().Processes()) {
    const bool runs = !process.statement.empty();
    const int64_t seconds = std::max<int64_t>(0, (now - process.state_micros) / 1'000'000);
    rows.Add({VirtualRows::Number(process.id), VirtualRows::Text(process.user),
              VirtualRows::Text(process.host), VirtualRows::Text("Manticore"),
              VirtualRows::Text(process.command), Value::Bigint(seconds),
              VirtualRows::Text(runs ? "executing" : ""),
              runs ? VirtualRows::Text(process.statement) : Value::Null()});
  }
  for (const storage::MaintenanceJob& job : context.catalog().Jobs()) {
    rows.Add({VirtualRows::Number(0), VirtualRows::Text("system user"), VirtualRows::Text(""),
              VirtualRows::Text("Manticore"), VirtualRows::Text("Daemon"),
              Value::Bigint(std::max<int64_t>(0, now / 1'000'000 - job.started)),
              VirtualRows::Text("maintenance"), VirtualRows::Text(JobText(job))});
  }
  return rows.Take();
}

VirtualTable GlobalVariablesTable(StatementContext& context) {
  return Variables(ListSystemVariables(context.session, "global"));
}

VirtualTable SessionVariablesTable(StatementContext& context) {
  return Variables(ListSystemVariables(context.session, "session"));
}

VirtualTable StatusTable(StatementContext& context) { return Variables(context.server().StatusCounters()); }

VirtualTable UserPrivilegesTable(StatementContext& context) {
  VirtualRows rows("grantee,table_catalog,privilege_type,is_grantable");
  const std::string grantee = fmt::format("'{}'@'%'", context.session.user);
  for (const std::string_view privilege :
       {"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER"}) {
    rows.Add({VirtualRows::Text(grantee), VirtualRows::Text("def"), VirtualRows::Text(privilege),
              VirtualRows::Text("NO")});
  }
  return rows.Take();
}

VirtualTable MysqlUserTable(StatementContext& context) {
  VirtualRows rows("host,user,plugin,authentication_string");
  rows.Add({VirtualRows::Text("%"), VirtualRows::Text(context.session.user),
            VirtualRows::Text("mysql_native_password"), VirtualRows::Text("")});
  return rows.Take();
}

}  // namespace stoa::sql
