#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoa::sql {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,  // a bare word, keywords too
  kQuotedName,  // `…`
  kString,      // '…' or "…"
  kInteger,     // digits or 0x…
  kFloat,
  kParameter,        // ?
  kVectorParameter,  // ?VEC?
  kSign,             // `sign`
  kHint,             // /*+ … */, whole
  kUnterminated,     // a string, quoted name or comment without its end
  kBadCharacter,
};

// Signs of one character are that character; these are the longer ones.
namespace sign {
inline constexpr uint8_t kLessEqual = 1;
inline constexpr uint8_t kGreaterEqual = 2;
inline constexpr uint8_t kNotEqual = 3;       // <> !=
inline constexpr uint8_t kNullSafeEqual = 4;  // <=>
inline constexpr uint8_t kShiftLeft = 5;
inline constexpr uint8_t kShiftRight = 6;
inline constexpr uint8_t kAndAnd = 7;
inline constexpr uint8_t kOrOr = 8;
inline constexpr uint8_t kAssign = 9;  // :=
inline constexpr uint8_t kAtAt = 10;   // @@
}  // namespace sign

// A piece of the text. Values are made from it on demand, so that skipping is cheap.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint8_t sign = 0;
  bool has_escapes = false;  // strings, quoted names: the content differs from the bytes between the quotes
  bool in_version_comment = false;  // inside /*! … */
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Cuts the text of one statement into tokens. Comments are skipped: `-- `, #, /* */; the content of /*!40101
// … */ and
// /*M!… */ is SQL, unless its version is one that no server has (/*!999999 …). A value: copy it to look
// ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token Next();
  // Goes on at this offset, which stands between two tokens.
  void MoveTo(size_t position) { position_ = position; }
  std::string_view text() const { return text_; }
  std::string_view Bytes(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }

  // Content of a string or quoted name without quotes and escapes.
  static std::string Unquote(std::string_view bytes, bool has_escapes);

 private:
  // Skips blanks and comments; a token of kind kHint or kUnterminated when one of them is met, else kEnd.
  Token SkipBlanks();
  bool SkipComment(Token* special);
  void OpenVersionComment(size_t digits_at);
  void SkipLine();
  Token Number();
  Token Word(size_t begin);
  Token Quoted(char quote);
  Token Sign();
  Token Make(TokenKind kind, size_t begin) const;
  char At(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  std::string_view text_;
  size_t position_ = 0;
  bool in_version_comment_ = false;
};

bool IsIdentifierByte(char c);

}  // namespace stoa::sql
