#pragma once

#include "sql/expr/expr.h"
#include "sql/parser/ast.h"

// Arithmetic and bit operations (FN-01, FN-02): two 32-bit integers give a 32-bit one that wraps, any 64-bit
// one makes the result 64 bits, anything else is computed in double. Division by zero is NULL; nothing traps.
namespace stoa::sql {

// kAdd … kIntegerDivide, kBitAnd … kShiftRight. kInvalid when an operand is a set or a vector.
Result<SharedExpr> MakeArithmetic(Operator op, SharedExpr left, SharedExpr right);
Result<SharedExpr> MakeNegate(SharedExpr operand);
Result<SharedExpr> MakeBitNot(SharedExpr operand);

}  // namespace stoa::sql
