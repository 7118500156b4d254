#include <algorithm>
#include <array>

#include "sql/parser/statement_parser.h"

// The first word of a statement decides; then the small statements: transactions, LOCK, KILL, CALL, …
namespace stoa::sql {
namespace {

struct UnbuiltPhrase {
  std::string_view first;
  std::string_view second;  // empty: any
  std::string_view what;
};

constexpr auto kUnbuilt = std::to_array<UnbuiltPhrase>({
    {"restore", "", "RESTORE"},
    {"attach", "", "ATTACH TABLE"},
    {"reload", "", "RELOAD"},
    {"join", "cluster", "JOIN CLUSTER"},
    {"exit", "cluster", "EXIT CLUSTER"},
    {"grant", "", "GRANT"},
    {"revoke", "", "REVOKE"},
    {"token", "", "TOKEN"},
    {"enable", "buddy", "ENABLE BUDDY PLUGIN"},
    {"disable", "buddy", "DISABLE BUDDY PLUGIN"},
    {"install", "", "INSTALL PLUGIN"},
    {"uninstall", "", "UNINSTALL PLUGIN"},
    {"load", "data", "LOAD DATA"},
    {"rename", "table", "RENAME TABLE"},
    {"rename", "user", "RENAME USER"},
    {"prepare", "", "PREPARE in text"},
    {"execute", "", "EXECUTE in text"},
    {"deallocate", "", "DEALLOCATE PREPARE"},
    {"xa", "", "XA"},
    {"shutdown", "", "SHUTDOWN"},
    {"handler", "", "HANDLER"},
    {"change", "", "CHANGE REPLICATION"},
    {"purge", "", "PURGE BINARY LOGS"},
});

}  // namespace

Result<Statement> StatementParser::Parse() {
  while (AcceptSign(';')) {
  }
  if (token_.kind == TokenKind::kEnd) {
    return Statement(NoOpStatement{"empty"});
  }
  ASSIGN_OR_RETURN(Statement statement, ParseByFirstWord());
  while (AcceptSign(';')) {
  }
  while (token_.kind == TokenKind::kHint) {
    Advance();
  }
  if (token_.kind != TokenKind::kEnd) {
    return Unexpected();
  }
  if (!unbuilt_.empty()) {
    return Statement(UnbuiltStatement{std::move(unbuilt_), {}});
  }
  return statement;
}

Result<Statement> StatementParser::ParseByFirstWord() {
  using Method = Result<Statement> (StatementParser::*)();
  struct Entry {
    std::string_view word;
    std::string_view prefix;
    Method parse;
  };
  static constexpr auto kStatements = std::to_array<Entry>({
      {"select", "P01", &StatementParser::ParseSelectStatement},
      {"update", "P01", &StatementParser::ParseUpdate},
      {"delete", "P01", &StatementParser::ParseDelete},
      {"set", "P02", &StatementParser::ParseSet},
      {"show", "P02", &StatementParser::ParseShow},
      {"desc", "P01", &StatementParser::ParseDescribe},
      {"describe", "P01", &StatementParser::ParseDescribe},
      {"explain", "P01", &StatementParser::ParseExplain},
      {"create", "P03", &StatementParser::ParseCreate},
      {"drop", "P03", &StatementParser::ParseDrop},
      {"alter", "P03", &StatementParser::ParseAlter},
      {"truncate", "P01", &StatementParser::ParseTruncate},
      {"flush", "P02", &StatementParser::ParseFlush},
      {"optimize", "P01", &StatementParser::ParseOptimize},
      {"optimise", "P01", &StatementParser::ParseOptimize},
      {"freeze", "P02", &StatementParser::ParseFreeze},
      {"unfreeze", "P02", &StatementParser::ParseFreeze},
      {"backup", "P02", &StatementParser::ParseBackup},
      {"import", "P02", &StatementParser::ParseImport},
      {"lock", "P02", &StatementParser::ParseLockTables},
      {"unlock", "P02", &StatementParser::ParseUnlockTables},
      {"kill", "P02", &StatementParser::ParseKill},
      {"use", "P02", &StatementParser::ParseUse},
      {"call", "P01", &StatementParser::ParseCall},
      {"begin", "P01", &StatementParser::ParseTransaction},
      {"start", "P01", &StatementParser::ParseTransaction},
      {"commit", "P01", &StatementParser::ParseTransaction},
      {"rollback", "P01", &StatementParser::ParseTransaction},
      {"savepoint", "P01", &StatementParser::ParseTransaction},
      {"release", "P01", &StatementParser::ParseTransaction},
      {"analyze", "P01", &StatementParser::ParseMaintenance},
      {"check", "P01", &StatementParser::ParseMaintenance},
      {"checksum", "P01", &StatementParser::ParseMaintenance},
      {"repair", "P01", &StatementParser::ParseMaintenance},
      {"help", "P02", &StatementParser::ParseHelp},
      {"debug", "P02", &StatementParser::ParseDebug},
  });
  if (IsWord("insert") || IsWord("replace")) {
    prefix_ = "P01";
    return ParseInsert(IsWord("replace"));
  }
  for (const Entry& entry : kStatements) {
    if (IsWord(entry.word)) {
      prefix_ = entry.prefix;
      return (this->*entry.parse)();
    }
  }
  if (auto unbuilt = ParseUnbuilt()) {
    return std::move(*unbuilt);
  }
  if (IsSign('(') && IsWordAhead("select")) {
    prefix_ = "P01";
    Advance();
    ASSIGN_OR_RETURN(Statement statement, ParseSelectStatement());
    RETURN_IF_ERROR(ExpectSign(')'));
    return statement;
  }
  return Unexpected();
}

std::optional<Statement> StatementParser::ParseUnbuilt() {
  for (const UnbuiltPhrase& phrase : kUnbuilt) {
    if (IsWord(phrase.first) && (phrase.second.empty() || IsWordAhead(phrase.second))) {
      SkipToEnd();
      return Statement(UnbuiltStatement{std::string(phrase.what), {}});
    }
  }
  return std::nullopt;
}

Result<Statement> StatementParser::ParseTransaction() {
  using Action = TransactionStatement::Action;
  TransactionStatement transaction;
  if (AcceptWord("begin")) {
    AcceptWord("work");
  } else if (AcceptWord("start")) {
    if (!IsWord("transaction")) {
      return Unexpected();
    }
    do {
      SkipWords();  // WITH CONSISTENT SNAPSHOT, READ ONLY, …
    } while (AcceptSign(','));
  } else if (AcceptWord("commit")) {
    transaction.action = Action::kCommit;
    SkipWords();
  } else if (AcceptWord("rollback")) {
    transaction.action = Action::kRollback;
    AcceptWord("work");
    if (AcceptWord("to")) {
      transaction.action = Action::kRollbackToSavepoint;
      if (!IsWordAhead("release") && IsWord("savepoint") && Ahead().kind != TokenKind::kEnd) {
        Advance();
      }
      RETURN_IF_ERROR(ParseName().status());
    } else {
      SkipWords();
    }
  } else if (AcceptWord("savepoint")) {
    transaction.action = Action::kSavepoint;
    RETURN_IF_ERROR(ParseName().status());
  } else {
    Advance();
    transaction.action = Action::kReleaseSavepoint;
    RETURN_IF_ERROR(ExpectWord("savepoint"));
    RETURN_IF_ERROR(ParseName().status());
  }
  return Statement(transaction);
}

// LOCK TABLES t [AS a] READ [LOCAL] | [LOW_PRIORITY] WRITE, …
Result<Statement> StatementParser::ParseLockTables() {
  Advance();
  RETURN_IF_ERROR(ExpectWord("tables"));
  LockTablesStatement lock;
  do {
    LockTablesStatement::Lock one;
    ASSIGN_OR_RETURN(one.table, ParseTableName());
    if (AcceptWord("as") || !IsAnyWord({"read", "write", "low_priority"})) {
      ASSIGN_OR_RETURN(one.table.alias, ParseName());
    }
    AcceptWord("low_priority");
    if (AcceptWord("read")) {
      AcceptWord("local");
    } else {
      RETURN_IF_ERROR(ExpectWord("write"));
      one.write = true;
    }
    lock.locks.push_back(std::move(one));
  } while (AcceptSign(','));
  return Statement(std::move(lock));
}

Result<Statement> StatementParser::ParseUnlockTables() {
  Advance();
  if (!AcceptWord("table")) {
    RETURN_IF_ERROR(ExpectWord("tables"));
  }
  LockTablesStatement unlock;
  unlock.unlock = true;
  return Statement(std::move(unlock));
}

Result<Statement> StatementParser::ParseKill() {
  Advance();
  KillStatement kill;
  if (AcceptWord("query")) {
    kill.query_only = true;
  } else {
    AcceptWord("connection");
  }
  ASSIGN_OR_RETURN(kill.id, ParseUnsigned());
  return Statement(kill);
}

Result<Statement> StatementParser::ParseUse() {
  Advance();
  UseStatement use;
  if (token_.kind == TokenKind::kIdentifier) {
    use.database = Bytes();
  } else if (token_.kind == TokenKind::kQuotedName) {
    use.database = Lexer::Unquote(Bytes(), token_.has_escapes);
  } else {
    return Unexpected();
  }
  Advance();
  return Statement(std::move(use));
}

// CALL proc('a', ('b', 'c'), 1 AS stats).
Result<Statement> StatementParser::ParseCall() {
  Advance();
  CallStatement call;
  ASSIGN_OR_RETURN(call.procedure, ParseAnyWord());
  if (!AcceptSign('(')) {
    return AtEnd() ? Result<Statement>(Statement(std::move(call))) : Unexpected();
  }
  if (!IsSign(')')) {
    do {
      const uint32_t begin = token_.begin;
      ASSIGN_OR_RETURN(ParsedExprPtr value, ParseConstant(NullPolicy::kAccept));
      if (!AcceptWord("as")) {
        call.args.push_back(std::move(value));
        continue;
      }
      ParsedOption option;
      ASSIGN_OR_RETURN(option.name, ParseAnyWord());
      option.value = std::move(value);
      option.range = {begin, previous_end_};
      call.options.push_back(std::move(option));
    } while (AcceptSign(','));
  }
  RETURN_IF_ERROR(ExpectSign(')'));
  RETURN_IF_ERROR(ParseOptionsIfAny(call.options));
  return Statement(std::move(call));
}

// ANALYZE | CHECK | CHECKSUM | REPAIR TABLE t, …: answered with a row per table, as MySQL's tools expect.
Result<Statement> StatementParser::ParseMaintenance() {
  ShowStatement show;
  ASSIGN_OR_RETURN(const std::string verb, ParseAnyWord());
  show.what = verb + " table";
  if (IsAnyWord({"no_write_to_binlog", "local"})) {
    Advance();
  }
  if (!AcceptWord("table")) {
    RETURN_IF_ERROR(ExpectWord("tables"));
  }
  ASSIGN_OR_RETURN(std::vector<TableReference> tables, ParseTableNames());
  for (const TableReference& table : tables) {
    show.argument += (show.argument.empty() ? "" : ",") + table.name;
  }
  show.table = std::move(tables.front());
  SkipWords();  // QUICK, FAST, FOR UPGRADE, …
  return Statement(std::move(show));
}

Result<Statement> StatementParser::ParseHelp() {
  Advance();
  ShowStatement show;
  show.what = "help";
  if (!AtEnd()) {
    ASSIGN_OR_RETURN(show.argument, ParseTextOrWord());
  }
  return Statement(std::move(show));
}

}  // namespace stoa::sql
