#include "sql/session/session.h"

#include <algorithm>
#include <charconv>

#include "sql/exec/row_source.h"
#include "sql/parser/keywords.h"
#include "sql/parser/parser.h"
#include "sql/session/session_state.h"
#include "sql/sql_error.h"
#include "sql/statements/display_order.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

constexpr size_t kMaxPreparedStatements = 100'000;

// Calls the function of the statement's kind.
struct Dispatcher {
  StatementContext& context;

  Status operator()(const SelectStatement& s) { return ExecuteSelect(s, context); }
  Status operator()(const InsertStatement& s) { return ExecuteInsert(s, context); }
  Status operator()(const UpdateStatement& s) { return ExecuteUpdate(s, context); }
  Status operator()(const DeleteStatement& s) { return ExecuteDelete(s, context); }
  Status operator()(const CreateTableStatement& s) { return ExecuteCreateTable(s, context); }
  Status operator()(const DropTableStatement& s) { return ExecuteDropTable(s, context); }
  Status operator()(const TruncateStatement& s) { return ExecuteTruncate(s, context); }
  Status operator()(const AlterTableStatement& s) { return ExecuteAlterTable(s, context); }
  Status operator()(const ShowStatement& s) { return ExecuteShow(s, context); }
  Status operator()(const SetStatement& s) { return ExecuteSet(s, context); }
  Status operator()(const TransactionStatement& s) { return ExecuteTransaction(s, context); }
  Status operator()(const FlushStatement& s) { return ExecuteFlush(s, context); }
  Status operator()(const OptimizeStatement& s) { return ExecuteOptimize(s, context); }
  Status operator()(const FreezeStatement& s) { return ExecuteFreeze(s, context); }
  Status operator()(const BackupStatement& s) { return ExecuteBackup(s, context); }
  Status operator()(const ImportTableStatement& s) { return ExecuteImportTable(s, context); }
  Status operator()(const EvictStatement& s) { return ExecuteEvict(s, context); }
  Status operator()(const LockTablesStatement& s) { return ExecuteLockTables(s, context); }
  Status operator()(const KillStatement& s) { return ExecuteKill(s, context); }
  Status operator()(const UseStatement& s) { return ExecuteUse(s, context); }
  Status operator()(const ExplainStatement& s) { return ExecuteExplain(s, context); }
  Status operator()(const CallStatement& s) { return ExecuteCall(s, context); }
  Status operator()(const NoOpStatement&) { return SendOk(context); }
  Status operator()(const UnbuiltStatement& s) { return NotSupportedYet(s.what); }
};

// SHOW WARNINGS, SHOW META and the like tell of the statement before them and leave its traces alone.
bool TellsOfThePast(const Statement& statement) { return std::holds_alternative<ShowStatement>(statement); }

// What a read-only connection may not do (features CF-09).
struct IsWrite {
  bool operator()(const InsertStatement&) const { return true; }
  bool operator()(const UpdateStatement&) const { return true; }
  bool operator()(const DeleteStatement&) const { return true; }
  bool operator()(const CreateTableStatement&) const { return true; }
  bool operator()(const DropTableStatement&) const { return true; }
  bool operator()(const TruncateStatement&) const { return true; }
  bool operator()(const AlterTableStatement&) const { return true; }
  bool operator()(const FlushStatement&) const { return true; }
  bool operator()(const OptimizeStatement&) const { return true; }
  bool operator()(const FreezeStatement&) const { return true; }
  bool operator()(const BackupStatement&) const { return true; }
  bool operator()(const ImportTableStatement&) const { return true; }
  bool operator()(const EvictStatement&) const { return true; }
  bool operator()(const LockTablesStatement&) const { return true; }
  bool operator()(const UnbuiltStatement&) const { return true; }
  bool operator()(const SetStatement& set) const {
    return std::any_of(set.assignments.begin(), set.assignments.end(),
                       [](const VariableAssignment& assignment) {
                         return assignment.scope == "global" || assignment.scope == "persist";
                       });
  }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

// Statements of a text that begin with SELECT.
size_t CountSelects(const std::vector<std::string_view>& statements) {
  return static_cast<size_t>(
      std::count_if(statements.begin(), statements.end(), [](std::string_view statement) {
        const size_t word = statement.find_first_not_of(" \t\r\n(");
        return word != std::string_view::npos && EqualsLower(statement.substr(word, 6), "select");
      }));
}

// Remembers how the last call of a sink went, to tell a sink's own failure from the statement's.
class GuardedSink : public ResultSink {
 public:
  explicit GuardedSink(ResultSink& sink) : sink_(sink) {}

