#pragma once

#include <string_view>

namespace stoa::sql {

// Words that cannot be a name without back-quotes (docs/sql, "Names"): the reserved words of the dialect and
// what the grammar needs beyond them. `word` in any case. SHOW CREATE TABLE quotes them.
bool IsReservedWord(std::string_view word);

// True for a name that can stand in a statement without back-quotes: [a-z_][a-z0-9_]* in any case, not
// reserved.
bool IsPlainName(std::string_view name);

// Words that begin the next clause and therefore are no alias unless AS stands before them.
bool IsClauseWord(std::string_view word);

// `a` and `lower` are the same but for the case of ASCII letters; `lower` is given in lower case.
bool EqualsLower(std::string_view a, std::string_view lower);

}  // namespace stoa::sql
