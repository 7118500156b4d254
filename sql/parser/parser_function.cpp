#include <algorithm>
#include <charconv>

#include "sql/parser/keywords.h"
#include "sql/parser/statement_parser.h"

// Function calls, loops over arrays, and the two conditions that select rows: MATCH() and knn().
namespace stoa::sql {
namespace {

struct KnnOption {
  std::string_view name;
  double minimum;
  double maximum;
  bool real;
};

constexpr double kAny = 1e18;
constexpr KnnOption kKnnOptions[] = {
    {"k", -kAny, kAny, false}, {"ef", 0, kAny, false},     {"oversampling", 1, kAny, true},
    {"rescore", 0, 1, false},  {"prefilter", 0, 1, false}, {"early_termination", 0, 1, false},
    {"fullscan", 0, 1, false},
};

// The number of a literal that may have a sign; nothing for other expressions.
std::optional<double> LiteralNumber(const ParsedExpr& expr) {
  switch (expr.kind) {
    case ParsedKind::kInteger:
      return expr.out_of_range ? kAny : static_cast<double>(expr.unsigned_integer);
    case ParsedKind::kFloat:
      return expr.real;
    case ParsedKind::kUnary: {
      if (expr.op != Operator::kNegate) {
        return std::nullopt;
      }
      const auto inner = LiteralNumber(*expr.args.front());
      return inner ? std::optional<double>(-*inner) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

bool IsWhole(const ParsedExpr& expr) {
  return expr.kind == ParsedKind::kInteger ||
         (expr.kind == ParsedKind::kUnary && IsWhole(*expr.args.front()));
}

bool IsGoodKnnOption(const ParsedOption& option) {
  const auto known = std::find_if(std::begin(kKnnOptions), std::end(kKnnOptions),
                                  [&](const KnnOption& candidate) { return candidate.name == option.name; });
  if (known == std::end(kKnnOptions)) {
    return false;
  }
  if (option.value->kind == ParsedKind::kParameter) {
    return true;
  }
  const auto number = LiteralNumber(*option.value);
  return number && *number >= known->minimum && *number <= known->maximum &&
         (known->real || IsWhole(*option.value));
}

}  // namespace

Result<ParsedExprPtr> StatementParser::ParseFunction() {
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  const uint32_t begin = token_.begin;
  ParsedExprPtr call = MakeNode(ParsedKind::kFunction, begin);
  ASSIGN_OR_RETURN(call->name, ParseAnyWord());
  Advance();
  const bool outer_where = std::exchange(in_where_, false);
  Status status = ParseArguments(*call);
  in_where_ = outer_where;
  RETURN_IF_ERROR(status);
  ASSIGN_OR_RETURN(call, Finish(std::move(call)));
  if (call->name == "any" || call->name == "all" || call->name == "indexof") {
    if (call->args.size() == 2 && !call->text.empty()) {
      call->kind = ParsedKind::kLoop;
    }
  }
  return call;
}

// Behind the '('; takes the ')'.
Status StatementParser::ParseArguments(ParsedExpr& call) {
  if (AcceptSign(')')) {
    return Status::Ok();
  }
  if (IsSign('*') && IsSignAhead(')')) {
    call.args.push_back(MakeNode(ParsedKind::kStar, token_.begin));
    Advance();
    return ExpectSign(')');
  }
  call.distinct = AcceptWord("distinct");
  do {
    if (token_.kind == TokenKind::kVectorParameter) {
      RETURN_IF_ERROR(AppendVectorParameter(call.args));
      continue;
    }
    if (IsSign('{')) {
      ASSIGN_OR_RETURN(ParsedExprPtr map, ParseOptionMap('}'));
      call.args.push_back(std::move(map));
      continue;
    }
    ASSIGN_OR_RETURN(ParsedExprPtr arg, ParseExpr());
    call.args.push_back(std::move(arg));
    if (call.args.size() == 1 && AcceptWord("for")) {
      ASSIGN_OR_RETURN(call.text, ParseName());
      RETURN_IF_ERROR(ExpectWord("in"));
      ASSIGN_OR_RETURN(ParsedExprPtr array, ParseExpr());
      call.args.push_back(std::move(array));
      break;
    }
  } while (AcceptSign(','));
  if (call.name == "group_concat") {
    RETURN_IF_ERROR(ParseConcatOptions(call));
  }
  return ExpectSign(')');
}

// [ORDER BY y DESC] [SEPARATOR ';'] [LIMIT n] of GROUP_CONCAT.
Status StatementParser::ParseConcatOptions(ParsedExpr& call) {
  if (IsSign(')')) {
    return Status::Ok();
  }
  call.concat = std::make_unique<ParsedExpr::ConcatOptions>();
  if (AcceptWord("order")) {
    RETURN_IF_ERROR(ExpectWord("by"));
    RETURN_IF_ERROR(ParseOrderKeys(call.concat->order));
  }
  if (AcceptWord("separator")) {
    ASSIGN_OR_RETURN(call.concat->separator, ParseText());
  }
  if (AcceptWord("limit")) {
    ASSIGN_OR_RETURN(call.concat->limit, ParseUnsigned());
  }
  return Status::Ok();
}

// MATCH('text' [, table]) [AS alias].
Result<ParsedExprPtr> StatementParser::ParseMatch() {
  last_full_text_ = token_;
  const Token at = token_;
  ParsedExprPtr node = MakeNode(ParsedKind::kMatch, token_.begin);
  Advance();
  Advance();
  ASSIGN_OR_RETURN(node->text, ParseText());
  if (AcceptSign(',')) {
    ASSIGN_OR_RETURN(node->name, ParseName());
  }
  RETURN_IF_ERROR(ExpectSign(')'));
  if (AcceptWord("as")) {
    ASSIGN_OR_RETURN(node->alias, ParseTextOrWord());
  }
  ++full_text_count_;
  if (std::find(match_tables_.begin(), match_tables_.end(), node->name) != match_tables_.end()) {
    return ErrorNear("too many MATCH() clauses", at);
  }
  match_tables_.push_back(node->name);
  return Finish(std::move(node));
}

// knn(column [, k], (…) | [..] | 'text' | id [, {options}]) [AS alias].
Result<ParsedExprPtr> StatementParser::ParseKnn() {
  last_full_text_ = token_;
  ParsedExprPtr node = MakeNode(ParsedKind::kKnn, token_.begin);
  Advance();
  Advance();
  ASSIGN_OR_RETURN(node->name, ParseName());
  while (AcceptSign('.')) {
    ASSIGN_OR_RETURN(const std::string part, ParseName());
    node->name += "." + part;
  }
  const bool outer_where = std::exchange(in_where_, false);
  Status status = ParseKnnQuery(*node);
  in_where_ = outer_where;
  RETURN_IF_ERROR(status);
  if (AcceptWord("as")) {
    ASSIGN_OR_RETURN(node->alias, ParseTextOrWord());
  }
  ++full_text_count_;
  return Finish(std::move(node));
}

Status StatementParser::ParseKnnQuery(ParsedExpr& knn) {
  do {
    RETURN_IF_ERROR(ExpectSign(','));
    if (IsSign('{')) {
      break;
    }
    if (knn.args.size() == 2) {
      return Unexpected();
    }
    ASSIGN_OR_RETURN(ParsedExprPtr arg, ParseKnnArgument());
    knn.args.push_back(std::move(arg));
  } while (IsSign(','));
  if (knn.args.empty()) {
    return Unexpected();
  }
  if (knn.args.size() == 2) {
    RETURN_IF_ERROR(CheckKnnCount(*knn.args.front()));
  }
  if (IsSign('{')) {
    RETURN_IF_ERROR(ParseKnnOptions(knn));
  }
  return ExpectSign(')');
}

// A number, a vector or a text; () is no vector.
Result<ParsedExprPtr> StatementParser::ParseKnnArgument() {
  const bool is_list = IsSign('(');
  ASSIGN_OR_RETURN(ParsedExprPtr arg, ParseConstant(NullPolicy::kRefuse));
  if (is_list && arg->kind == ParsedKind::kList && arg->args.empty() && parameters_.empty()) {
    return Unexpected();
  }
  return arg;
}

// The k of knn(column, k, …); drivers that fill placeholders in themselves may quote it.
Status StatementParser::CheckKnnCount(const ParsedExpr& count) const {
  if (count.kind == ParsedKind::kParameter) {
    return Status::Ok();
  }
  uint64_t quoted = 0;
  const char* end = count.text.data() + count.text.size();
  const bool is_quoted = count.kind == ParsedKind::kString &&
                         std::from_chars(count.text.data(), end, quoted).ptr == end && !count.text.empty();
  const auto number = is_quoted ? static_cast<double>(quoted) : LiteralNumber(count);
  if (number && *number <= 0) {
    return ErrorNear("k parameter must be positive", token_);
  }
  return is_quoted || (number && IsWhole(count))
             ? Status::Ok()
             : ErrorNear("syntax error, k of knn(column, k, vector) is an integer", token_);
}

Status StatementParser::ParseKnnOptions(ParsedExpr& knn) {
  const Token at = token_;
  ASSIGN_OR_RETURN(ParsedExprPtr map, ParseOptionMap('}'));
  for (const ParsedOption& option : map->options) {
    if (!IsGoodKnnOption(option)) {
      Token option_at = at;
      option_at.begin = option.range.begin;
      return ErrorNear(fmt::format("Unable to parse KNN option '{}'", option.name), option_at);
    }
    const auto number = LiteralNumber(*option.value);
    if (option.name == "k" && number && *number <= 0) {
      return ErrorNear("k parameter must be positive", token_);
    }
  }
  knn.options = std::move(map->options);
  return Status::Ok();
}

}  // namespace stoa::sql
