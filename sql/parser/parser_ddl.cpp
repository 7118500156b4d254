#include "sql/parser/statement_parser.h"

// CREATE, DROP, TRUNCATE. ALTER is in parser_alter.cpp.
namespace stoa::sql {

Result<Statement> StatementParser::ParseCreate() {
  Advance();
  if (AcceptWord("table")) {
    return ParseCreateTable();
  }
  return ParseCreateOther();
}

// CREATE DATABASE is accepted (there is one); other objects are not built.
Result<Statement> StatementParser::ParseCreateOther() {
  if (AcceptWord("or")) {
    RETURN_IF_ERROR(ExpectWord("replace"));
  }
  if (IsAnyWord({"database", "schema"})) {
    SkipToEnd();
    return Statement(NoOpStatement{"create database"});
  }
  for (std::string_view word :
       {"unique", "fulltext", "spatial", "temporary", "materialized", "chat", "buddy"}) {
    AcceptWord(word);
  }
  if (IsAnyWord({"user", "function", "plugin", "cluster", "index", "view", "trigger", "procedure", "event",
                 "source", "role", "server", "model", "table", "algorithm", "definer", "sql",
                 "tablespace"})) {
    std::string what = "CREATE " + LowerText(token_.begin, token_.end);
    for (char& c : what) {
      c = c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
    }
    SkipToEnd();
    return Statement(UnbuiltStatement{std::move(what), {}});
  }
  return Unexpected();
}

// Behind CREATE TABLE.
Result<Statement> StatementParser::ParseCreateTable() {
  CreateTableStatement create;
  if (AcceptWord("if")) {
    RETURN_IF_ERROR(ExpectWord("not"));
    RETURN_IF_ERROR(ExpectWord("exists"));
    create.if_not_exists = true;
  }
  ASSIGN_OR_RETURN(create.table, ParseTableName());
  if (AcceptWord("like")) {
    ASSIGN_OR_RETURN(TableReference source, ParseTableName());
    create.like = std::move(source.name);
    if (AcceptWord("with")) {
      RETURN_IF_ERROR(ExpectWord("data"));
      create.with_data = true;
    }
    return Statement(std::move(create));
  }
  if (AcceptSign('(')) {
    if (!IsSign(')')) {
      do {
        ASSIGN_OR_RETURN(ParsedColumn column, ParseColumnDefinition());
        create.columns.push_back(std::move(column));
      } while (AcceptSign(','));
    }
    RETURN_IF_ERROR(ExpectSign(')'));
  }
  while (!AtEnd()) {
    ASSIGN_OR_RETURN(ParsedOption setting, ParseSetting());
    create.settings.push_back(std::move(setting));
  }
  return Statement(std::move(create));
}

Result<ParsedColumn> StatementParser::ParseColumnDefinition() {
  ParsedColumn column;
  column.range.begin = token_.begin;
  ASSIGN_OR_RETURN(column.name, ParseName());
  RETURN_IF_ERROR(ParseColumnType(column));
  RETURN_IF_ERROR(ParseColumnAttributes(column));
  column.range.end = previous_end_;
  return column;
}

// int, bit(4), int:4, varchar(20).
Status StatementParser::ParseColumnType(ParsedColumn& column) {
  ASSIGN_OR_RETURN(column.type, ParseName());
  if (AcceptSign(':')) {
    ASSIGN_OR_RETURN(column.type_argument, ParseUnsigned());
  } else if (AcceptSign('(')) {
    ASSIGN_OR_RETURN(column.type_argument, ParseUnsigned());
    while (AcceptSign(',')) {
      RETURN_IF_ERROR(ParseUnsigned().status());
    }
    RETURN_IF_ERROR(ExpectSign(')'));
  }
  return Status::Ok();
}

// Flags (indexed, stored, attribute) and name='value' options, in any order.
Status StatementParser::ParseColumnAttributes(ParsedColumn& column) {
  while (token_.kind == TokenKind::kIdentifier) {
    if (IsSignAhead('=')) {
      ASSIGN_OR_RETURN(ParsedOption option, ParseSetting());
      column.options.push_back(std::move(option));
    } else if (IsAnyWord({"indexed", "stored", "attribute"})) {
      ASSIGN_OR_RETURN(std::string flag, ParseAnyWord());
      column.flags.push_back(std::move(flag));
    } else {
      return Unexpected();
    }
  }
  return Status::Ok();
}

Result<ParsedOption> StatementParser::ParseSetting() {
  ParsedOption setting;
  setting.range.begin = token_.begin;
  ASSIGN_OR_RETURN(setting.name, ParseAnyWord());
  RETURN_IF_ERROR(ExpectSign('='));
  if (token_.kind == TokenKind::kIdentifier || token_.kind == TokenKind::kQuotedName) {
    setting.value = MakeNode(ParsedKind::kColumn, token_.begin);
    ASSIGN_OR_RETURN(setting.value->name, ParseAnyWord());
  } else {
    ASSIGN_OR_RETURN(setting.value, ParseConstant(NullPolicy::kRefuse));
  }
  setting.range.end = previous_end_;
  return setting;
}

Result<Statement> StatementParser::ParseDrop() {
  Advance();
  if (AcceptWord("table")) {
    DropTableStatement drop;
    if (AcceptWord("if")) {
      RETURN_IF_ERROR(ExpectWord("exists"));
      drop.if_exists = true;
    }
    ASSIGN_OR_RETURN(drop.tables, ParseTableNames());
    if (!AcceptWord("restrict")) {
      AcceptWord("cascade");
    }
    return Statement(std::move(drop));
  }
  if (IsAnyWord({"database", "schema"})) {
    const bool if_exists = IsWordAhead("if");
    SkipToEnd();
    return if_exists ? Statement(NoOpStatement{"drop database"})
                     : Statement(UnbuiltStatement{"DROP DATABASE", {}});
  }
  if (IsAnyWord({"view", "trigger", "procedure", "function", "event"}) && IsWordAhead("if")) {
    SkipToEnd();  // there is none of them: what dumps say before they create one
    return Statement(NoOpStatement{"drop"});
  }
  if (IsAnyWord({"user", "function", "plugin", "cluster", "index", "view", "trigger", "procedure", "event",
                 "source", "role", "server", "materialized", "chat", "cache", "prepare"})) {
    std::string what = "DROP " + LowerText(token_.begin, token_.end);
    for (char& c : what) {
      c = c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
    }
    SkipToEnd();
    return Statement(UnbuiltStatement{std::move(what), {}});
  }
  return Unexpected();
}

Result<Statement> StatementParser::ParseTruncate() {
  TruncateStatement truncate;
  Advance();
  if (!AcceptWord("table") && !AcceptWord("rtindex")) {
    return Unexpected();
  }
  ASSIGN_OR_RETURN(truncate.table, ParseTableName());
  if (AcceptWord("with")) {
    RETURN_IF_ERROR(ExpectWord("reconfigure"));
    truncate.with_reconfigure = true;
  }
  return Statement(std::move(truncate));
}

}  // namespace stoa::sql
