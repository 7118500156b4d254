#include <charconv>
#include <cmath>

#include "sql/parser/number_list.h"
#include "sql/parser/statement_parser.h"

// Literals, lists, arrays, bound parameters, and name = value options.
namespace stoa::sql {
namespace {

bool IsText(ValueType type) { return type == ValueType::kString || type == ValueType::kText; }

bool IsListSeparator(char c) { return c == ',' || c == ' ' || (c >= '\t' && c <= '\r'); }

double ParseReal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos
               ? 0.0
               : std::numeric_limits<double>::max();
  }
  return value;
}

}  // namespace

ParsedExprPtr StatementParser::MakeInteger(std::string_view digits, uint32_t begin) const {
  ParsedExprPtr node = MakeNode(ParsedKind::kInteger, begin);
  const bool hex = digits.size() > 2 && (digits[1] == 'x' || digits[1] == 'X');
  const std::string_view number = hex ? digits.substr(2) : digits;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), node->unsigned_integer, hex ? 16 : 10);
  node->out_of_range = error != std::errc();
  if (node->out_of_range) {
    node->unsigned_integer = std::numeric_limits<uint64_t>::max();
  }
  node->integer = static_cast<int64_t>(node->unsigned_integer);
  node->real = node->out_of_range ? ParseReal(number) : static_cast<double>(node->unsigned_integer);
  node->text = hex ? fmt::format("{}", node->unsigned_integer) : std::string(digits);
  return node;
}

ParsedExprPtr StatementParser::MakeText(std::string text, uint32_t begin) const {
  ParsedExprPtr node = MakeNode(ParsedKind::kString, begin);
  node->text = std::move(text);
  return node;
}

Result<ParsedExprPtr> StatementParser::ParseNumber() {
  const Token number = token_;
  const std::string_view bytes = Bytes();
  Advance();
  if (number.kind == TokenKind::kInteger) {
    return MakeInteger(bytes, number.begin);
  }
  ParsedExprPtr node = MakeNode(ParsedKind::kFloat, number.begin);
  node->text = bytes;
  node->real = ParseReal(bytes);
  return node;
}

Result<ParsedExprPtr> StatementParser::ParseString() {
  const uint32_t begin = token_.begin;
  if (token_.kind != TokenKind::kString) {
    return Unexpected();
  }
  std::string text = Lexer::Unquote(Bytes(), token_.has_escapes);
  Advance();
  if (IsWord("collate")) {
    Advance();
    RETURN_IF_ERROR(ParseTextOrWord().status());
  }
  return MakeText(std::move(text), begin);
}

// The next bound value; nullptr while the statement is only being prepared.
const Value* StatementParser::TakeParameter() {
  return next_parameter_ < parameters_.size() ? &parameters_[next_parameter_++] : nullptr;
}

Result<ParsedExprPtr> StatementParser::ParseParameter() {
  const uint32_t begin = token_.begin;
  if (token_.kind == TokenKind::kVectorParameter) {
    ParsedExprPtr list = MakeNode(ParsedKind::kList, begin);
    RETURN_IF_ERROR(AppendVectorParameter(list->args));
    return Finish(std::move(list));
  }
  Advance();
  const Value* value = TakeParameter();
  if (value == nullptr) {
    return MakeNode(ParsedKind::kParameter, begin);
  }
  return MakeParameterValue(*value, begin);
}

Result<ParsedExprPtr> StatementParser::MakeParameterValue(const Value& value, uint32_t begin) const {
  switch (value.type) {
    case ValueType::kNull:
      return MakeNode(ParsedKind::kNull, begin);
    case ValueType::kUint64:
      return MakeInteger(fmt::format("{}", static_cast<uint64_t>(value.integer)), begin);
    case ValueType::kInt:
    case ValueType::kBigint: {
      const auto bits = static_cast<uint64_t>(value.integer);
      ParsedExprPtr number = MakeInteger(fmt::format("{}", value.integer < 0 ? 0 - bits : bits), begin);
      return value.integer < 0 ? MakeUnary(Operator::kNegate, std::move(number), begin)
                               : Result<ParsedExprPtr>(std::move(number));
    }
    case ValueType::kFloat:
    case ValueType::kDouble: {
      if (!std::isfinite(value.real)) {
        return ErrorNear("parameter is not a finite number", token_);
      }
      ParsedExprPtr number = MakeNode(ParsedKind::kFloat, begin);
      number->real = std::fabs(value.real);
      number->text = value.type == ValueType::kFloat ? fmt::format("{}", static_cast<float>(number->real))
                                                     : fmt::format("{}", number->real);
      return std::signbit(value.real) ? MakeUnary(Operator::kNegate, std::move(number), begin)
                                      : Result<ParsedExprPtr>(std::move(number));
    }
    default: {
      ParsedExprPtr text = MakeText(value.bytes, begin);
      text->is_bound = true;
      return text;
    }
  }
}

