#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sql/parser/ast.h"
#include "sql/value.h"
#include "storage/base/result.h"

namespace stoa::sql {

// Cuts a query text into its statements at ';' outside of strings and comments. Empty ones (";;", only
// comments) are left out, unless the whole text has none: then one empty statement. Comments of the form /*!
// … */ are part of a statement. The views point into `text`.
std::vector<std::string_view> SplitStatements(std::string_view text);

// Parses one statement; `text` and `parameters` must outlive it. Errors are kInvalid with MySQL's number and
// "P01: syntax error, unexpected identifier near 'frm goods' (line 1, column 10)"; the prefix follows MW-14.
// `parameters` bind the placeholders in order (EXECUTE); without them placeholders become kParameter nodes.
Result<Statement> ParseStatement(std::string_view text, std::span<const Value> parameters = {});

// Number of placeholders of a statement (? and ?VEC?).
Result<size_t> CountParameters(std::string_view text);

}  // namespace stoa::sql
