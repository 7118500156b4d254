#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knn/search/table_search.h"
#include "sql/bind/name_scope.h"
#include "sql/parser/ast.h"
#include "sql/server_view.h"
#include "sql/session/result_sink.h"
#include "storage/base/cancel_token.h"
#include "storage/table/catalog.h"

namespace stoa::sql {

// What SHOW META and SHOW PROFILE say of the last query.
struct QueryMeta {
  struct Stage {
    std::string_view name;
    double seconds = 0;
  };
  std::vector<NamedValue> rows;
  std::optional<knn::SearchStatistics> knn;
  std::vector<Stage> stages;
};

struct PreparedInfo {
  uint32_t id = 0;
  size_t parameters = 0;
  std::vector<ResultColumn>
      columns;  // empty when the statement gives no rows or they are not known before it runs
};

// Things that live as long as the server; all outlive every session.
struct SessionEnvironment {
  storage::Catalog* catalog = nullptr;
  ServerView* server = nullptr;
  const Clock* clock = nullptr;
};

// One client's SQL state: variables, transaction, locks, last meta and warnings, prepared statements.
// One statement at a time (any thread); cancel() may be used from any thread meanwhile.
class Session {
 public:
  Session(const SessionEnvironment& environment, uint64_t connection_id, std::string user);
  ~Session();  // rolls back, unlocks
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs every statement of `text` in order; results go to `sink`. An error ends the batch: it is sent to the
  // sink and returned. A returned error that the sink itself gave was not sent.
  Status Execute(std::string_view text, ResultSink& sink);

  Result<PreparedInfo> Prepare(std::string_view text);
  Status ExecutePrepared(uint32_t id, std::vector<Value> parameters, ResultSink& sink);
  Status ClosePrepared(uint32_t id);  // NotFound (1243)

  // COM_INIT_DB, CONNECT_WITH_DB: 1046 "no such database x" unless it is Manticore or information_schema.
  Status SelectDatabase(std::string_view name);
  // COM_RESET_CONNECTION, COM_CHANGE_USER: as after connect.
  void Reset(std::string user);
  // What the listener says of its connections: no writes; may leave the read-only mode again. Survives
  // Reset().
  void SetAccess(bool read_only, bool vip);
  // COM_FIELD_LIST.
  Result<std::vector<ResultColumn>> FieldList(std::string_view table, std::string_view pattern);

  CancelToken& cancel() { return cancel_; }
  bool in_transaction() const;
  // SET wait_timeout (or interactive_timeout) of this session, in seconds; none: the server's.
  std::optional<int64_t> idle_timeout(bool interactive) const;
  bool autocommit() const;

  struct State;  // session/session_state.h; for sql's own files

 private:
  CancelToken cancel_;
  std::unique_ptr<State> state_;
};

}  // namespace stoa::sql
