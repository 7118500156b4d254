#pragma once

#include "sql/expr/constant_test.h"
#include "sql/expr/expr.h"

// Comparisons: kInt, 0 or 1, NULL where an operand is.
namespace stoa::sql {

struct CompareOptions {
  Collation collation = Collation::kLibcCi;
  bool exact_floats = false;  // inside IF: no tolerance for equality of reals
};

// ANY(x), ALL(x): how many values of a set or a JSON array must pass. kPlain is ANY; with negated tests of
// JSON arrays it means that no value may fail.
enum class Quantifier : uint8_t { kPlain, kAny, kAll };

// Whether the constants of `test` are of a kind that MakeTest() compares with such operands.
bool Fits(ValueType operand, ConstantTest test);

// Makes numbers of the numeric texts among the constants.
void ConvertNumericTexts(ConstantTest& test);

// operand op constants, specialised by type. Constants of another kind than the operand match nothing.
Result<SharedExpr> MakeTest(SharedExpr operand, ConstantTest test, Quantifier quantifier,
                            const CompareOptions& options);

// left op right with kEqual … kGreaterEqual, of any scalar types. A number and a text compare as numbers when
// the text is one, else as texts; JSON compares by its own types.
Result<SharedExpr> MakeComparison(Operator op, SharedExpr left, SharedExpr right,
                                  const CompareOptions& options);

// The same comparison with its sides exchanged: < for >.
Operator Mirror(Operator op);

}  // namespace stoa::sql