  Status Columns(std::span<const ResultColumn> columns) override { return Keep(sink_.Columns(columns)); }
  Status Row(std::span<const Cell> cells) override { return Keep(sink_.Row(cells)); }
  Status End(const ResultEnd& end) override { return Keep(sink_.End(end)); }
  Status Ok(const OkInfo& ok) override { return Keep(sink_.Ok(ok)); }
  Status Error(const Status& error) override { return Keep(sink_.Error(error)); }

  bool failed() const { return failed_; }

 private:
  Status Keep(Status status) {
    failed_ = failed_ || !status.ok();
    return status;
  }

  ResultSink& sink_;
  bool failed_ = false;
};

void ReleaseLocks(Session::State& state) {
  for (const auto& table : state.read_locks) {
    table->RemoveReadLock();
  }
  state.read_locks.clear();
}

// Runs one statement and tells the sink when it fails.
Status RunStatement(Session::State& state, CancelToken& cancel, ResultSink& sink, std::string_view text,
                    std::span<const Value> parameters, bool more_results) {
  GuardedSink guarded(sink);
  cancel.SetDeadline(CancelToken::Clock::time_point::max());  // of the statement before
  StatementContext context{state, cancel, guarded, text, more_results, {}};
  Result<Statement> statement = ParseStatement(text, parameters);
  Status status = statement.status();
  bool keep_traces = false;
  if (status.ok()) {
    keep_traces = TellsOfThePast(*statement);
    if (!keep_traces) {
      state.meta = {};
      state.last_error.clear();
    }
    status = state.read_only() && std::visit(IsWrite{}, *statement)
                 ? ReadOnlyConnection()
                 : std::visit(Dispatcher{context}, *statement);
  }
  if (!status.ok() && status.code() == StatusCode::kCancelled && status.number() == 0) {
    status = QueryInterrupted();
  }
  if (!status.ok() && !keep_traces) {
    state.meta = {};
    state.last_error = ErrorText(status);
  }
  if (!keep_traces) {
    state.warnings = std::move(context.warnings);
  }
  if (!status.ok() && !guarded.failed()) {
    RETURN_IF_ERROR(guarded.Error(status));
  }
  return status;
}

}  // namespace

Session::Session(const SessionEnvironment& environment, uint64_t connection_id, std::string user)
    : state_(std::make_unique<State>()) {
  state_->environment = environment;
  state_->connection_id = connection_id;
  state_->user = std::move(user);
}

Session::~Session() { ReleaseLocks(*state_); }

Status Session::Execute(std::string_view text, ResultSink& sink) {
  const std::vector<std::string_view> statements = SplitStatements(text);
  if (const size_t limit = LimitSetting(*state_, "max_batch_queries");
      limit > 0 && statements.size() > limit && CountSelects(statements) > limit) {
    const Status error =
        LimitError("{} queries in one batch, max_batch_queries allows {}", CountSelects(statements), limit);
    RETURN_IF_ERROR(sink.Error(error));
    return error;
  }
  for (size_t i = 0; i < statements.size(); ++i) {
    RETURN_IF_ERROR(RunStatement(*state_, cancel_, sink, statements[i], {}, i + 1 < statements.size()));
  }
  return Status::Ok();
}

