#pragma once

#include "sql/expr/expr.h"

// Conversions between types. ToBigint(), ToDouble() and ToText() of sql/bind/expr_binder.h are the ones that
// turn absent JSON into 0 or ''; these keep it NULL.
namespace stoa::sql {

// To any number type or kString; to another type only from itself.
SharedExpr ConvertTo(SharedExpr expr, ValueType target);
// As ConvertTo, but JSON without a value becomes 0 or '' (the casts of FN-18).
SharedExpr CastTo(SharedExpr expr, ValueType target);
// sint(): the low 32 bits of a 32-bit value with their sign; other numbers as 64-bit integers.
SharedExpr ToSigned(SharedExpr expr);
// 0 or 1 (kInt): whether the value counts as true. NULL stays NULL.
SharedExpr ToTruth(SharedExpr expr);
// At most `characters` code points of a text.
SharedExpr CutText(SharedExpr text, uint64_t characters);
// Rounded to `digits` behind the point.
SharedExpr RoundTo(SharedExpr real, uint64_t digits);

// The type that holds the values of both, for IF, CASE and their kin.
Result<ValueType> CommonType(ValueType a, ValueType b);

}  // namespace stoa::sql
