#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/session/session_state.h"

namespace stoa::sql {

// The value of @@[scope.]name in this session: session value, else the server's, else MySQL's usual default
// for the variables that connectors ask for; numbers as integers. nullopt when the name is not known.
std::optional<Value> SystemVariable(const Session::State& session, std::string_view scope,
                                    std::string_view name);

// All variables with their current values, by name, for SHOW VARIABLES.
std::vector<NamedValue> ListSystemVariables(const Session::State& session, std::string_view scope);

// Virtual tables of information_schema (and t.@table): column names, types and the rows at this moment, to be
// queried like any table. NotFound when there is no such table.
struct VirtualTable {
  std::vector<ResultColumn> columns;
  std::vector<std::vector<Value>> rows;
};
Result<VirtualTable> ReadVirtualTable(std::string_view database, const TableReference& table,
                                      StatementContext& context);

}  // namespace stoa::sql
