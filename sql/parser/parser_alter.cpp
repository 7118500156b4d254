#include "sql/parser/statement_parser.h"

namespace stoa::sql {

Result<Statement> StatementParser::ParseAlter() {
  Advance();
  if (IsAnyWord({"cluster", "user", "database", "schema", "view", "event", "function", "procedure", "source",
                 "materialized", "chat"})) {
    std::string what = "ALTER " + LowerText(token_.begin, token_.end);
    for (char& c : what) {
      c = c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
    }
    SkipToEnd();
    return Statement(UnbuiltStatement{std::move(what), {}});
  }
  RETURN_IF_ERROR(ExpectWord("table"));
  AlterTableStatement alter;
  ASSIGN_OR_RETURN(alter.table, ParseTableName());
  if (IsAnyWord({"disable", "enable"}) && IsWordAhead("keys")) {
    SkipWords();  // dumps say so around their rows
    return Statement(NoOpStatement{"alter table keys"});
  }
  RETURN_IF_ERROR(ParseAlterAction(alter));
  return Statement(std::move(alter));
}

Status StatementParser::ParseAlterAction(AlterTableStatement& alter) {
  using Action = AlterTableStatement::Action;
  if (IsSignAhead('=')) {
    alter.action = Action::kSettings;
    do {
      ASSIGN_OR_RETURN(ParsedOption setting, ParseSetting());
      alter.settings.push_back(std::move(setting));
      AcceptSign(',');
    } while (!AtEnd());
    return Status::Ok();
  }
  if (AcceptWord("add")) {
    return ParseAlterAdd(alter);
  }
  if (AcceptWord("drop")) {
    alter.action = Action::kDropColumn;
    AcceptWord("column");
    ASSIGN_OR_RETURN(alter.column.name, ParseName());
    return Status::Ok();
  }
  if (AcceptWord("modify")) {
    return ParseAlterModify(alter);
  }
  if (AcceptWord("rename")) {
    return ParseAlterRename(alter);
  }
  if (AcceptWord("rebuild")) {
    return ParseAlterRebuild(alter);
  }
  if (AcceptWord("reconfigure")) {
    alter.action = Action::kReconfigure;
    return Status::Ok();
  }
  return Unexpected();
}

Status StatementParser::ParseAlterAdd(AlterTableStatement& alter) {
  alter.action = AlterTableStatement::Action::kAddColumn;
  // A column may itself be named "column".
  if (IsWord("column") &&
      (Ahead().kind == TokenKind::kQuotedName || Ahead().kind == TokenKind::kIdentifier)) {
    Advance();
  }
  ASSIGN_OR_RETURN(alter.column, ParseColumnDefinition());
  return Status::Ok();
}

// MODIFY COLUMN c bigint, or MODIFY COLUMN c api_key='…'.
Status StatementParser::ParseAlterModify(AlterTableStatement& alter) {
  alter.action = AlterTableStatement::Action::kModifyColumn;
  AcceptWord("column");
  alter.column.range.begin = token_.begin;
  ASSIGN_OR_RETURN(alter.column.name, ParseName());
  if (!IsSignAhead('=')) {
    RETURN_IF_ERROR(ParseColumnType(alter.column));
  }
  RETURN_IF_ERROR(ParseColumnAttributes(alter.column));
  alter.column.range.end = previous_end_;
  return Status::Ok();
}

// RENAME [TO|AS] new, or RENAME COLUMN a TO b.
Status StatementParser::ParseAlterRename(AlterTableStatement& alter) {
  using Action = AlterTableStatement::Action;
  if (IsWord("column") && Ahead().kind != TokenKind::kEnd && !IsSignAhead(';')) {
    Advance();
    alter.action = Action::kRenameColumn;
    ASSIGN_OR_RETURN(alter.column.name, ParseName());
    RETURN_IF_ERROR(ExpectWord("to"));
    ASSIGN_OR_RETURN(alter.new_name, ParseName());
    return Status::Ok();
  }
  alter.action = Action::kRenameTable;
  if ((IsWord("to") || IsWord("as")) && Ahead().kind != TokenKind::kEnd && !IsSignAhead(';')) {
    Advance();
  }
  ASSIGN_OR_RETURN(TableReference renamed, ParseTableName());
  alter.new_name = std::move(renamed.name);
  return Status::Ok();
}

Status StatementParser::ParseAlterRebuild(AlterTableStatement& alter) {
  using Action = AlterTableStatement::Action;
  if (AcceptWord("secondary")) {
    alter.action = Action::kRebuildSecondary;
  } else if (AcceptWord("knn")) {
    alter.action = Action::kRebuildKnn;
  } else if (AcceptWord("embeddings")) {
    alter.action = Action::kRebuildEmbeddings;
    if (!AtEnd()) {
      ASSIGN_OR_RETURN(alter.column.name, ParseName());
    }
  } else {
    return Unexpected();
  }
  return Status::Ok();
}

}  // namespace stoa::sql
