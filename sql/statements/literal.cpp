#include "sql/statements/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

constexpr size_t kNearBytes = 100;

std::string_view TrimBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

template <typename Value>
bool ParseWhole(std::string_view text, Value& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

Number Negated(Number number) {
  number.negative = !number.negative && number.magnitude != 0;
  number.real = -number.real;
  return number;
}

std::string_view CutAtCharacter(std::string_view text, size_t length) {
  if (length >= text.size()) {
    return text;
  }
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) {
    --length;
  }
  return text.substr(0, length);
}

}  // namespace

double Number::AsDouble() const {
  if (!integer) {
    return real;
  }
  const double size = static_cast<double>(magnitude);
  return negative ? -size : size;
}

bool ParseNumber(std::string_view text, Number& number) {
  text = TrimBlanks(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  const bool negative = !text.empty() && text[0] == '-';
  number = {};
  if (ParseWhole(negative ? text.substr(1) : text, number.magnitude)) {
    number.negative = negative && number.magnitude != 0;
    return true;
  }
  number = {};
  number.integer = false;
  return ParseWhole(text, number.real) && std::isfinite(number.real);
}

bool ReadNumber(const ParsedExpr& expr, Number& number) {
  switch (expr.kind) {
    case ParsedKind::kInteger:
      number = {};
      number.magnitude = expr.unsigned_integer;
      if (expr.out_of_range) {
        number.integer = false;
        return ParseWhole(std::string_view(expr.text), number.real);
      }
      return true;
    case ParsedKind::kFloat:
      number = {};
      number.integer = false;
      number.real = expr.real;
      return true;
    case ParsedKind::kBool:
      number = {};
      number.magnitude = expr.integer != 0 ? 1 : 0;
      return true;
    case ParsedKind::kUnary:
      if (expr.op != Operator::kNegate || expr.args.size() != 1 || !ReadNumber(*expr.args[0], number)) {
        return false;
      }
      number = Negated(number);
      return true;
    default:
      return false;
  }
}

bool ReadNumberOrText(const ParsedExpr& expr, Number& number) {
  return expr.kind == ParsedKind::kString ? ParseNumber(expr.text, number) : ReadNumber(expr, number);
}

std::string LiteralText(const ParsedExpr& expr) {
  switch (expr.kind) {
    case ParsedKind::kInteger:
    case ParsedKind::kFloat:
    case ParsedKind::kString:
      return expr.text;
    case ParsedKind::kNull:
      return "NULL";
    case ParsedKind::kBool:
      return expr.integer != 0 ? "1" : "0";
    case ParsedKind::kColumn:
      return expr.name;
    case ParsedKind::kUnary:
      return expr.op == Operator::kNegate && expr.args.size() == 1 ? "-" + LiteralText(*expr.args[0])
                                                                   : "expression";
    case ParsedKind::kList:
    case ParsedKind::kArray:
    case ParsedKind::kNumbers:
      return "list";
    default:
      return "expression";
  }
}

Result<std::string> OptionText(const ParsedOption& option) {
  if (option.value != nullptr) {
    switch (option.value->kind) {
      case ParsedKind::kInteger:
      case ParsedKind::kFloat:
      case ParsedKind::kString:
      case ParsedKind::kBool:
      case ParsedKind::kColumn:
        return LiteralText(*option.value);
      case ParsedKind::kUnary:
        if (Number number; ReadNumber(*option.value, number)) {
          return LiteralText(*option.value);
        }
        break;
      default:
        break;
    }
  }
  return InvalidError("option '{}' needs a constant value", option.name);
}

Status UnexpectedNull(std::string_view statement, SourceRange range) {
  const size_t begin = std::min<size_t>(range.begin, statement.size());
  const std::string_view before = statement.substr(0, begin);
  const size_t line_end = before.rfind('\n');
  const size_t line_begin = line_end == std::string_view::npos ? 0 : line_end + 1;
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto column =
      1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_begin), before.end(),
                        [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return SyntaxError(fmt::format("P01: syntax error, unexpected null near '{}' (line {}, column {})",
                                 CutAtCharacter(statement.substr(begin), kNearBytes), line, column));
}

namespace {

ParsedExprPtr MakeListNode(ParsedKind kind) {
  auto node = std::make_unique<ParsedExpr>();
  node->kind = kind;
  return node;
}

// "1,-2.5,3e7" as a list of its numbers.
ParsedExprPtr NumbersFromText(std::string_view text, ParsedKind kind) {
  ParsedExprPtr list = MakeListNode(kind);
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    Number number;
    if (!ParseNumber(item, number) || comma + 1 == text.size()) {
      return nullptr;
    }
    ParsedExprPtr node = MakeListNode(ParsedKind::kString);
    node->text = TrimBlanks(item);
    list->args.push_back(std::move(node));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return list;
}

}  // namespace

std::string_view WithoutBrackets(std::string_view text) {
  text = TrimBlanks(text);
  const bool is_list = text.starts_with('(') && text.ends_with(')');
  const bool is_array =
      text.starts_with('[') && text.ends_with(']') && text.find('[', 1) == std::string_view::npos;
  return is_list || is_array ? text.substr(1, text.size() - 2) : text;
}

ParsedExprPtr ListFromText(std::string_view text) {
  if (!text.starts_with('[')) {
    return NumbersFromText(text, ParsedKind::kList);
  }
  ParsedExprPtr array = MakeListNode(ParsedKind::kArray);
  text.remove_prefix(1);
  while (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return nullptr;
    }
    ParsedExprPtr vector = NumbersFromText(text.substr(1, close - 1), ParsedKind::kArray);
    if (vector == nullptr) {
      return nullptr;
    }
    array->args.push_back(std::move(vector));
    text = TrimBlanks(text.substr(close + 1));
    if (text.starts_with(',') && text.find('[') != std::string_view::npos) {
      text = TrimBlanks(text.substr(1));
    }
  }
  return text == "]" ? std::move(array) : nullptr;
}

}  // namespace stoa::sql
