#include "sql/statements/show_rows.h"

// What the session remembers of its last statement: SHOW META, WARNINGS, ERRORS and their counts.
namespace stoa::sql {
namespace {

ShowRows Meta(const Session::State& session) {
  ShowRows answer({"Variable_name", "Value"});
  if (!session.last_error.empty()) {
    answer.Add({"error", session.last_error});
  }
  std::string warnings;
  for (const std::string& warning : session.warnings) {
    warnings.append(warnings.empty() ? "" : "; ").append(warning);
  }
  if (!warnings.empty()) {
    answer.Add({"warning", warnings});
  }
  for (const NamedValue& row : session.meta.rows) {
    answer.Add({row.name, row.value});
  }
  if (session.meta.rows.empty()) {
    answer.Add({"total", "0"});
    answer.Add({"total_found", "0"});
    answer.Add({"total_relation", "eq"});
    answer.Add({"time", "0.000"});
  }
  return answer;
}

}  // namespace

Result<ShowRows> ShowSession(const ShowStatement& show, StatementContext& context) {
  const Session::State& session = context.session;
  if (show.what == "meta") {
    return Meta(session);
  }
  if (show.what == "count warnings" || show.what == "count errors") {
    const bool errors = show.what == "count errors";
    ShowRows answer({errors ? "@@session.error_count" : "@@session.warning_count"});
    const size_t count = errors ? (session.last_error.empty() ? 0 : 1) : session.warnings.size();
    answer.Add({std::to_string(count)});
    return answer;
  }
  ShowRows answer({"Level", "Code", "Message"});
  answer.like_column = 2;
  if (show.what == "warnings") {
    for (const std::string& warning : session.warnings) {
      answer.Add({"warning", "1000", warning});
    }
  }
  if (!session.last_error.empty()) {
    answer.Add({"error", "1064", session.last_error});
  }
  return answer;
}

}  // namespace stoa::sql
