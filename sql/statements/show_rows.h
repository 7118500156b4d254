#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/session/session_state.h"

namespace stoa::sql {

// The answer of a SHOW statement while it is made: every cell a text or NULL.
struct ShowRows {
  std::vector<std::string> names;
  std::vector<std::vector<Value>> rows;
  size_t like_column = 0;  // the one that LIKE looks at

  ShowRows() = default;
  explicit ShowRows(std::initializer_list<std::string_view> column_names)
      : names(column_names.begin(), column_names.end()) {}

  void Add(std::initializer_list<std::string_view> cells);
  void Add(std::vector<Value> cells) { rows.push_back(std::move(cells)); }
};

// Keeps the rows that LIKE and WHERE of the statement select. WHERE compares columns of the answer with
// constants as texts without regard to case, or as numbers when both are.
Status FilterShowRows(const ShowStatement& show, ShowRows& answer);

// The parts of SHOW, each for the subjects its file names. The statement says which.
Result<ShowRows> ShowTables(const ShowStatement& show, StatementContext& context);   // show_tables.cpp
Result<ShowRows> ShowColumns(const ShowStatement& show, StatementContext& context);  // show_columns.cpp
Result<ShowRows> ShowTableDetails(const ShowStatement& show,
                                  StatementContext& context);                        // show_table_details.cpp
Result<ShowRows> ShowCreate(const ShowStatement& show, StatementContext& context);   // show_create.cpp
Result<ShowRows> ShowServer(const ShowStatement& show, StatementContext& context);   // show_server.cpp
Result<ShowRows> ShowSession(const ShowStatement& show, StatementContext& context);  // show_session.cpp
Result<ShowRows> ShowFixed(const ShowStatement& show);                               // show_fixed.cpp

// A flush or merge for SHOW THREADS and SHOW PROCESSLIST: "merge of 4 chunks of table t: 35.0%".
std::string JobText(const storage::MaintenanceJob& job);
// The table of a SHOW, or 1146.
Result<std::shared_ptr<storage::Table>> FindShownTable(const TableReference& table,
                                                       StatementContext& context);
// True for the database of all tables, named or left out.
bool IsMainDatabase(std::string_view database);
// Names of the tables of information_schema.
std::vector<std::string> InformationSchemaTables();
// "rt", "percolate", "distributed".
std::string_view TableKindName(storage::TableKind kind);
// "indexed stored", "columnar fast_fetch", … as DESC prints.
std::string ColumnProperties(const storage::TableDefinition& table, const storage::ColumnDefinition& column);
// Text of a database's name as users see it: Manticore, information_schema.
std::string_view DatabaseTitle(std::string_view database);

}  // namespace stoa::sql
