#include "sql/parser/statement_parser.h"

#include <algorithm>
#include <charconv>

#include "sql/parser/keywords.h"
#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

constexpr int kMaxNesting = 200;
constexpr size_t kMaxNearBytes = 160;  // so that the position still fits into an error text

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; }

std::string Lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), Lower);
  return out;
}

std::string_view NearText(std::string_view rest) {
  if (rest.size() <= kMaxNearBytes) {
    return rest;
  }
  size_t end = kMaxNearBytes;
  while (end > 0 && (static_cast<unsigned char>(rest[end]) & 0xc0) == 0x80) {
    --end;
  }
  return rest.substr(0, end);
}

}  // namespace

StatementParser::StatementParser(std::string_view text, std::span<const Value> parameters)
    : lexer_(text), parameters_(parameters) {
  token_ = lexer_.Next();
}

Status StatementParser::NestingGuard::Check() const {
  if (parser_.nesting_ <= kMaxNesting) {
    return Status::Ok();
  }
  return parser_.ErrorNear(fmt::format("expression nested too deeply (limit {})", kMaxNesting),
                           parser_.token_);
}

void StatementParser::Advance() {
  previous_end_ = token_.end;
  if (has_ahead_) {
    token_ = ahead_;
    has_ahead_ = false;
  } else {
    token_ = lexer_.Next();
  }
}

const Token& StatementParser::Ahead() {
  if (!has_ahead_) {
    ahead_ = lexer_.Next();
    has_ahead_ = true;
  }
  return ahead_;
}

bool StatementParser::IsWord(std::string_view lower) const {
  return token_.kind == TokenKind::kIdentifier && EqualsLower(Bytes(), lower);
}

bool StatementParser::IsWordAhead(std::string_view lower) {
  return Ahead().kind == TokenKind::kIdentifier && EqualsLower(lexer_.Bytes(ahead_), lower);
}

bool StatementParser::IsSignAhead(uint8_t sign) {
  return Ahead().kind == TokenKind::kSign && ahead_.sign == sign;
}

bool StatementParser::AcceptWord(std::string_view lower) {
  if (!IsWord(lower)) {
    return false;
  }
  Advance();
  return true;
}

bool StatementParser::AcceptSign(uint8_t sign) {
  if (!IsSign(sign)) {
    return false;
  }
  Advance();
  return true;
}

Status StatementParser::ExpectWord(std::string_view lower) {
  return AcceptWord(lower) ? Status::Ok() : Unexpected();
}

Status StatementParser::ExpectSign(uint8_t sign) { return AcceptSign(sign) ? Status::Ok() : Unexpected(); }

bool StatementParser::IsAnyWord(std::initializer_list<std::string_view> words) const {
  return std::any_of(words.begin(), words.end(), [this](std::string_view word) { return IsWord(word); });
}

void StatementParser::SkipToEnd() {
  while (token_.kind != TokenKind::kEnd) {
    Advance();
  }
}

// The words up to the next sign or the end, in lower case with one blank between.
std::string StatementParser::SkipWords() {
  std::string words;
  while (token_.kind == TokenKind::kIdentifier) {
    if (!words.empty()) {
      words.push_back(' ');
    }
    words += Lowered(Bytes());
    Advance();
  }
  return words;
}

std::string StatementParser::Describe(const Token& token) const {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "end of file";
    case TokenKind::kQuotedName:
      return "identifier";
    case TokenKind::kString:
      return "string";
    case TokenKind::kInteger:
      return "integer";
    case TokenKind::kFloat:
      return "float";
    case TokenKind::kParameter:
    case TokenKind::kVectorParameter:
      return "parameter";
    case TokenKind::kHint:
      return "hint";
    case TokenKind::kBadCharacter:
      return "character";
    case TokenKind::kUnterminated:
      return lexer_.text()[token.begin] == '/' ? "unterminated comment" : "unterminated string";
    case TokenKind::kSign:
      return fmt::format("'{}'", lexer_.Bytes(token));
    case TokenKind::kIdentifier:
      break;
  }
  const std::string_view bytes = lexer_.Bytes(token);
  if (EqualsLower(bytes, "null")) {
    return "null";
  }
  if (!IsClauseWord(bytes)) {
    return "identifier";
  }
  std::string word(bytes);
  std::transform(word.begin(), word.end(), word.begin(), Upper);
  return fmt::format("'{}'", word);
}

Status StatementParser::UnexpectedAt(const Token& token) const {
  return ErrorNear(fmt::format("syntax error, unexpected {}", Describe(token)), token);
}

Status StatementParser::ErrorNear(std::string_view text, const Token& token) const {
  const std::string_view all = lexer_.text();
  const std::string_view before = all.substr(0, token.begin);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto column =
      1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_begin), before.end(),
                        [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return SyntaxError(fmt::format("{}: {} near '{}' (line {}, column {})", prefix_, text,
                                 NearText(all.substr(token.begin)), line, column));
}

