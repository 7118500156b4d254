#include <algorithm>

#include "sql/parser/statement_parser.h"

// INSERT, REPLACE, UPDATE, DELETE.
namespace stoa::sql {

Result<Statement> StatementParser::ParseInsert(bool replace) {
  InsertStatement insert;
  insert.replace = replace;
  Advance();
  while (token_.kind == TokenKind::kHint || IsAnyWord({"low_priority", "delayed", "high_priority"})) {
    Advance();
  }
  RETURN_IF_ERROR(ExpectWord("into"));
  ASSIGN_OR_RETURN(insert.table, ParseTableName());
  if (AcceptWord("set")) {
    RETURN_IF_ERROR(ParseInsertSet(insert));
  } else {
    if (IsSign('(') && !IsWordAhead("select")) {
      RETURN_IF_ERROR(ParseInsertColumns(insert));
    }
    if (IsWord("select")) {
      ASSIGN_OR_RETURN(insert.select, ParseSelect());
    } else if (IsSign('(') && IsWordAhead("select")) {
      Advance();
      ASSIGN_OR_RETURN(insert.select, ParseSelect());
      RETURN_IF_ERROR(ExpectSign(')'));
    } else {
      if (!AcceptWord("values")) {
        RETURN_IF_ERROR(ExpectWord("value"));
      }
      RETURN_IF_ERROR(ParseInsertRows(insert));
    }
  }
  RETURN_IF_ERROR(ParseOptionsIfAny(insert.options));
  return Statement(std::move(insert));
}

Status StatementParser::ParseInsertColumns(InsertStatement& insert) {
  Advance();
  if (AcceptSign(')')) {
    return Status::Ok();
  }
  do {
    const uint32_t begin = token_.begin;
    ASSIGN_OR_RETURN(std::string column, ParseName());
    insert.columns.push_back(std::move(column));
    insert.column_ranges.push_back({begin, previous_end_});
  } while (AcceptSign(','));
  return ExpectSign(')');
}

Status StatementParser::ParseInsertRows(InsertStatement& insert) {
  size_t width = insert.columns.size();
  do {
    RETURN_IF_ERROR(ExpectSign('('));
    std::vector<ParsedExprPtr>& row = insert.rows.emplace_back();
    row.reserve(width);
    if (!IsSign(')')) {
      do {
        ASSIGN_OR_RETURN(ParsedExprPtr value, ParseConstant(NullPolicy::kAccept));
        row.push_back(std::move(value));
      } while (AcceptSign(','));
    }
    width = std::max(width, row.size());
    RETURN_IF_ERROR(ExpectSign(')'));
  } while (AcceptSign(','));
  return Status::Ok();
}

// SET a = 1, b = 'x' [WHERE id = n]: a partial REPLACE; in INSERT another way to write one row.
Status StatementParser::ParseInsertSet(InsertStatement& insert) {
  insert.is_partial = insert.replace;
  std::vector<ParsedExprPtr>& row = insert.rows.emplace_back();
  do {
    const uint32_t begin = token_.begin;
    ASSIGN_OR_RETURN(std::string column, ParseName());
    insert.columns.push_back(std::move(column));
    insert.column_ranges.push_back({begin, previous_end_});
    RETURN_IF_ERROR(ExpectSign('='));
    ASSIGN_OR_RETURN(ParsedExprPtr value, ParseConstant(NullPolicy::kAccept));
    row.push_back(std::move(value));
  } while (AcceptSign(','));
  if (!insert.replace) {
    return Status::Ok();
  }
  RETURN_IF_ERROR(ExpectWord("where"));
  ASSIGN_OR_RETURN(insert.where, ParseFilter());
  return Status::Ok();
}

Result<Statement> StatementParser::ParseUpdate() {
  UpdateStatement update;
  Advance();
  while (token_.kind == TokenKind::kHint || IsAnyWord({"low_priority"})) {
    Advance();
  }
  ASSIGN_OR_RETURN(update.table, ParseTableName());
  RETURN_IF_ERROR(ExpectWord("set"));
  do {
    ASSIGN_OR_RETURN(Assignment assignment, ParseAssignment());
    update.assignments.push_back(std::move(assignment));
  } while (AcceptSign(','));
  if (AcceptWord("where")) {
    ASSIGN_OR_RETURN(update.where, ParseFilter());
  }
  RETURN_IF_ERROR(ParseOptionsIfAny(update.options));
  while (token_.kind == TokenKind::kHint) {
    RETURN_IF_ERROR(ParseHint(update.hints));
  }
  return Statement(std::move(update));
}

// column[.path] = constant.
Result<Assignment> StatementParser::ParseAssignment() {
  Assignment assignment;
  assignment.range.begin = token_.begin;
  ASSIGN_OR_RETURN(ParsedExprPtr target, ParseColumn());
  if (target->kind != ParsedKind::kColumn) {
    return Unexpected();
  }
  assignment.column = std::move(target->name);
  assignment.path = std::move(target->path);
  RETURN_IF_ERROR(ExpectSign('='));
  ASSIGN_OR_RETURN(assignment.value, ParseConstant(NullPolicy::kAccept));
  assignment.range.end = previous_end_;
  return assignment;
}

Result<Statement> StatementParser::ParseDelete() {
  Advance();
  if (IsWord("cluster") && !IsWordAhead("from")) {
    SkipToEnd();
    return Statement(UnbuiltStatement{"DELETE CLUSTER", {}});
  }
  DeleteStatement remove;
  while (token_.kind == TokenKind::kHint || IsAnyWord({"low_priority", "quick"})) {
    Advance();
  }
  RETURN_IF_ERROR(ExpectWord("from"));
  ASSIGN_OR_RETURN(remove.table, ParseTableName());
  RETURN_IF_ERROR(ExpectWord("where"));
  ASSIGN_OR_RETURN(remove.where, ParseFilter());
  RETURN_IF_ERROR(ParseOptionsIfAny(remove.options));
  return Statement(std::move(remove));
}

}  // namespace stoa::sql
