#include <algorithm>

#include "sql/parser/keywords.h"
#include "sql/parser/statement_parser.h"

// Expressions by MySQL's precedence: OR, AND, NOT, comparisons, then | & << + * ^, then signs.
namespace stoa::sql {
namespace {

constexpr uint16_t kMaxDepth = 1000;

struct BinaryOperator {
  Operator op = Operator::kNone;
  int precedence = 0;
};

BinaryOperator BySign(uint8_t code) {
  switch (code) {
    case '|':
      return {Operator::kBitOr, 1};
    case '&':
      return {Operator::kBitAnd, 2};
    case sign::kShiftLeft:
      return {Operator::kShiftLeft, 3};
    case sign::kShiftRight:
      return {Operator::kShiftRight, 3};
    case '+':
      return {Operator::kAdd, 4};
    case '-':
      return {Operator::kSubtract, 4};
    case '*':
      return {Operator::kMultiply, 5};
    case '/':
      return {Operator::kDivide, 5};
    case '%':
      return {Operator::kModulo, 5};
    case '^':
      return {Operator::kBitXor, 6};
    default:
      return {};
  }
}

Operator ComparisonBySign(uint8_t code) {
  switch (code) {
    case '=':
    case sign::kNullSafeEqual:
      return Operator::kEqual;
    case sign::kNotEqual:
      return Operator::kNotEqual;
    case '<':
      return Operator::kLess;
    case sign::kLessEqual:
      return Operator::kLessEqual;
    case '>':
      return Operator::kGreater;
    case sign::kGreaterEqual:
      return Operator::kGreaterEqual;
    default:
      return Operator::kNone;
  }
}

}  // namespace

ParsedExprPtr StatementParser::MakeNode(ParsedKind kind, uint32_t begin) const {
  auto node = std::make_unique<ParsedExpr>();
  node->kind = kind;
  node->range = {begin, previous_end_};
  return node;
}

// Sets the end of the node's range and its depth.
Result<ParsedExprPtr> StatementParser::Finish(ParsedExprPtr node) const {
  node->range.end = std::max(previous_end_, node->range.end);
  uint16_t depth = 0;
  for (const ParsedExprPtr& arg : node->args) {
    depth = std::max(depth, arg->depth);
  }
  for (const ParsedOption& option : node->options) {
    depth = std::max(depth, option.value->depth);
  }
  if (depth >= kMaxDepth) {
    return ErrorNear(fmt::format("expression nested too deeply (limit {})", kMaxDepth), token_);
  }
  node->depth = static_cast<uint16_t>(depth + 1);
  return node;
}

Result<ParsedExprPtr> StatementParser::MakeUnary(Operator op, ParsedExprPtr operand, uint32_t begin) const {
  ParsedExprPtr node = MakeNode(ParsedKind::kUnary, begin);
  node->op = op;
  node->args.push_back(std::move(operand));
  return Finish(std::move(node));
}

Result<ParsedExprPtr> StatementParser::MakeBinary(Operator op, ParsedExprPtr left,
                                                  ParsedExprPtr right) const {
  ParsedExprPtr node = MakeNode(ParsedKind::kBinary, left->range.begin);
  node->op = op;
  node->range.end = right->range.end;
  node->args.reserve(2);
  node->args.push_back(std::move(left));
  node->args.push_back(std::move(right));
  return Finish(std::move(node));
}

// AND and OR are associative: a long chain becomes a tree of logarithmic depth.
Result<ParsedExprPtr> StatementParser::MakeBalanced(Operator op, std::span<ParsedExprPtr> operands) const {
  if (operands.size() == 1) {
    return std::move(operands.front());
  }
  const size_t half = operands.size() / 2;
  ASSIGN_OR_RETURN(ParsedExprPtr left, MakeBalanced(op, operands.first(half)));
  ASSIGN_OR_RETURN(ParsedExprPtr right, MakeBalanced(op, operands.subspan(half)));
  return MakeBinary(op, std::move(left), std::move(right));
}

Result<ParsedExprPtr> StatementParser::ParseExpr() {
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  return ParseOr();
}

// A WHERE or ON: MATCH() and knn() may stand in it.
Result<ParsedExprPtr> StatementParser::ParseFilter() {
  const bool outer_where = std::exchange(in_where_, true);
  const size_t outer_count = std::exchange(full_text_count_, 0);
  auto outer_tables = std::exchange(match_tables_, {});
  auto expr = ParseExpr();
  in_where_ = outer_where;
  full_text_count_ = outer_count;
  match_tables_ = std::move(outer_tables);
  return expr;
}

// OR or NOT at a MATCH() or a knn().
Status StatementParser::MisplacedSearch(const Token& at) const {
  if (!EqualsLower(lexer_.Bytes(last_full_text_), "knn")) {
    return UnexpectedAt(at);
  }
  return ErrorNear("syntax error, knn() can be joined to other conditions by AND only", last_full_text_);
}

Result<ParsedExprPtr> StatementParser::ParseOr() {
  const size_t full_text_before = full_text_count_;
  ASSIGN_OR_RETURN(ParsedExprPtr first, ParseAnd());
  auto is_or = [this] { return IsSign(sign::kOrOr) || IsWord("or"); };
  if (!is_or()) {
    return first;
  }
  std::vector<ParsedExprPtr> operands;
  operands.push_back(std::move(first));
  while (is_or()) {
    if (full_text_count_ != full_text_before) {
      return MisplacedSearch(token_);  // MATCH and knn select the rows, they are no filter among others
    }
    Advance();
    ASSIGN_OR_RETURN(ParsedExprPtr next, ParseAnd());
    if (full_text_count_ != full_text_before) {
      return MisplacedSearch(last_full_text_);
    }
    operands.push_back(std::move(next));
  }
  return MakeBalanced(Operator::kOr, operands);
}

Result<ParsedExprPtr> StatementParser::ParseAnd() {
  ASSIGN_OR_RETURN(ParsedExprPtr first, ParseNot());
  auto is_and = [this] { return IsSign(sign::kAndAnd) || IsWord("and"); };
  if (!is_and()) {
    return first;
  }
  std::vector<ParsedExprPtr> operands;
  operands.push_back(std::move(first));
  while (is_and()) {
    Advance();
    ASSIGN_OR_RETURN(ParsedExprPtr next, ParseNot());
    operands.push_back(std::move(next));
  }
  return MakeBalanced(Operator::kAnd, operands);
}

Result<ParsedExprPtr> StatementParser::ParseNot() {
  if (!IsWord("not")) {
    return ParseComparison();
  }
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  const uint32_t begin = token_.begin;
  const size_t full_text_before = full_text_count_;
  Advance();
  ASSIGN_OR_RETURN(ParsedExprPtr operand, ParseNot());
  if (full_text_count_ != full_text_before) {
    return MisplacedSearch(last_full_text_);
  }
  return MakeUnary(Operator::kNot, std::move(operand), begin);
}

Result<ParsedExprPtr> StatementParser::ParseComparison() {
  ASSIGN_OR_RETURN(ParsedExprPtr left, ParseBinary(1));
  return ParseComparisonTail(std::move(left));
}

Result<ParsedExprPtr> StatementParser::ParseComparisonTail(ParsedExprPtr left) {
  for (;;) {
    if (token_.kind == TokenKind::kSign) {
      const Operator op = ComparisonBySign(token_.sign);
      if (op == Operator::kNone) {
        return left;
      }
      Advance();
      ASSIGN_OR_RETURN(ParsedExprPtr right, ParseBinary(1));
      ASSIGN_OR_RETURN(left, MakeBinary(op, std::move(left), std::move(right)));
      continue;
    }
    if (token_.kind != TokenKind::kIdentifier) {
      return left;
    }
    const bool negated = IsWord("not");
    if (negated) {
      if (!(IsWordAhead("between") || IsWordAhead("in") || IsWordAhead("like") || IsWordAhead("regexp") ||
            IsWordAhead("rlike") || IsWordAhead("any") || IsWordAhead("all"))) {
        return left;
      }
      Advance();
    }
    const ParsedExpr* before = left.get();
    ASSIGN_OR_RETURN(left, ParseWordTail(std::move(left), negated));
    if (left.get() == before) {
      return left;
    }
  }
}

// The operators that are words; gives `left` back when there is none.
Result<ParsedExprPtr> StatementParser::ParseWordTail(ParsedExprPtr left, bool negated) {
  if (AcceptWord("between")) {
    return ParseBetween(std::move(left), negated);
  }
  if (AcceptWord("in")) {
    return ParseIn(std::move(left), negated);
  }
  if (AcceptWord("is")) {
    return ParseIs(std::move(left));
  }
  if (IsAnyWord({"like", "regexp", "rlike"}) || (IsAnyWord({"any", "all"}) && IsSignAhead('('))) {
    return ParseLike(std::move(left), negated);
  }
  return left;
}

Result<ParsedExprPtr> StatementParser::ParseBetween(ParsedExprPtr left, bool negated) {
  ParsedExprPtr node = MakeNode(ParsedKind::kBetween, left->range.begin);
  node->negated = negated;
  node->args.push_back(std::move(left));
  ASSIGN_OR_RETURN(ParsedExprPtr low, ParseBinary(1));
  node->args.push_back(std::move(low));
  RETURN_IF_ERROR(ExpectWord("and"));
  ASSIGN_OR_RETURN(ParsedExprPtr high, ParseBinary(1));
  node->args.push_back(std::move(high));
  return Finish(std::move(node));
}

Result<ParsedExprPtr> StatementParser::ParseIn(ParsedExprPtr left, bool negated) {
  ParsedExprPtr node = MakeNode(ParsedKind::kIn, left->range.begin);
  node->negated = negated;
  node->args.push_back(std::move(left));
  if (IsSign('@')) {
    ASSIGN_OR_RETURN(ParsedExprPtr variable, ParseUserVariable());
    node->args.push_back(std::move(variable));
    return Finish(std::move(node));
  }
  if (IsSign('(') && IsWordAhead("select")) {
    ASSIGN_OR_RETURN(ParsedExprPtr subquery, ParseSubquery());
    node->args.push_back(std::move(subquery));
    return Finish(std::move(node));
  }
  RETURN_IF_ERROR(ExpectSign('('));
  do {
    if (token_.kind == TokenKind::kVectorParameter) {
      RETURN_IF_ERROR(AppendVectorParameter(node->args));
      continue;
    }
    ASSIGN_OR_RETURN(ParsedExprPtr item, ParseExpr());
    node->args.push_back(std::move(item));
  } while (AcceptSign(','));
  RETURN_IF_ERROR(ExpectSign(')'));
  return Finish(std::move(node));
}

// LIKE, REGEXP → regex(), and ANY('a', …) / ALL(…) over the words of a string → tags_any(), tags_all().
Result<ParsedExprPtr> StatementParser::ParseLike(ParsedExprPtr left, bool negated) {
  const uint32_t begin = left->range.begin;
  const bool is_like = IsWord("like");
  const bool is_tags = IsWord("any") || IsWord("all");
  ParsedExprPtr node = MakeNode(is_like ? ParsedKind::kLike : ParsedKind::kFunction, begin);
  node->name = is_like ? "" : !is_tags ? "regex" : IsWord("any") ? "tags_any" : "tags_all";
  node->args.push_back(std::move(left));
  Advance();
  if (is_tags) {
    Advance();
    RETURN_IF_ERROR(ParseArguments(*node));
  } else {
    ASSIGN_OR_RETURN(ParsedExprPtr pattern, ParseBinary(1));
    node->args.push_back(std::move(pattern));
  }
  if (is_like && AcceptWord("escape")) {
    RETURN_IF_ERROR(ParseText().status());
  }
  node->negated = is_like && negated;
  ASSIGN_OR_RETURN(node, Finish(std::move(node)));
  if (negated && !is_like) {
    return MakeUnary(Operator::kNot, std::move(node), begin);
  }
  return node;
}

Result<ParsedExprPtr> StatementParser::ParseIs(ParsedExprPtr left) {
  const bool negated = AcceptWord("not");
  if (AcceptWord("null")) {
    ParsedExprPtr node = MakeNode(ParsedKind::kIsNull, left->range.begin);
    node->negated = negated;
    node->args.push_back(std::move(left));
    return Finish(std::move(node));
  }
  if (!IsAnyWord({"true", "false"})) {
    return Unexpected();
  }
  const bool wanted = IsWord("true") != negated;
  const uint32_t begin = token_.begin;
  Advance();
  return MakeBinary(wanted ? Operator::kNotEqual : Operator::kEqual, std::move(left),
                    MakeInteger("0", begin));
}

Result<ParsedExprPtr> StatementParser::ParseBinary(int minimum) {
  ASSIGN_OR_RETURN(ParsedExprPtr left, ParseUnary());
  for (;;) {
    BinaryOperator next;
    if (token_.kind == TokenKind::kSign) {
      next = BySign(token_.sign);
    } else if (IsWord("div")) {
      next = {Operator::kIntegerDivide, 5};
    } else if (IsWord("mod")) {
      next = {Operator::kModulo, 5};
    }
    if (next.op == Operator::kNone || next.precedence < minimum) {
      return left;
    }
    Advance();
    ASSIGN_OR_RETURN(ParsedExprPtr right, ParseBinary(next.precedence + 1));
    ASSIGN_OR_RETURN(left, MakeBinary(next.op, std::move(left), std::move(right)));
  }
}

Result<ParsedExprPtr> StatementParser::ParseUnary() {
  const uint32_t begin = token_.begin;
  if (token_.kind != TokenKind::kSign) {
    return ParsePrimary();
  }
  Operator op = Operator::kNone;
  if (IsSign('-')) {
    op = Operator::kNegate;
  } else if (IsSign('~')) {
    op = Operator::kBitNot;
  } else if (IsSign('!')) {
    op = Operator::kNot;
  } else if (!IsSign('+')) {
    return ParsePrimary();
  }
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  Advance();
  ASSIGN_OR_RETURN(ParsedExprPtr operand, ParseUnary());
  if (op == Operator::kNone) {
    return operand;
  }
  return MakeUnary(op, std::move(operand), begin);
}

}  // namespace stoa::sql