Result<PreparedInfo> Session::Prepare(std::string_view text) {
  if (state_->prepared.size() >= kMaxPreparedStatements) {
    return LimitError("too many prepared statements in this connection (limit {})", kMaxPreparedStatements);
  }
  const std::vector<std::string_view> statements = SplitStatements(text);
  if (statements.size() != 1) {
    return SyntaxError("a prepared statement is one statement");
  }
  ASSIGN_OR_RETURN(const Statement statement, ParseStatement(statements[0]));
  PreparedInfo info;
  ASSIGN_OR_RETURN(info.parameters, CountParameters(statements[0]));
  if (const auto* select = std::get_if<SelectStatement>(&statement)) {
    // Columns that depend on the parameters stay unknown: EXECUTE sends them anyhow.
    class NoSink : public ResultSink {
      Status Columns(std::span<const ResultColumn>) override { return Status::Ok(); }
      Status Row(std::span<const Cell>) override { return Status::Ok(); }
      Status End(const ResultEnd&) override { return Status::Ok(); }
      Status Ok(const OkInfo&) override { return Status::Ok(); }
      Status Error(const Status& error) override { return error; }
    } no_sink;
    StatementContext context{*state_, cancel_, no_sink, statements[0], false, {}};
    if (Result<std::vector<ResultColumn>> columns = DescribeSelect(*select, context); columns.ok()) {
      info.columns = std::move(columns).value();
    }
  }
  info.id = state_->next_prepared_id++;
  state_->prepared.emplace(info.id, PreparedStatement{std::string(statements[0]), info.parameters});
  return info;
}

Status Session::ExecutePrepared(uint32_t id, std::vector<Value> parameters, ResultSink& sink) {
  const auto found = state_->prepared.find(id);
  Status error;
  if (found == state_->prepared.end()) {
    error = UnknownStatement(id);
  } else if (parameters.size() != found->second.parameters) {
    error = SyntaxError(fmt::format("prepared statement {} takes {} parameters, {} given", id,
                                    found->second.parameters, parameters.size()));
  }
  if (!error.ok()) {
    RETURN_IF_ERROR(sink.Error(error));
    return error;
  }
  return RunStatement(*state_, cancel_, sink, found->second.text, parameters, false);
}

Status Session::ClosePrepared(uint32_t id) {
  return state_->prepared.erase(id) == 1 ? Status::Ok() : UnknownStatement(id);
}

Status Session::SelectDatabase(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower != "manticore" && lower != "information_schema") {
    return NoSuchDatabase(name);
  }
  state_->database = lower == "manticore" ? "Manticore" : "information_schema";
  return Status::Ok();
}

void Session::Reset(std::string user) {
  ReleaseLocks(*state_);
  auto fresh = std::make_unique<State>();
  fresh->environment = state_->environment;
  fresh->connection_id = state_->connection_id;
  fresh->user = std::move(user);
  const bool read_only = state_->read_only_listener;
  const bool vip = state_->vip;
  state_ = std::move(fresh);
  SetAccess(read_only, vip);
}

void Session::SetAccess(bool read_only, bool vip) {
  state_->read_only_listener = read_only;
  state_->vip = vip;
  if (read_only) {
    state_->variables["session_read_only"] = "1";
  }
}

Result<std::vector<ResultColumn>> Session::FieldList(std::string_view table, std::string_view pattern) {
  const std::shared_ptr<storage::Table> found = state_->environment.catalog->Find(table);
  if (found == nullptr) {
    return NoSuchTable(table);
  }
  std::vector<ResultColumn> columns;
  const std::shared_ptr<const storage::TableDefinition> definition = found->definition();
  for (const storage::ColumnDefinition* column : DisplayOrder(*definition)) {
    if (pattern.empty() || MatchesLike(column->name, pattern)) {
      ResultColumn& result = columns.emplace_back();
      result.name = column->name;
      result.original_name = column->name;
      result.table = std::string(table);
      result.type = ValueTypeOf(column->type);
    }
  }
  return columns;
}

std::optional<int64_t> Session::idle_timeout(bool interactive) const {
  const auto found = state_->variables.find(interactive ? "interactive_timeout" : "wait_timeout");
  int64_t seconds = 0;
  if (found == state_->variables.end()) {
    return std::nullopt;
  }
  const std::string& text = found->second;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return read.ec == std::errc() && seconds > 0 ? std::optional(seconds) : std::nullopt;
}

bool Session::in_transaction() const { return state_->in_transaction; }

bool Session::autocommit() const { return state_->autocommit; }

}  // namespace stoa::sql
