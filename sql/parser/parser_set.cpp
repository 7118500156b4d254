#include "sql/parser/statement_parser.h"

// SET in all its forms.
namespace stoa::sql {

Result<Statement> StatementParser::ParseSet() {
  Advance();
  if ((IsAnyWord({"index", "cluster", "password"}) && !IsSignAhead('=') && !IsSignAhead(sign::kAssign)) ||
      (IsWord("default") && IsWordAhead("role")) || (IsWord("role") && !IsSignAhead('='))) {
    std::string what = IsWord("index") ? "SET INDEX" : IsWord("cluster") ? "SET CLUSTER" : "SET PASSWORD";
    SkipToEnd();
    return Statement(UnbuiltStatement{std::move(what), {}});
  }
  SetStatement set;
  do {
    RETURN_IF_ERROR(ParseSetItem(set));
  } while (AcceptSign(','));
  return Statement(std::move(set));
}

Status StatementParser::ParseSetItem(SetStatement& set) {
  VariableAssignment assignment;
  if (IsWord("names") && !IsSignAhead('=')) {
    Advance();
    return ParseSetNames(set, "names");
  }
  if ((IsWord("character") && IsWordAhead("set")) || (IsWord("charset") && !IsSignAhead('='))) {
    if (IsWord("character")) {
      Advance();
    }
    Advance();
    return ParseSetNames(set, "character set");
  }
  const bool scope_word = IsAnyWord({"global", "session", "local", "persist", "persist_only"});
  if (scope_word && !IsSignAhead('=') && !IsSignAhead(sign::kAssign)) {
    ASSIGN_OR_RETURN(assignment.scope, ParseAnyWord());
  }
  if (IsWord("transaction") && !IsSignAhead('=')) {
    return ParseSetTransaction(set);
  }
  if (IsSign(sign::kAtAt)) {
    ASSIGN_OR_RETURN(ParsedExprPtr variable, ParseSystemVariable());
    assignment.name = std::move(variable->name);
    if (!variable->qualifier.empty()) {
      assignment.scope = std::move(variable->qualifier);
    }
  } else if (IsSign('@')) {
    ASSIGN_OR_RETURN(ParsedExprPtr variable, ParseUserVariable());
    assignment.name = std::move(variable->name);
    assignment.scope = "user";
  } else {
    ASSIGN_OR_RETURN(assignment.name, ParseName());
    while (AcceptSign('.')) {
      ASSIGN_OR_RETURN(const std::string part, ParseAnyWord());
      assignment.name += "." + part;
    }
  }
  if (!AcceptSign('=')) {
    RETURN_IF_ERROR(ExpectSign(sign::kAssign));
  }
  ASSIGN_OR_RETURN(assignment.value, ParseSetValue());
  if (assignment.scope == "persist_only") {
    assignment.scope = "persist";
  }
  set.assignments.push_back(std::move(assignment));
  return Status::Ok();
}

// NAMES x [COLLATE y], CHARACTER SET x: the words are the value; the collation becomes a second assignment.
Status StatementParser::ParseSetNames(SetStatement& set, std::string_view scope) {
  VariableAssignment names;
  names.scope = scope;
  names.name = scope;
  const uint32_t begin = token_.begin;
  AcceptSign('=');
  ASSIGN_OR_RETURN(std::string charset, ParseTextOrWord());
  names.value = MakeText(std::move(charset), begin);
  set.assignments.push_back(std::move(names));
  if (AcceptWord("collate")) {
    VariableAssignment collation;
    collation.scope = scope;
    collation.name = "collation_connection";
    const uint32_t collation_begin = token_.begin;
    ASSIGN_OR_RETURN(std::string name, ParseTextOrWord());
    collation.value = MakeText(std::move(name), collation_begin);
    set.assignments.push_back(std::move(collation));
  }
  return Status::Ok();
}

// TRANSACTION ISOLATION LEVEL … | READ ONLY | READ WRITE, perhaps both with a comma.
Status StatementParser::ParseSetTransaction(SetStatement& set) {
  Advance();
  do {
    if (!IsAnyWord({"isolation", "read"})) {
      return Unexpected();
    }
    VariableAssignment transaction;
    transaction.scope = "transaction";
    transaction.name = "transaction";
    const uint32_t begin = token_.begin;
    transaction.value = MakeText(SkipWords(), begin);
    set.assignments.push_back(std::move(transaction));
  } while (AcceptSign(','));
  return Status::Ok();
}

// An expression, or a word: ON, DEFAULT, utf8, BINARY, READ-COMMITTED in quotes.
Result<ParsedExprPtr> StatementParser::ParseSetValue() {
  if (IsWord("on")) {
    ParsedExprPtr node = MakeNode(ParsedKind::kColumn, token_.begin);
    node->name = "on";
    Advance();
    return Finish(std::move(node));
  }
  if (IsSign('(') && IsSignAhead(')')) {
    return ParseConstantList(NullPolicy::kAccept);
  }
  return ParseExpr();
}

}  // namespace stoa::sql
