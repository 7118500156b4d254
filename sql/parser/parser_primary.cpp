#include <utility>

#include "sql/parser/keywords.h"
#include "sql/parser/statement_parser.h"

// Operands: literals, columns with JSON paths, variables, CASE, CAST, sub-selects.
namespace stoa::sql {
namespace {

// Functions that SQL writes without parentheses.
constexpr std::string_view kBareFunctions[] = {"current_date", "current_time", "current_timestamp",
                                               "current_user", "localtime",    "localtimestamp",
                                               "utc_date",     "utc_time",     "utc_timestamp"};

bool IsIntervalUnit(std::string_view word) {
  for (std::string_view unit :
       {"microsecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"}) {
    if (EqualsLower(word, unit)) {
      return true;
    }
  }
  return false;
}

bool IsCharsetIntroducer(std::string_view word) {
  for (std::string_view name : {"_utf8", "_utf8mb4", "_utf8mb3", "_latin1", "_binary", "_ascii", "n"}) {
    if (EqualsLower(word, name)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<ParsedExprPtr> StatementParser::ParsePrimary() {
  switch (token_.kind) {
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return ParseNumber();
    case TokenKind::kString:
      return ParseString();
    case TokenKind::kParameter:
    case TokenKind::kVectorParameter:
      return ParseParameter();
    case TokenKind::kSign:
      return ParseSignPrimary();
    case TokenKind::kQuotedName:
      return IsSignAhead('(') ? ParseFunction() : ParseColumn();
    case TokenKind::kIdentifier:
      return ParseWordPrimary();
    default:
      return Unexpected();
  }
}

Result<ParsedExprPtr> StatementParser::ParseSignPrimary() {
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  switch (token_.sign) {
    case '(':
      return IsWordAhead("select") ? ParseSubquery() : ParseParenthesis();
    case '[':
      return ParseArray();
    case '@':
      return ParseUserVariable();
    case sign::kAtAt:
      return ParseSystemVariable();
    default:
      return Unexpected();
  }
}

// (expr), or (a, b, …) as a list.
Result<ParsedExprPtr> StatementParser::ParseParenthesis() {
  const uint32_t begin = token_.begin;
  Advance();
  ParsedExprPtr list = MakeNode(ParsedKind::kList, begin);
  bool is_list = false;
  do {
    if (token_.kind == TokenKind::kVectorParameter) {
      is_list = true;
      RETURN_IF_ERROR(AppendVectorParameter(list->args));
      continue;
    }
    ASSIGN_OR_RETURN(ParsedExprPtr item, ParseExpr());
    is_list = is_list || IsSign(',');
    list->args.push_back(std::move(item));
  } while (AcceptSign(','));
  RETURN_IF_ERROR(ExpectSign(')'));
  if (!is_list) {
    return std::move(list->args.front());
  }
  return Finish(std::move(list));
}

Result<ParsedExprPtr> StatementParser::ParseSubquery() {
  ParsedExprPtr node = MakeNode(ParsedKind::kSubquery, token_.begin);
  RETURN_IF_ERROR(ExpectSign('('));
  const bool outer = std::exchange(in_where_, false);
  auto select = ParseSelect();
  in_where_ = outer;
  if (!select.ok()) {
    return select.status();
  }
  node->subquery = std::move(select).value();
  RETURN_IF_ERROR(ExpectSign(')'));
  return Finish(std::move(node));
}

Result<ParsedExprPtr> StatementParser::ParseWordPrimary() {
  bool special = true;
  auto node = ParseSpecialWord(&special);
  if (special) {
    return node;
  }
  if (IsSignAhead('(')) {
    // Of the reserved words only these are also functions.
    if (IsReservedWord(Bytes()) && !IsAnyWord({"in", "mod", "left", "facet", "hybrid_match"})) {
      return Unexpected();
    }
    return ParseFunction();
  }
  if (Ahead().kind == TokenKind::kString && ahead_.begin == token_.end && EqualsLower(Bytes(), "x")) {
    return ErrorNear("hexadecimal strings are written as 0x…", token_);
  }
  if (Ahead().kind == TokenKind::kString && IsCharsetIntroducer(Bytes())) {
    Advance();
    return ParseString();
  }
  for (std::string_view name : kBareFunctions) {
    if (IsWord(name)) {
      ParsedExprPtr call = MakeNode(ParsedKind::kFunction, token_.begin);
      call->name = name;
      Advance();
      return Finish(std::move(call));
    }
  }
  return ParseColumn();
}

// Words with a grammar of their own. `special` becomes false when this is none of them.
Result<ParsedExprPtr> StatementParser::ParseSpecialWord(bool* special) {
  const uint32_t begin = token_.begin;
  if (IsAnyWord({"null", "true", "false"})) {
    ParsedExprPtr node = MakeNode(IsWord("null") ? ParsedKind::kNull : ParsedKind::kBool, begin);
    node->integer = IsWord("true") ? 1 : 0;
    node->unsigned_integer = static_cast<uint64_t>(node->integer);
    Advance();
    return Finish(std::move(node));
  }
  if (IsWord("case")) {
    return ParseCase();
  }
  const bool call = IsSignAhead('(');
  if (call && IsAnyWord({"cast", "convert"})) {
    return ParseCast();
  }
  if (IsWord("interval") && !IsSignAhead(',') && !IsSignAhead(')')) {
    const TokenKind next = Ahead().kind;
    if (call || next == TokenKind::kInteger || next == TokenKind::kParameter || next == TokenKind::kString ||
        IsSignAhead('-') || (next == TokenKind::kIdentifier && !IsClauseWord(lexer_.Bytes(ahead_)))) {
      return ParseInterval();
    }
  }
  if (call && in_where_ && IsWord("match")) {
    return ParseMatch();
  }
  if (call && IsWord("knn")) {
    return in_where_
               ? ParseKnn()
               : ErrorNear("syntax error, knn() can stand in a WHERE only, joined to it by AND", token_);
  }
  if (IsWord("binary") && (Ahead().kind == TokenKind::kString || Ahead().kind == TokenKind::kQuotedName)) {
    Advance();
    return ParsePrimary();
  }
  *special = false;
  return Status(StatusCode::kInternal, "no special word");
}

Result<ParsedExprPtr> StatementParser::ParseColumn() {
  ParsedExprPtr node = MakeNode(ParsedKind::kColumn, token_.begin);
  ASSIGN_OR_RETURN(node->name, ParseName());
  RETURN_IF_ERROR(ParsePath(*node));
  while (AcceptWord("collate")) {
    RETURN_IF_ERROR(ParseTextOrWord().status());
  }
  return Finish(std::move(node));
}

// .name, .*, [3], ['name'] after a name.
Status StatementParser::ParsePath(ParsedExpr& node) {
  for (;;) {
    storage::JsonStep step;
    if (AcceptSign('.')) {
      if (AcceptSign('*')) {
        node.kind = ParsedKind::kStar;
        return Status::Ok();
      }
      if (token_.kind != TokenKind::kIdentifier && token_.kind != TokenKind::kQuotedName) {
        return Unexpected();
      }
      step.name = token_.kind == TokenKind::kIdentifier ? std::string(Bytes())
                                                        : Lexer::Unquote(Bytes(), token_.has_escapes);
      Advance();
    } else if (IsSign('[')) {
      Advance();
      if (token_.kind == TokenKind::kString) {
        ASSIGN_OR_RETURN(step.name, ParseText());
      } else {
        ASSIGN_OR_RETURN(step.index, ParseUnsigned());
      }
      RETURN_IF_ERROR(ExpectSign(']'));
    } else {
      return Status::Ok();
    }
    node.path.push_back(std::move(step));
  }
}

Result<ParsedExprPtr> StatementParser::ParseCase() {
  ParsedExprPtr node = MakeNode(ParsedKind::kCase, token_.begin);
  Advance();
  if (!IsWord("when")) {
    node->has_operand = true;
    ASSIGN_OR_RETURN(ParsedExprPtr operand, ParseExpr());
    node->args.push_back(std::move(operand));
  }
  if (!IsWord("when")) {
    return Unexpected();
  }
  while (AcceptWord("when")) {
    ASSIGN_OR_RETURN(ParsedExprPtr condition, ParseExpr());
    node->args.push_back(std::move(condition));
    RETURN_IF_ERROR(ExpectWord("then"));
    ASSIGN_OR_RETURN(ParsedExprPtr value, ParseExpr());
    node->args.push_back(std::move(value));
  }
  if (AcceptWord("else")) {
    node->has_else = true;
    ASSIGN_OR_RETURN(ParsedExprPtr value, ParseExpr());
    node->args.push_back(std::move(value));
  }
  RETURN_IF_ERROR(ExpectWord("end"));
  return Finish(std::move(node));
}

// CAST(x AS type), CONVERT(x, type), CONVERT(x USING charset).
Result<ParsedExprPtr> StatementParser::ParseCast() {
  ParsedExprPtr node = MakeNode(ParsedKind::kCast, token_.begin);
  const bool convert = IsWord("convert");
  Advance();
  Advance();
  ASSIGN_OR_RETURN(ParsedExprPtr operand, ParseExpr());
  if (convert && AcceptWord("using")) {
    RETURN_IF_ERROR(ParseAnyWord().status());
    RETURN_IF_ERROR(ExpectSign(')'));
    return operand;
  }
  node->args.push_back(std::move(operand));
  RETURN_IF_ERROR(convert ? ExpectSign(',') : ExpectWord("as"));
  ASSIGN_OR_RETURN(node->name, ParseAnyWord());
  if (AcceptSign('(')) {  // the name keeps them: "decimal(10,2)"
    char before = '(';
    do {
      ASSIGN_OR_RETURN(const uint64_t number, ParseUnsigned());
      node->name += before + std::to_string(number);
      before = ',';
    } while (AcceptSign(','));
    node->name += ')';
    RETURN_IF_ERROR(ExpectSign(')'));
  }
  SkipWords();  // SIGNED INTEGER, CHAR CHARACTER SET utf8
  RETURN_IF_ERROR(ExpectSign(')'));
  return Finish(std::move(node));
}

// INTERVAL n unit, or the function interval(x, p1, …).
Result<ParsedExprPtr> StatementParser::ParseInterval() {
  const uint32_t begin = token_.begin;
  ParsedExprPtr amount;
  if (IsSignAhead('(')) {
    ASSIGN_OR_RETURN(ParsedExprPtr call, ParseFunction());
    if (call->args.size() != 1 || token_.kind != TokenKind::kIdentifier || !IsIntervalUnit(Bytes())) {
      return call;
    }
    amount = std::move(call->args.front());
  } else {
    Advance();
    ASSIGN_OR_RETURN(amount, ParseBinary(1));
  }
  if (token_.kind != TokenKind::kIdentifier || !IsIntervalUnit(Bytes())) {
    return Unexpected();
  }
  ParsedExprPtr node = MakeNode(ParsedKind::kInterval, begin);
  ASSIGN_OR_RETURN(node->name, ParseAnyWord());
  node->args.push_back(std::move(amount));
  return Finish(std::move(node));
}

Result<ParsedExprPtr> StatementParser::ParseSystemVariable() {
  ParsedExprPtr node = MakeNode(ParsedKind::kSystemVariable, token_.begin);
  Advance();
  ASSIGN_OR_RETURN(std::string name, ParseAnyWord());
  if (IsSign('.') && (name == "global" || name == "session" || name == "local")) {
    Advance();
    node->qualifier = name == "local" ? "session" : name;
    ASSIGN_OR_RETURN(name, ParseAnyWord());
  }
  while (AcceptSign('.')) {
    ASSIGN_OR_RETURN(const std::string part, ParseAnyWord());
    name += "." + part;
  }
  node->name = std::move(name);
  return Finish(std::move(node));
}

Result<ParsedExprPtr> StatementParser::ParseUserVariable() {
  ParsedExprPtr node = MakeNode(ParsedKind::kUserVariable, token_.begin);
  Advance();
  if (token_.kind == TokenKind::kString) {
    ASSIGN_OR_RETURN(node->name, ParseText());
  } else {
    ASSIGN_OR_RETURN(node->name, ParseAnyWord());
  }
  return Finish(std::move(node));
}

}  // namespace stoa::sql
