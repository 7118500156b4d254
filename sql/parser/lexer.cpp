#include "sql/parser/lexer.h"

#include <array>

namespace stoa::sql {
namespace {

enum ByteClass : uint8_t { kOther = 0, kBlank = 1, kLetter = 2, kDigit = 4 };

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  for (size_t i = 0; i < classes.size(); ++i) {
    const bool letter = (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z') || i == '_' || i == '$' || i >= 0x80;
    if (letter) {
      classes[i] = kLetter;
    } else if (i >= '0' && i <= '9') {
      classes[i] = kDigit;
    } else if (i == ' ' || (i >= '\t' && i <= '\r') || i == 0) {
      classes[i] = kBlank;
    }
  }
  return classes;
}

constexpr auto kClasses = MakeClasses();
constexpr uint64_t kOwnVersion = 80040;     // as the handshake says; /*!80041 … */ is for newer servers
constexpr uint64_t kNoMariaDbHas = 990000;  // /*M!999999 … */ is written to be skipped by everyone

uint8_t ClassOf(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

char Unescaped(char c) {
  switch (c) {
    case '0':
      return '\0';
    case 'b':
      return '\b';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'Z':
      return '\x1a';
    default:
      return c;
  }
}

}  // namespace

bool IsIdentifierByte(char c) { return (ClassOf(c) & (kLetter | kDigit)) != 0; }

Token Lexer::Make(TokenKind kind, size_t begin) const {
  Token token;
  token.kind = kind;
  token.begin = static_cast<uint32_t>(begin);
  token.end = static_cast<uint32_t>(position_);
  token.in_version_comment = in_version_comment_;
  return token;
}

Token Lexer::Next() {
  if (Token special = SkipBlanks(); special.kind != TokenKind::kEnd) {
    return special;
  }
  if (position_ >= text_.size()) {
    return Make(TokenKind::kEnd, position_);
  }
  const char c = text_[position_];
  const uint8_t byte_class = ClassOf(c);
  if (byte_class == kDigit || (c == '.' && IsDigit(At(position_ + 1)))) {
    return Number();
  }
  if (byte_class == kLetter) {
    return Word(position_);
  }
  if (c == '\'' || c == '"' || c == '`') {
    return Quoted(c);
  }
  return Sign();
}

Token Lexer::SkipBlanks() {
  for (;;) {
    while (position_ < text_.size() && ClassOf(text_[position_]) == kBlank) {
      ++position_;
    }
    const char c = At(position_);
    if (c == '#') {
      SkipLine();
    } else if (c == '-' && At(position_ + 1) == '-' &&
               (position_ + 2 >= text_.size() || ClassOf(text_[position_ + 2]) == kBlank)) {
      SkipLine();
    } else if (c == '*' && in_version_comment_ && At(position_ + 1) == '/') {
      in_version_comment_ = false;
      position_ += 2;
    } else if (c == '/' && At(position_ + 1) == '*') {
      Token special;
      if (!SkipComment(&special)) {
        return special;
      }
    } else {
      return {};
    }
  }
}

void Lexer::SkipLine() {
  const size_t end = text_.find('\n', position_);
  position_ = end == std::string_view::npos ? text_.size() : end + 1;
}

// Stands at "/*". False: `special` is to be returned.
bool Lexer::SkipComment(Token* special) {
  const size_t begin = position_;
  const char first = At(begin + 2);
  if (first == '!') {
    OpenVersionComment(begin + 3);
    if (position_ != begin) {
      return true;
    }
  } else if (first == 'M' && At(begin + 3) == '!') {
    OpenVersionComment(begin + 4);
    if (position_ != begin) {
      return true;
    }
  }
  const size_t end = text_.find("*/", begin + 2);
  const bool terminated = end != std::string_view::npos;
  position_ = terminated ? end + 2 : text_.size();
  if (!terminated || first == '+') {
    *special = Make(terminated ? TokenKind::kHint : TokenKind::kUnterminated, begin);
    return false;
  }
  return true;
}

// Leaves position_ where it is when the comment is to be skipped.
void Lexer::OpenVersionComment(size_t digits_at) {
  uint64_t version = 0;
  size_t at = digits_at;
  for (; IsDigit(At(at)) && at < digits_at + 6; ++at) {
    version = version * 10 + static_cast<uint64_t>(At(at) - '0');
  }
  const bool for_mariadb = text_[digits_at - 2] == 'M' || text_[digits_at - 2] == 'm';
  if (version > (for_mariadb ? kNoMariaDbHas : kOwnVersion) ||
      text_.find("*/", at) == std::string_view::npos) {
    return;
  }
  in_version_comment_ = true;
  position_ = at;
}

Token Lexer::Number() {
  const size_t begin = position_;
  if (text_[begin] == '0' && (At(begin + 1) == 'x' || At(begin + 1) == 'X') && IsHexDigit(At(begin + 2))) {
    position_ += 2;
    while (IsHexDigit(At(position_))) {
      ++position_;
    }
    if (!IsIdentifierByte(At(position_))) {
      return Make(TokenKind::kInteger, begin);
    }
  }
  position_ = begin;
  bool real = false;
  while (IsDigit(At(position_))) {
    ++position_;
  }
  const size_t digits_end = position_;
  if (At(position_) == '.') {
    real = true;
    ++position_;
    while (IsDigit(At(position_))) {
      ++position_;
    }
  }
  if (At(position_) == 'e' || At(position_) == 'E') {
    const char next = At(position_ + 1);
    const size_t exponent = (next == '+' || next == '-') ? position_ + 2 : position_ + 1;
    if (IsDigit(At(exponent))) {
      real = true;
      position_ = exponent;
      while (IsDigit(At(position_))) {
        ++position_;
      }
    }
  }
  if (IsIdentifierByte(At(position_)) && (ClassOf(At(position_)) & kLetter) != 0 && text_[begin] != '.') {
    // 2fast: a name that begins with digits. "1.abc" is a number and a word that follows it.
    if (digits_end == position_) {
      return Word(begin);
    }
  }
  return Make(real ? TokenKind::kFloat : TokenKind::kInteger, begin);
}

Token Lexer::Word(size_t begin) {
  while (position_ < text_.size() && IsIdentifierByte(text_[position_])) {
    ++position_;
  }
  return Make(TokenKind::kIdentifier, begin);
}

Token Lexer::Quoted(char quote) {
  const size_t begin = position_++;
  bool has_escapes = false;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\\' && quote != '`') {
      has_escapes = true;
      position_ += 2;
      continue;
    }
    if (c != quote) {
      ++position_;
      continue;
    }
    if (At(position_ + 1) == quote && position_ + 1 < text_.size()) {
      has_escapes = true;
      position_ += 2;
      continue;
    }
    ++position_;
    Token token = Make(quote == '`' ? TokenKind::kQuotedName : TokenKind::kString, begin);
    token.has_escapes = has_escapes;
    return token;
  }
  position_ = text_.size();
  return Make(TokenKind::kUnterminated, begin);
}

Token Lexer::Sign() {
  const size_t begin = position_;
  const char c = text_[position_++];
  const char next = At(position_);
  uint8_t code = static_cast<uint8_t>(c);
  auto two = [&](char expected, uint8_t longer) {
    if (next == expected && code == static_cast<uint8_t>(c)) {
      ++position_;
      code = longer;
    }
  };
  switch (c) {
    case '<':
      two('=', sign::kLessEqual);
      two('>', sign::kNotEqual);
      two('<', sign::kShiftLeft);
      if (code == sign::kLessEqual && At(position_) == '>') {
        ++position_;
        code = sign::kNullSafeEqual;
      }
      break;
    case '>':
      two('=', sign::kGreaterEqual);
      two('>', sign::kShiftRight);
      break;
    case '!':
      two('=', sign::kNotEqual);
      break;
    case '&':
      two('&', sign::kAndAnd);
      break;
    case '|':
      two('|', sign::kOrOr);
      break;
    case ':':
      two('=', sign::kAssign);
      break;
    case '@':
      two('@', sign::kAtAt);
      break;
    case '?':
      if (text_.size() - position_ >= 4 && text_[position_ + 3] == '?' && (next == 'V' || next == 'v') &&
          (At(position_ + 1) | 0x20) == 'e' && (At(position_ + 2) | 0x20) == 'c') {
        position_ += 4;
        return Make(TokenKind::kVectorParameter, begin);
      }
      return Make(TokenKind::kParameter, begin);
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case ',':
    case ';':
    case '.':
    case '=':
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '^':
    case '~':
      break;
    default:
      return Make(TokenKind::kBadCharacter, begin);
  }
  Token token = Make(TokenKind::kSign, begin);
  token.sign = code;
  return token;
}

std::string Lexer::Unquote(std::string_view bytes, bool has_escapes) {
  const char quote = bytes.front();
  const std::string_view inside = bytes.substr(1, bytes.size() - 2);
  if (!has_escapes) {
    return std::string(inside);
  }
  std::string out;
  out.reserve(inside.size());
  for (size_t i = 0; i < inside.size(); ++i) {
    const char c = inside[i];
    if (c == '\\' && quote != '`' && i + 1 < inside.size()) {
      const char next = inside[++i];
      if (next == '%' || next == '_') {
        out.push_back('\\');  // stays escaped for LIKE
      }
      out.push_back(Unescaped(next));
    } else {
      out.push_back(c);
      if (c == quote) {
        ++i;  // doubled
      }
    }
  }
  return out;
}

}  // namespace stoa::sql
