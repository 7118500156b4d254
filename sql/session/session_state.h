#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/session/session.h"
#include "storage/table/write_set.h"

namespace stoa::sql {

struct PreparedStatement {
  std::string text;
  size_t parameters = 0;
};

// The inside of a Session; statements of sql/statements and sql/exec work on it. One thread at a time.
struct Session::State {
  SessionEnvironment environment;
  uint64_t connection_id = 0;
  std::string user;
  std::string database = "Manticore";

  // Session variables that were SET, by lower-case name; what is not here has the default of
  // system_variables.h.
  std::map<std::string, std::string> variables;
  std::map<std::string, Value> user_variables;  // SET @x = …

  bool read_only_listener = false;
  bool vip = false;  // may SET ro=0

  bool autocommit = true;
  bool in_transaction = false;
  storage::WriteSet pending;  // changes of the open transaction, not yet visible to anyone
  std::vector<std::shared_ptr<storage::Table>> read_locks;

  QueryMeta meta;
  std::vector<std::string> warnings;  // of the last statement (SHOW WARNINGS), code 1000
  std::string last_error;             // "error" row of SHOW META
  std::string last_insert_ids;        // comma list
  uint64_t first_insert_id = 0;       // of the OK packet

  uint32_t next_prepared_id = 1;
  std::map<uint32_t, PreparedStatement> prepared;

  // SET ro=1, or a listener with _readonly.
  bool read_only() const {
    const auto found = variables.find("session_read_only");
    return found == variables.end() ? read_only_listener : found->second == "1";
  }
};

// What a statement runs with. `warnings` become the session's when it ends; more_results says that another
// statement of the same batch follows.
struct StatementContext {
  Session::State& session;
  CancelToken& cancel;
  ResultSink& sink;
  std::string_view text;  // of this statement
  bool more_results = false;
  std::vector<std::string> warnings;

  storage::Catalog& catalog() { return *session.environment.catalog; }
  ServerView& server() { return *session.environment.server; }
  uint16_t warning_count() const;
  // Real-time table by reference (its database is checked); the error is made by the caller, texts differ.
  std::shared_ptr<storage::Table> FindTable(const TableReference& table);
  // Why FindTable() found nothing: the table is damaged, or else `unknown`.
  Status MissingTable(const TableReference& table, Status unknown);
  // For expressions: collation, time zone, now, … of this session.
  BindContext MakeBindContext(std::string table_name);
};

// A setting of the server that is a limit; 0: none.
size_t LimitSetting(const Session::State& state, std::string_view name);

// The answer of a statement without rows.
Status SendOk(StatementContext& context, uint64_t affected_rows = 0, uint64_t last_insert_id = 0);
// The answer of a statement whose rows are texts (SHOW …): every column a string; Value::Null() for SQL NULL.
Status SendRows(StatementContext& context, const std::vector<std::string>& names,
                const std::vector<std::vector<Value>>& rows);

// SQL LIKE with % and _ and backslash, without regard to ASCII case: SHOW … LIKE and WHERE … LIKE.
bool MatchesLike(std::string_view text, std::string_view pattern);

}  // namespace stoa::sql
