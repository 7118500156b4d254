#include "sql/statements/show_rows.h"

// What the session remembers of its last statement: SHOW META, PROFILE, WARNINGS, ERRORS and their counts.
namespace stoa::sql {
namespace {

void AddKnn(const knn::SearchStatistics& statistics, ShowRows& answer) {
  const auto count = [&](std::string_view name, uint64_t value) {
    answer.Add({name, std::to_string(value)});
  };
  const auto seconds = [&](std::string_view name, double value) {
    answer.Add({name, fmt::format("{:.6f}", value)});
  };
  count("knn_candidates", statistics.candidates);
  count("knn_rescored", statistics.rescored);
  count("knn_distance_computations", statistics.distance_computations);
  count("knn_exact_parts", statistics.exact_parts);
  count("knn_graph_parts", statistics.graph_parts);
  count("knn_code_parts", statistics.code_parts);
  count("knn_batch_reads", statistics.disk.batches);
  count("knn_bytes_read", statistics.disk.bytes);
  seconds("knn_filter_time", statistics.filter_seconds);
  seconds("knn_walk_time", statistics.walk_seconds);
  seconds("knn_rescore_time", statistics.rescore_seconds);
}

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
  if (session.meta.knn) {
    AddKnn(*session.meta.knn, answer);
  }
  return answer;
}

// Of a KNN search, once SET profiling = 1; other statements have no stages.
ShowRows Profile(const Session::State& session) {
  ShowRows answer({"Status", "Duration", "Switches", "Percent"});
  const auto profiling = session.variables.find("profiling");
  if (profiling == session.variables.end() || profiling->second != "1") {
    return answer;
  }
  double total = 0;
  for (const QueryMeta::Stage& stage : session.meta.stages) {
    total += stage.seconds;
  }
  for (const QueryMeta::Stage& stage : session.meta.stages) {
    const double percent = total > 0 ? 100 * stage.seconds / total : 0;
    answer.Add({stage.name, fmt::format("{:.6f}", stage.seconds), "0", fmt::format("{:.2f}", percent)});
  }
  if (!session.meta.stages.empty()) {
    answer.Add({"total", fmt::format("{:.6f}", total), "0", "0"});
  }
  return answer;
}

}  // namespace

Result<ShowRows> ShowSession(const ShowStatement& show, StatementContext& context) {
  const Session::State& session = context.session;
  if (show.what == "meta") {
    return Meta(session);
  }
  if (show.what == "profile") {
    return Profile(session);
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
