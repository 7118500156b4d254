#include <chrono>

#include "sql/bind/expr_binder.h"
#include "sql/exec/id_filter.h"
#include "sql/exec/scan.h"
#include "sql/exec/search_run.h"
#include "sql/exec/select_run.h"
#include "sql/exec/select_scope.h"
#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

using std::chrono::steady_clock;

double SecondsSince(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

// What a search did, and the stages of its statement; what comes before the search is planning.
void SetSearchMeta(const SelectPlan& plan, const SearchOutcome& outcome, double planned, double searched,
                   double ended, QueryMeta& meta) {
  const knn::SearchStatistics& statistics = outcome.statistics;
  meta.knn = statistics;
  const double stages = statistics.filter_seconds + statistics.walk_seconds + statistics.rescore_seconds +
                        outcome.fusion_seconds;
  meta.stages = {{"plan", planned},
                 {"knn filter", statistics.filter_seconds},
                 {"knn walk", statistics.walk_seconds},
                 {"knn rescore", statistics.rescore_seconds},
                 {"knn other", std::max(0.0, searched - planned - stages)}};
  if (plan.search->fusion) {
    meta.stages.push_back({"fusion", outcome.fusion_seconds});
  }
  meta.stages.push_back({"rows", ended - searched});
}

void SetMeta(const SelectPlan& plan, const SelectOutcome& outcome, steady_clock::time_point start,
             QueryMeta& meta) {
  const double seconds = SecondsSince(start);
  meta.rows = {{"total", std::to_string(outcome.total)},
               {"total_found", std::to_string(outcome.total_found)},
               {"total_relation", outcome.complete ? "eq" : "gte"},
               {"time", fmt::format("{:.3f}", seconds)}};
  if (plan.documents) {
    meta.rows.push_back({"index", "id:DocidIndex (100%)"});
  }
}

// All plans of a statement are about the rows that its search found.
void UseFound(const std::shared_ptr<const FoundRows>& found, std::vector<SelectPlan>& plans) {
  const std::shared_ptr<const RowSource> source = MakeFoundSource(plans[0].source, found);
  for (SelectPlan& plan : plans) {
    plan.found = found;
    plan.source = source;
  }
}

// A row for each list.
Status ExplainSearch(const SelectPlan& plan, const std::string& table, StatementContext& context) {
  const SearchPlan& search = *plan.search;
  std::vector<std::vector<Value>> rows;
  for (const KnnPlan& knn : search.lists) {
    std::string extra = search.filter ? "KNN search with filter" : "KNN search";
    if (search.fusion) {
      extra +=
          fmt::format(", fused (rrf, rank_constant {}, weight {})", search.fusion->rank_constant, knn.weight);
    }
    rows.push_back({Value::String("1"), Value::String("SIMPLE"), Value::String(table), Value::String("knn"),
                    Value::String(knn.column),
                    Value::String(std::to_string(std::min(knn.rows, plan.source->live_count()))),
                    Value::String(std::move(extra))});
  }
  return SendRows(context, {"id", "select_type", "table", "type", "key", "rows", "Extra"}, rows);
}

// A warning or two may have come from every facet; one is enough.
void WarnOutOfTime(StatementContext& context) {
  static constexpr std::string_view kText = "query time exceeded max_query_time";
  for (const std::string& warning : context.warnings) {
    if (warning == kText) {
      return;
    }
  }
  context.warnings.emplace_back(kText);
}

}  // namespace

