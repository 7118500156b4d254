#include "sql/parser/parser.h"

#include "sql/parser/keywords.h"
#include "sql/parser/lexer.h"
#include "sql/parser/statement_parser.h"
#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

constexpr size_t kMaxStatementBytes = (size_t{1} << 32) - 1;

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

// Finds the ends of statements without making tokens: only quotes, comments and ';' matter.
class StatementSplitter {
 public:
  explicit StatementSplitter(std::string_view text) : text_(text) {}

  std::vector<std::string_view> Split() {
    while (position_ < text_.size()) {
      Step();
    }
    EndStatement(position_);
    if (statements_.empty()) {
      statements_.push_back(text_.substr(0, first_end_));
    }
    return std::move(statements_);
  }

 private:
  void Step() {
    const char c = text_[position_];
    const char next = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
    if (c == ';') {
      EndStatement(position_);
      first_end_ = std::min(first_end_, position_ + 1);
      begin_ = ++position_;
    } else if (c == '\'' || c == '"' || c == '`') {
      has_content_ = true;
      SkipQuoted(c);
    } else if (c == '#' || (c == '-' && next == '-' &&
                            (position_ + 2 >= text_.size() || IsBlank(text_[position_ + 2])))) {
      SkipTo("\n", 0);
    } else if (c == '/' && next == '*') {
      const std::string_view opening = text_.substr(position_, 4);
      has_content_ = has_content_ || opening.substr(2, 1) == "!" || opening.substr(2) == "M!";
      SkipTo("*/", 2);
    } else {
      has_content_ = has_content_ || !IsBlank(c);
      ++position_;
    }
  }

  void SkipTo(std::string_view ending, size_t from) {
    const size_t end = text_.find(ending, position_ + from);
    if (end == std::string_view::npos) {
      has_content_ = has_content_ || ending == "*/";  // unterminated: the parser says so
      position_ = text_.size();
    } else {
      position_ = end + ending.size();
    }
  }

  void SkipQuoted(char quote) {
    for (++position_; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '\\' && quote != '`') {
        ++position_;
      } else if (c == quote) {
        ++position_;
        return;
      }
    }
    position_ = text_.size();
  }

  void EndStatement(size_t end) {
    if (has_content_) {
      while (begin_ < end && IsBlank(text_[begin_])) {
        ++begin_;
      }
      while (end > begin_ && IsBlank(text_[end - 1])) {
        --end;
      }
      statements_.push_back(text_.substr(begin_, end - begin_));
    }
    has_content_ = false;
  }

  std::string_view text_;
  size_t position_ = 0;
  size_t begin_ = 0;
  size_t first_end_ = std::string_view::npos;  // after the first ';'
  bool has_content_ = false;
  std::vector<std::string_view> statements_;
};

// The text as the one statement it is, when that is clear without looking at its middle: it begins with a
// word, and no
// ';' comes before its end. Empty otherwise.
std::string_view OnlyStatement(std::string_view text) {
  while (!text.empty() && IsBlank(text.back())) {
    text.remove_suffix(1);
  }
  while (!text.empty() && IsBlank(text.front())) {
    text.remove_prefix(1);
  }
  const bool begins_with_word =
      !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  const size_t end = text.find(';');
  if (!begins_with_word || (end != std::string_view::npos && end + 1 != text.size())) {
    return {};
  }
  text = text.substr(0, end);
  while (IsBlank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

std::vector<std::string_view> SplitStatements(std::string_view text) {
  if (const std::string_view only = OnlyStatement(text); !only.empty()) {
    return {only};
  }
  return StatementSplitter(text).Split();
}

Result<Statement> ParseStatement(std::string_view text, std::span<const Value> parameters) {
  if (text.size() > kMaxStatementBytes) {
    return LimitError("statement has {} bytes, at most {} are possible", text.size(), kMaxStatementBytes);
  }
  if (!parameters.empty()) {
    ASSIGN_OR_RETURN(const size_t expected, CountParameters(text));
    if (expected != parameters.size()) {
      return Status(StatusCode::kInvalid,
                    fmt::format("statement has {} parameters, {} were given", expected, parameters.size()),
                    1210);
    }
  }
  return StatementParser(text, parameters).Parse();
}

Result<size_t> CountParameters(std::string_view text) {
  if (text.size() > kMaxStatementBytes) {
    return LimitError("statement has {} bytes, at most {} are possible", text.size(), kMaxStatementBytes);
  }
  Lexer lexer(text);
  size_t count = 0;
  for (Token token = lexer.Next(); token.kind != TokenKind::kEnd; token = lexer.Next()) {
    if (token.kind == TokenKind::kParameter || token.kind == TokenKind::kVectorParameter) {
      ++count;
    }
  }
  return count;
}

}  // namespace stoa::sql