// ?VEC?: the numbers of its text become items of the list it stands in.
Status StatementParser::AppendVectorParameter(std::vector<ParsedExprPtr>& list) {
  const Token at = token_;
  Advance();
  const Value* value = TakeParameter();
  if (value == nullptr) {
    ParsedExprPtr node = MakeNode(ParsedKind::kParameter, at.begin);
    node->is_vector_parameter = true;
    list.push_back(std::move(node));
    return Status::Ok();
  }
  if (!IsText(value->type)) {
    ASSIGN_OR_RETURN(ParsedExprPtr number, MakeParameterValue(*value, at.begin));
    list.push_back(std::move(number));
    return Status::Ok();
  }
  const std::string_view text = value->bytes;
  for (size_t i = 0; i < text.size();) {
    if (IsListSeparator(text[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < text.size() && !IsListSeparator(text[i])) {
      ++i;
    }
    const std::string_view word = text.substr(begin, i - begin);
    const bool negative = word.front() == '-';
    Lexer lexer(negative ? word.substr(1) : word);
    const Token number = lexer.Next();
    const bool numeric = number.kind == TokenKind::kInteger || number.kind == TokenKind::kFloat;
    if (!numeric || lexer.Bytes(number).size() != word.size() - (negative ? 1 : 0)) {
      return ErrorNear(fmt::format("?VEC? is bound to '{}', which is no list of numbers", word.substr(0, 40)),
                       at);
    }
    ParsedExprPtr node = MakeInteger("0", at.begin);
    if (number.kind == TokenKind::kInteger) {
      node = MakeInteger(lexer.Bytes(number), at.begin);
    } else {
      node->kind = ParsedKind::kFloat;
      node->text = lexer.Bytes(number);
      node->real = ParseReal(node->text);
    }
    if (negative) {
      ASSIGN_OR_RETURN(node, MakeUnary(Operator::kNegate, std::move(node), at.begin));
    }
    list.push_back(std::move(node));
  }
  return Status::Ok();
}

// What INSERT, UPDATE and options take: a number with or without sign, a text, TRUE, a list, an array, a
// parameter.
Result<ParsedExprPtr> StatementParser::ParseConstant(NullPolicy nulls) {
  switch (token_.kind) {
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return ParseNumber();
    case TokenKind::kString:
      return ParseString();
    case TokenKind::kVectorParameter:
      return ParseParameter();
    case TokenKind::kParameter: {
      const Token at = token_;
      ASSIGN_OR_RETURN(ParsedExprPtr node, ParseParameter());
      if (node->kind == ParsedKind::kNull && nulls == NullPolicy::kRefuse) {
        return ErrorNear("syntax error, unexpected null", at);
      }
      return node;
    }
    case TokenKind::kSign:
      if (ParsedExprPtr numbers = ParseNumberList()) {
        return numbers;
      }
      if (IsSign('(')) {
        return ParseConstantList(nulls);
      }
      if (IsSign('[')) {
        return ParseArray();
      }
      if (IsSign('-') || IsSign('+')) {
        const bool negative = IsSign('-');
        const uint32_t begin = token_.begin;
        Advance();
        if (token_.kind != TokenKind::kInteger && token_.kind != TokenKind::kFloat) {
          return Unexpected();
        }
        ASSIGN_OR_RETURN(ParsedExprPtr number, ParseNumber());
        return negative ? MakeUnary(Operator::kNegate, std::move(number), begin)
                        : Result<ParsedExprPtr>(std::move(number));
      }
      return Unexpected();
    case TokenKind::kIdentifier:
      break;
    default:
      return Unexpected();
  }
  if (Ahead().kind == TokenKind::kString || IsAnyWord({"true", "false"}) ||
      (nulls == NullPolicy::kAccept && IsWord("null"))) {
    return ParseWordPrimary();
  }
  return Unexpected();
}

// (), (1, 2), ('a', 'b').
Result<ParsedExprPtr> StatementParser::ParseConstantList(NullPolicy nulls) {
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  ParsedExprPtr list = MakeNode(ParsedKind::kList, token_.begin);
  Advance();
  const Value* only = next_parameter_ < parameters_.size() ? &parameters_[next_parameter_] : nullptr;
  if (token_.kind == TokenKind::kVectorParameter && only != nullptr && IsText(only->type) &&
      IsSignAhead(')')) {
    if (ParsedExprPtr numbers = MakeNumberList(only->bytes, false, list->range.begin)) {
      TakeParameter();
      Advance();
      Advance();
      return Finish(std::move(numbers));
    }
  }
  if (!IsSign(')')) {
    do {
      if (token_.kind == TokenKind::kVectorParameter) {
        RETURN_IF_ERROR(AppendVectorParameter(list->args));
        continue;
      }
      ASSIGN_OR_RETURN(ParsedExprPtr item, ParseConstant(nulls));
      list->args.push_back(std::move(item));
    } while (AcceptSign(','));
  }
  RETURN_IF_ERROR(ExpectSign(')'));
  return Finish(std::move(list));
}

// (1, 2) or [1, 2]. Anything but plain numbers with commas between: nullptr, and it is parsed item by item.
ParsedExprPtr StatementParser::ParseNumberList() {
  const bool is_array = IsSign('[');
  if ((!is_array && !IsSign('(')) || has_ahead_) {
    return nullptr;
  }
  ParsedExprPtr list = MakeNode(ParsedKind::kNumbers, token_.begin);
  list->numbers = std::make_unique<NumberList>();
  NumberList& numbers = *list->numbers;
  numbers.is_array = is_array;
  numbers.floats.reserve(last_number_count_);
  const std::string_view rest = lexer_.text().substr(token_.end);
  const std::optional<size_t> length = ReadFloats(rest, is_array ? ']' : ')', numbers.floats);
  if (!length) {
    return nullptr;
  }
  last_number_count_ = numbers.floats.size();
  numbers.text = rest.substr(0, *length);
  previous_end_ = token_.end + static_cast<uint32_t>(*length) + 1;
  list->range.end = previous_end_;
  lexer_.MoveTo(previous_end_);
  token_ = lexer_.Next();
  return list;
}

// The numbers of a bound text; nullptr when it has others or none.
ParsedExprPtr StatementParser::MakeNumberList(std::string_view text, bool is_array, uint32_t begin) const {
  ParsedExprPtr list = MakeNode(ParsedKind::kNumbers, begin);
  list->numbers = std::make_unique<NumberList>();
  list->numbers->text = text;
  list->numbers->is_array = is_array;
  const bool read = ReadFloats(text, '\0', list->numbers->floats).has_value();
  return read && !list->numbers->floats.empty() ? std::move(list) : nullptr;
}

// [], [1, 2], [[1, 2], [3, 4]].
Result<ParsedExprPtr> StatementParser::ParseArray() {
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  ParsedExprPtr array = MakeNode(ParsedKind::kArray, token_.begin);
  Advance();
  if (!IsSign(']')) {
    do {
      if (token_.kind == TokenKind::kVectorParameter) {
        RETURN_IF_ERROR(AppendVectorParameter(array->args));
        continue;
      }
      ASSIGN_OR_RETURN(ParsedExprPtr item, ParseConstant(NullPolicy::kRefuse));
      array->args.push_back(std::move(item));
    } while (AcceptSign(','));
  }
  RETURN_IF_ERROR(ExpectSign(']'));
  return Finish(std::move(array));
}

// {a=1, b='x'} or, as a value, (a=1, b=2). Stands at the opening sign.
Result<ParsedExprPtr> StatementParser::ParseOptionMap(uint8_t close) {
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  ParsedExprPtr map = MakeNode(ParsedKind::kOptionMap, token_.begin);
  Advance();
  if (!IsSign(close)) {
    do {
      ASSIGN_OR_RETURN(ParsedOption option, ParseOption());
      map->options.push_back(std::move(option));
    } while (AcceptSign(','));
  }
  RETURN_IF_ERROR(ExpectSign(close));
  return Finish(std::move(map));
}

Result<ParsedOption> StatementParser::ParseOption() {
  ParsedOption option;
  option.range.begin = token_.begin;
  ASSIGN_OR_RETURN(option.name, ParseAnyWord());
  RETURN_IF_ERROR(ExpectSign('='));
  ASSIGN_OR_RETURN(option.value, ParseOptionValue());
  option.range.end = previous_end_;
  return option;
}

Result<ParsedExprPtr> StatementParser::ParseOptionValue() {
  if (IsSign('{')) {
    return ParseOptionMap('}');
  }
  if (IsSign('(')) {
    return ParseOptionList();
  }
  const bool is_word = token_.kind == TokenKind::kIdentifier && !IsAnyWord({"true", "false", "null"});
  if (!is_word && token_.kind != TokenKind::kQuotedName) {
    return ParseConstant(NullPolicy::kRefuse);
  }
  if (IsSignAhead('(')) {
    return ParseFunction();
  }
  ParsedExprPtr node = MakeNode(ParsedKind::kColumn, token_.begin);
  ASSIGN_OR_RETURN(node->name, ParseAnyWord());
  return Finish(std::move(node));
}

// (title=10, body=3) is a map, (1, 2) a list.
Result<ParsedExprPtr> StatementParser::ParseOptionList() {
  const TokenKind next = Ahead().kind;
  if (next == TokenKind::kIdentifier || next == TokenKind::kQuotedName) {
    return ParseOptionMap(')');
  }
  return ParseConstantList(NullPolicy::kRefuse);
}

Status StatementParser::ParseOptions(std::vector<ParsedOption>& options) {
  do {
    ASSIGN_OR_RETURN(ParsedOption option, ParseOption());
    options.push_back(std::move(option));
  } while (AcceptSign(','));
  return Status::Ok();
}

Status StatementParser::ParseOptionsIfAny(std::vector<ParsedOption>& options) {
  return AcceptWord("option") ? ParseOptions(options) : Status::Ok();
}

}  // namespace stoa::sql
