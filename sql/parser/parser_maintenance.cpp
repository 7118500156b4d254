#include "sql/parser/statement_parser.h"

// Statements about the files of tables: FLUSH, OPTIMIZE, FREEZE, BACKUP, IMPORT TABLE, DEBUG EVICT VECTORS.
namespace stoa::sql {

Result<Statement> StatementParser::ParseFlush() {
  Advance();
  FlushStatement flush;
  if (IsAnyWord({"no_write_to_binlog", "local"})) {
    Advance();
  }
  if (IsAnyWord({"ramchunk", "rtindex"}) ||
      (IsAnyWord({"table", "tables"}) && Ahead().kind != TokenKind::kEnd && !IsSignAhead(';') &&
       !IsWordAhead("with"))) {
    flush.what = IsWord("ramchunk") ? "ramchunk" : "table";
    Advance();
    ASSIGN_OR_RETURN(flush.tables, ParseTableNames());
    SkipWords();  // WITH READ LOCK
    return Statement(std::move(flush));
  }
  if (token_.kind != TokenKind::kIdentifier) {
    return Unexpected();
  }
  if (IsAnyWord({"table", "tables"})) {
    flush.what = "tables";
    SkipWords();
    return Statement(std::move(flush));
  }
  if (!IsAnyWord({"attributes", "logs", "hostnames", "hosts", "privileges", "status", "binary", "engine",
                  "error", "general", "slow", "relay", "user_resources", "optimizer_costs", "query",
                  "des_key_file"})) {
    return Unexpected();
  }
  do {
    flush.what = SkipWords();
  } while (AcceptSign(','));
  return Statement(std::move(flush));
}

Result<Statement> StatementParser::ParseOptimize() {
  Advance();
  OptimizeStatement optimize;
  if (IsAnyWord({"no_write_to_binlog", "local"})) {
    Advance();
  }
  if (!AcceptWord("table") && !AcceptWord("index")) {
    return Unexpected();
  }
  ASSIGN_OR_RETURN(optimize.table, ParseTableName());
  RETURN_IF_ERROR(ParseOptionsIfAny(optimize.options));
  return Statement(std::move(optimize));
}

// FREEZE t, … and UNFREEZE t, ….
Result<Statement> StatementParser::ParseFreeze() {
  FreezeStatement freeze;
  freeze.unfreeze = IsWord("unfreeze");
  Advance();
  ASSIGN_OR_RETURN(freeze.tables, ParseTableNames());
  return Statement(std::move(freeze));
}

// A path in quotes, or bare up to the next blank: BACKUP TO /var/backups.
Result<std::string> StatementParser::ParseFolder() {
  if (token_.kind == TokenKind::kString || token_.kind == TokenKind::kParameter) {
    return ParseText();
  }
  const auto is_part = [this] {
    return !AtEnd() && token_.kind != TokenKind::kUnterminated && token_.kind != TokenKind::kHint;
  };
  if (!is_part()) {
    return Unexpected();
  }
  const uint32_t begin = token_.begin;
  do {
    Advance();
  } while (is_part() && token_.begin == previous_end_);
  return std::string(lexer_.text().substr(begin, previous_end_ - begin));
}

// BACKUP [TABLE[S] a, …] [OPTION[S] …] TO folder [OPTION[S] …].
Result<Statement> StatementParser::ParseBackup() {
  Advance();
  BackupStatement backup;
  if (IsAnyWord({"table", "tables"})) {
    Advance();
    ASSIGN_OR_RETURN(backup.tables, ParseTableNames());
  }
  const auto parse_options = [&] {
    return AcceptWord("option") || AcceptWord("options") ? ParseOptions(backup.options) : Status::Ok();
  };
  RETURN_IF_ERROR(parse_options());
  RETURN_IF_ERROR(ExpectWord("to"));
  ASSIGN_OR_RETURN(backup.folder, ParseFolder());
  RETURN_IF_ERROR(parse_options());
  return Statement(std::move(backup));
}

// IMPORT TABLE t FROM 'path'.
Result<Statement> StatementParser::ParseImport() {
  Advance();
  ImportTableStatement import;
  RETURN_IF_ERROR(ExpectWord("table"));
  ASSIGN_OR_RETURN(import.table, ParseTableName());
  RETURN_IF_ERROR(ExpectWord("from"));
  ASSIGN_OR_RETURN(import.path, ParseFolder());
  return Statement(std::move(import));
}

// DEBUG EVICT VECTORS t.
Result<Statement> StatementParser::ParseDebug() {
  if (!IsWordAhead("evict")) {
    SkipToEnd();
    return Statement(UnbuiltStatement{"DEBUG", {}});
  }
  Advance();
  Advance();
  RETURN_IF_ERROR(ExpectWord("vectors"));
  EvictStatement evict;
  ASSIGN_OR_RETURN(evict.table, ParseTableName());
  return Statement(std::move(evict));
}

}  // namespace stoa::sql
