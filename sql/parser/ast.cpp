#include "sql/parser/ast.h"

namespace stoa::sql {

ParsedExpr::ParsedExpr() = default;
ParsedExpr::~ParsedExpr() = default;

}  // namespace stoa::sql
