#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/parser/ast.h"
#include "storage/base/result.h"

namespace stoa::sql {

// A constant number as a statement gives it: an integer of up to 64 bits with its sign apart, or a double.
struct Number {
  bool integer = true;
  bool negative = false;
  uint64_t magnitude = 0;
  double real = 0;  // when not an integer; the sign is in the value

  double AsDouble() const;
};

// The whole of `text` as a number, blanks around it aside; false when it is none.
bool ParseNumber(std::string_view text, Number& number);

// The number a constant expression is: a literal, its negation, TRUE or FALSE; false when it is none of
// these.
bool ReadNumber(const ParsedExpr& expr, Number& number);
// The same, and text that spells a number.
bool ReadNumberOrText(const ParsedExpr& expr, Number& number);

// A constant as the user wrote it, for messages and for numbers that go into texts.
std::string LiteralText(const ParsedExpr& expr);

// Text of an option value: a literal or a bare word; kInvalid for anything else.
Result<std::string> OptionText(const ParsedOption& option);

// "P01: syntax error, unexpected null near 'NULL)' (line 1, column 30)" for a NULL at `range` of the
// statement.
Status UnexpectedNull(std::string_view statement, SourceRange range);

// The text of a set, vector or array of vectors as SELECT prints it ("1,3", "0.5,-2", "[[1,2],[3,4]]") as the
// list it stands for, so that what mysqldump quotes can be read back; nullptr for any other text.
ParsedExprPtr ListFromText(std::string_view text);

// A bound text without the brackets around it, "(1,2)" or "[1,2]", as users send vectors; arrays of arrays
// keep theirs.
std::string_view WithoutBrackets(std::string_view text);

}  // namespace stoa::sql
