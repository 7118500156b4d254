#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {

Status ExecuteCall(const CallStatement& statement, StatementContext&) {
  std::string name = statement.procedure;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; });
  for (const std::string_view known :
       {"KEYWORDS", "SNIPPETS", "SUGGEST", "QSUGGEST", "PQ", "AUTOCOMPLETE", "CHAT"}) {
    if (name == known) {
      return NotSupportedYet("CALL " + name);
    }
  }
  return SyntaxError(fmt::format("no such builtin procedure '{}'", name));
}

}  // namespace stoa::sql
