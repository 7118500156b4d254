#include "sql/exec/search_plan.h"

#include <algorithm>

#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

constexpr std::string_view kTextName = "query";  // the name that the list of MATCH() has in fusion_weights

Status CheckNames(const std::vector<KnnPlan>& lists) {
  for (size_t i = 0; i < lists.size(); ++i) {
    const std::string& name = lists[i].name;
    if (name == kTextName) {
      return SyntaxError("a knn() can not be named 'query', which is the name of the full-text search");
    }
    const bool is_taken = std::any_of(lists.begin(), lists.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const KnnPlan& other) { return other.name == name; });
    if (is_taken && !name.empty()) {
      return SyntaxError(fmt::format("two knn() are named '{}'", name));
    }
  }
  return Status::Ok();
}

Status SetWeights(const FusionOptions& fusion, std::vector<KnnPlan>& lists) {
  RETURN_IF_ERROR(CheckNames(lists));
  for (const auto& [name, weight] : fusion.weights) {
    const auto list = std::find_if(lists.begin(), lists.end(),
                                   [&name = name](const KnnPlan& knn) { return knn.name == name; });
    if (list == lists.end()) {
      return SyntaxError(fmt::format("unknown alias '{}' in fusion_weights, no search is named so", name));
    }
    list->weight = weight;
  }
  return Status::Ok();
}

}  // namespace

void CollectConjuncts(const ParsedExpr& where, std::vector<const ParsedExpr*>& conjuncts) {
  if (where.kind == ParsedKind::kBinary && where.op == Operator::kAnd) {
    CollectConjuncts(*where.args[0], conjuncts);
    CollectConjuncts(*where.args[1], conjuncts);
  } else {
    conjuncts.push_back(&where);
  }
}

Result<std::vector<const ParsedExpr*>> FindSearches(const std::vector<const ParsedExpr*>& conjuncts,
                                                    const std::optional<FusionOptions>& fusion) {
  std::vector<const ParsedExpr*> searches;
  std::copy_if(conjuncts.begin(), conjuncts.end(), std::back_inserter(searches),
               [](const ParsedExpr* condition) { return condition->kind == ParsedKind::kKnn; });
  if (fusion && searches.size() < 2) {
    return SyntaxError(
        fmt::format("hybrid search (fusion_method='rrf') requires at least two searches, the query has {}",
                    searches.empty() ? "none" : "one"));
  }
  if (!fusion && searches.size() > 1) {
    return SyntaxError("multiple KNN clauses require hybrid fusion (set fusion_method='rrf')");
  }
  return searches;
}

Result<SearchPlan> BindSearches(const std::vector<const ParsedExpr*>& searches,
                                const std::optional<FusionOptions>& fusion, const RowSource& source,
                                const NameScope& scope, std::string_view statement) {
  SearchPlan plan;
  for (const ParsedExpr* search : searches) {
    ASSIGN_OR_RETURN(KnnPlan knn, BindKnn(*search, source, scope, statement));
    plan.lists.push_back(std::move(knn));
  }
  if (fusion) {
    RETURN_IF_ERROR(SetWeights(*fusion, plan.lists));
    plan.fusion = fusion;
  }
  return plan;
}

void SetRowsToFind(uint64_t rows_of_answer, SearchPlan& plan) {
  uint64_t window = rows_of_answer;
  for (const KnnPlan& knn : plan.lists) {
    window = std::max(window, knn.k.value_or(0));
  }
  if (plan.fusion && plan.fusion->window_size > 0) {
    window = plan.fusion->window_size;
  }
  for (KnnPlan& knn : plan.lists) {
    knn.rows = std::min(window, knn.k.value_or(window));
  }
}

}  // namespace stoa::sql