Status ExecuteSelect(const SelectStatement& statement, StatementContext& context) {
  const auto start = steady_clock::now();
  ASSIGN_OR_RETURN(const OpenedSource source, OpenSource(statement, context));
  // Everything is bound before the first row goes out, so that an error leaves no half answer.
  std::vector<SelectPlan> plans;
  ASSIGN_OR_RETURN(SelectPlan plan, PlanSelect(statement, source, context));
  plans.push_back(std::move(plan));
  for (const FacetClause& facet : statement.facets) {
    ASSIGN_OR_RETURN(SelectPlan facet_plan, PlanFacet(statement, facet, source, context));
    plans.push_back(std::move(facet_plan));
  }
  if (const uint64_t limit = plans[0].options.max_query_time_ms; limit > 0) {
    context.cancel.SetDeadline(start + std::chrono::milliseconds(limit));
  }
  std::optional<SearchOutcome> search;
  const double planned = SecondsSince(start);
  if (plans[0].search) {
    ASSIGN_OR_RETURN(search, RunSearch(plans[0], context));
    UseFound(search->found, plans);
    if (search->out_of_time) {  // what was found by then is shown
      context.cancel.SetDeadline(CancelToken::Clock::time_point::max());
    }
  }
  const double searched = SecondsSince(start);
  for (size_t i = 0; i < plans.size(); ++i) {
    ASSIGN_OR_RETURN(SelectOutcome outcome, RunSelect(plans[i], context));
    if (search && search->out_of_time) {
      outcome.out_of_time = true;
      outcome.complete = false;
    }
    if (outcome.out_of_time) {
      WarnOutOfTime(context);
    }
    if (i == 0) {
      SetMeta(plans[0], outcome, start, context.session.meta);
      if (search) {
        SetSearchMeta(plans[0], *search, planned, searched, SecondsSince(start), context.session.meta);
      }
    }
    const bool more = i + 1 < plans.size() || context.more_results;
    RETURN_IF_ERROR(context.sink.End({context.warning_count(), more, {}}));
  }
  return Status::Ok();
}

Result<std::vector<ResultColumn>> DescribeSelect(const SelectStatement& statement,
                                                 StatementContext& context) {
  ASSIGN_OR_RETURN(const OpenedSource source, OpenSource(statement, context));
  ASSIGN_OR_RETURN(const SelectPlan plan, PlanSelect(statement, source, context));
  std::vector<ResultColumn> columns;
  for (const OutputColumn& output : plan.output) {
    columns.push_back(output.column);
  }
  return columns;
}

Status ExecuteExplain(const ExplainStatement& statement, StatementContext& context) {
  if (statement.select == nullptr) {
    return NotSupportedYet("EXPLAIN QUERY");
  }
  ASSIGN_OR_RETURN(const OpenedSource source, OpenSource(*statement.select, context));
  ASSIGN_OR_RETURN(const SelectPlan plan, PlanSelect(*statement.select, source, context));
  if (plan.search) {
    return ExplainSearch(plan, source.names[0], context);
  }
  const std::string access =
      plan.documents ? "document id index" : (plan.filter ? "full scan with filter" : "full scan");
  const uint64_t rows = plan.documents ? plan.documents->size() : plan.source->live_count();
  return SendRows(
      context, {"id", "select_type", "table", "type", "key", "rows", "Extra"},
      {{Value::String("1"), Value::String("SIMPLE"),
        source.names.empty() ? Value::Null() : Value::String(source.names[0]),
        Value::String(plan.documents ? "const" : "ALL"), plan.documents ? Value::String("id") : Value::Null(),
        Value::String(std::to_string(rows)), Value::String(access)}});
}

Result<std::vector<DocId>> SelectDocuments(const storage::TableSnapshot& snapshot, const ParsedExpr& where,
                                           StatementContext& context) {
  // The snapshot is the caller's; the source only borrows it for this call.
  const std::shared_ptr<const storage::TableSnapshot> borrowed(std::shared_ptr<void>(), &snapshot);
  const std::shared_ptr<const RowSource> source = MakeTableSource({borrowed});
  SelectScope scope(*source, {snapshot.definition->name}, context);
  scope.set_clause(SelectScope::Clause::kWhere);
  ASSIGN_OR_RETURN(const SharedExpr filter, BindFilter(where, scope));
  const auto documents = DocumentsOf(where, scope);
  const ScanInput input{*source, scope.slots, filter.get(), documents ? &*documents : nullptr,
                        context.cancel};
  std::vector<DocId> ids;
  ASSIGN_OR_RETURN(const ScanEnd end, RunScan(input, [&](ScanBatch& batch) -> Result<ScanStep> {
                     ASSIGN_OR_RETURN(const auto batch_ids, batch.Ids());
                     for (const int64_t id : batch_ids) {
                       ids.push_back(DocId(static_cast<uint64_t>(id)));
                     }
                     return ScanStep::kContinue;
                   }));
  if (!end.complete) {
    return QueryInterrupted();  // a write never does half of its rows
  }
  return ids;
}

}  // namespace stoa::sql
