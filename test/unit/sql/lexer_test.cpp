#include "sql/parser/lexer.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql/parser/keywords.h"

using namespace stoa::sql;  // NOLINT(google-build-using-namespace): a test of this namespace

namespace {

std::vector<std::string> Words(std::string_view text) {
  Lexer lexer(text);
  std::vector<std::string> words;
  for (Token token = lexer.Next(); token.kind != TokenKind::kEnd; token = lexer.Next()) {
    words.emplace_back(lexer.Bytes(token));
    if (words.size() > 100) {
      break;
    }
  }
  return words;
}

TokenKind FirstKind(std::string_view text) { return Lexer(text).Next().kind; }

std::string Content(std::string_view text) {
  Lexer lexer(text);
  const Token token = lexer.Next();
  return Lexer::Unquote(lexer.Bytes(token), token.has_escapes);
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("a statement is cut into words, numbers and signs", "[sql]") {
  CHECK(Words("a<=b <>c!=d<<2") == Strings{"a", "<=", "b", "<>", "c", "!=", "d", "<<", "2"});
  CHECK(Words("1.5e-3 .5 1e5 0x1F 12") == Strings{"1.5e-3", ".5", "1e5", "0x1F", "12"});
  CHECK(Words("t.id j.a[0]") == Strings{"t", ".", "id", "j", ".", "a", "[", "0", "]"});
  CHECK(Words("@@global.x @y ?,?VEC?") == Strings{"@@", "global", ".", "x", "@", "y", "?", ",", "?VEC?"});
}

TEST_CASE("a word may begin with digits", "[sql]") {
  CHECK(FirstKind("2fast") == TokenKind::kIdentifier);
  CHECK(FirstKind("2e5") == TokenKind::kFloat);
  CHECK(FirstKind("2e") == TokenKind::kIdentifier);
  CHECK(FirstKind("0xZ") == TokenKind::kIdentifier);
}

TEST_CASE("comments are skipped and version comments are SQL", "[sql]") {
  CHECK(Words("a -- b\n c # d\n e /* f */ g") == Strings{"a", "c", "e", "g"});
  CHECK(Words("5--3") == Strings{"5", "-", "-", "3"});
  CHECK(Words("/*!40101 SET NAMES utf8 */;") == Strings{"SET", "NAMES", "utf8", ";"});
  CHECK(Words("/*M!100616 SET a=1*/") == Strings{"SET", "a", "=", "1"});
  CHECK(Words("/*!999999\\- enable the sandbox mode */ x") == Strings{"x"});
  CHECK(Words("/*! a /* b */ c */ d") == Strings{"a", "c", "d"});
  CHECK(Words("a /*+ NO_ColumnarScan(b) */") == Strings{"a", "/*+ NO_ColumnarScan(b) */"});
}

TEST_CASE("strings lose their quotes and escapes", "[sql]") {
  CHECK(Content("'it''s'") == "it's");
  CHECK(Content(R"('a\'b\n\\')") == "a'b\n\\");
  CHECK(Content("\"x\"\"y'z\"") == "x\"y'z");
  CHECK(Content(R"('100\%')") == "100\\%");
  CHECK(Content("`a``b`") == "a`b");
}

TEST_CASE("what has no end is told apart", "[sql]") {
  CHECK(FirstKind("'abc") == TokenKind::kUnterminated);
  CHECK(FirstKind("'abc\\") == TokenKind::kUnterminated);
  CHECK(FirstKind("`abc") == TokenKind::kUnterminated);
  CHECK(FirstKind("/* abc") == TokenKind::kUnterminated);
  CHECK(FirstKind("/*!40101 abc") == TokenKind::kUnterminated);
  CHECK(FirstKind("") == TokenKind::kEnd);
}

TEST_CASE("reserved words need quotes and others do not", "[sql]") {
  CHECK(IsReservedWord("Order"));
  CHECK(IsReservedWord("no_secondaryindex"));
  CHECK_FALSE(IsReservedWord("type"));
  CHECK(IsPlainName("a_1"));
  CHECK_FALSE(IsPlainName("1a"));
  CHECK_FALSE(IsPlainName("a b"));
  CHECK_FALSE(IsPlainName("select"));
}