bool StatementParser::IsName() const {
  return token_.kind == TokenKind::kQuotedName ||
         (token_.kind == TokenKind::kIdentifier && !IsReservedWord(Bytes()));
}

Result<std::string> StatementParser::ParseName() {
  if (!IsName()) {
    return Unexpected();
  }
  return ParseAnyWord();
}

Result<std::string> StatementParser::ParseAnyWord() {
  std::string name;
  if (token_.kind == TokenKind::kIdentifier) {
    name = Lowered(Bytes());
  } else if (token_.kind == TokenKind::kQuotedName && token_.end - token_.begin > 2) {
    name = Lowered(Lexer::Unquote(Bytes(), token_.has_escapes));
  } else {
    return Unexpected();
  }
  Advance();
  return name;
}

Result<std::string> StatementParser::ParseText() {
  if (token_.kind == TokenKind::kParameter) {
    const Token parameter = token_;
    Advance();
    const Value* value = TakeParameter();
    if (value != nullptr && value->type != ValueType::kString && value->type != ValueType::kText) {
      return UnexpectedAt(parameter);
    }
    return value != nullptr ? value->bytes : std::string();
  }
  if (token_.kind != TokenKind::kString) {
    return Unexpected();
  }
  std::string text = Lexer::Unquote(Bytes(), token_.has_escapes);
  Advance();
  return text;
}

Result<std::string> StatementParser::ParseTextOrWord() {
  if (token_.kind == TokenKind::kString || token_.kind == TokenKind::kParameter) {
    return ParseText();
  }
  return ParseAnyWord();
}

// A non-negative integer, written or bound.
Result<uint64_t> StatementParser::ParseUnsigned() {
  std::string digits;
  const Token at = token_;
  if (token_.kind == TokenKind::kInteger) {
    digits = Bytes();
    Advance();
  } else if (token_.kind == TokenKind::kParameter) {
    Advance();
    const Value* value = TakeParameter();
    if (value == nullptr) {
      return uint64_t{0};
    }
    const bool is_text = value->type == ValueType::kString || value->type == ValueType::kText;
    const bool is_real = value->type == ValueType::kFloat || value->type == ValueType::kDouble;
    digits = is_text   ? value->bytes
             : is_real ? fmt::format("{:.0f}", value->real)
                       : fmt::format("{}", value->integer);
  } else {
    return Unexpected();
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return UnexpectedAt(at);
  }
  return number;
}

// [database.]table[.@table | .0 | CHUNK 0], or cluster:table.
Result<TableReference> StatementParser::ParseTableName() {
  TableReference table;
  ASSIGN_OR_RETURN(table.name, ParseName());
  if (IsSign(':')) {
    Advance();
    unbuilt_ = "a table of a cluster";
    ASSIGN_OR_RETURN(table.name, ParseName());
  }
  RETURN_IF_ERROR(ParseTableSuffix(table));
  if (table.suffix.empty() && IsSign('.')) {
    Advance();
    table.database = std::move(table.name);
    ASSIGN_OR_RETURN(table.name, ParseAnyWord());
    RETURN_IF_ERROR(ParseTableSuffix(table));
  }
  if (table.suffix.empty() && IsWord("chunk") && Ahead().kind == TokenKind::kInteger) {
    Advance();
    table.suffix = Bytes();
    Advance();
  }
  return table;
}

Status StatementParser::ParseTableSuffix(TableReference& table) {
  if (token_.kind == TokenKind::kFloat && Bytes().front() == '.' && token_.begin == previous_end_) {
    table.suffix = Bytes().substr(1);
    Advance();
    return Status::Ok();
  }
  if (!IsSign('.') || !IsSignAhead('@')) {
    return Status::Ok();
  }
  Advance();
  Advance();
  ASSIGN_OR_RETURN(std::string name, ParseAnyWord());
  table.suffix = "@" + name;
  return Status::Ok();
}

Result<std::vector<TableReference>> StatementParser::ParseTableNames() {
  std::vector<TableReference> tables;
  do {
    ASSIGN_OR_RETURN(TableReference table, ParseTableName());
    tables.push_back(std::move(table));
  } while (AcceptSign(','));
  return tables;
}

// The text of a select item: lower case outside of quotes, blanks as written.
std::string StatementParser::LowerText(uint32_t begin, uint32_t end) const {
  std::string out(lexer_.text().substr(begin, end - begin));
  char quote = '\0';
  for (size_t i = 0; i < out.size(); ++i) {
    char& c = out[i];
    if (quote == '\0') {
      if (c == '\'' || c == '"') {
        quote = c;
      }
      c = Lower(c);
    } else if (c == '\\') {
      ++i;
    } else if (c == quote) {
      quote = '\0';
    }
  }
  return out;
}

}  // namespace stoa::sql
