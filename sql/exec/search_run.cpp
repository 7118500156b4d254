#include "sql/exec/search_run.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "sql/exec/knn_run.h"
#include "sql/exec/part_filter.h"
#include "sql/exec/rank_fusion.h"

namespace stoa::sql {
namespace {

// The search of one statement, be it one list or several.
class SearchRun {
 public:
  SearchRun(const SelectPlan& plan, StatementContext& context)
      : plan_(plan), search_(*plan.search), context_(context) {}

  Result<SearchOutcome> Run() {
    PartRows rows;
    if (search_.filter != nullptr) {
      ASSIGN_OR_RETURN(PartFilter made,
                       PartFilter::Make(*plan_.source, plan_.slots, search_.filter.get(),
                                        search_.documents ? &*search_.documents : nullptr, context_.cancel));
      filter_.emplace(std::move(made));
      rows = [this](uint32_t part) { return Filter(part); };
    }
    std::vector<KnnHit> hits;  // of all lists
    for (const KnnPlan& knn : search_.lists) {
      ASSIGN_OR_RETURN(const std::vector<KnnHit> list,
                       RunKnn(knn, *plan_.source, rows, context_, outcome_.statistics));
      hits.insert(hits.end(), list.begin(), list.end());
      if (search_.fusion) {
        AddRanking(list, knn.weight);
      }
    }
    outcome_.out_of_time = outcome_.statistics.out_of_time || (filter_ && filter_->out_of_time());
    outcome_.found = Found(std::move(hits));
    return std::move(outcome_);
  }

 private:
  // The lists look among the same rows.
  Result<knn::RowBits> Filter(uint32_t part) {
    if (search_.lists.size() == 1) {
      return filter_->RowsOf(part);
    }
    const auto known = passing_.find(part);
    if (known != passing_.end()) {
      return known->second;
    }
    ASSIGN_OR_RETURN(knn::RowBits bits, filter_->RowsOf(part));
    return passing_.emplace(part, std::move(bits)).first->second;
  }

  void AddRanking(const std::vector<KnnHit>& hits, double weight) {
    RankedList& ranking = rankings_.emplace_back();
    ranking.weight = weight;
    ranking.rows.reserve(hits.size());
    for (const KnnHit& hit : hits) {
      ranking.rows.push_back(hit.row);
    }
  }

  // A row is as near as in the list that has it nearest.
  std::shared_ptr<const FoundRows> Found(std::vector<KnnHit> hits) {
    const auto start = std::chrono::steady_clock::now();
    auto found = std::make_shared<FoundRows>();
    std::sort(hits.begin(), hits.end(), [](const KnnHit& a, const KnnHit& b) {
      return std::tie(a.row, a.distance) < std::tie(b.row, b.distance);
    });
    for (const KnnHit& hit : hits) {
      if (found->rows.empty() || found->rows.back() != hit.row) {
        found->rows.push_back(hit.row);
        found->distances.push_back(hit.distance);
      }
    }
    if (search_.fusion) {
      for (const FusedRow& row : FuseByReciprocalRank(rankings_, search_.fusion->rank_constant)) {
        found->scores.push_back(row.score);
      }
      STOA_CHECK(found->scores.size() == found->rows.size());  // the same rows in the same order
      outcome_.fusion_seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    return found;
  }

  const SelectPlan& plan_;
  const SearchPlan& search_;
  StatementContext& context_;
  std::optional<PartFilter> filter_;
  std::map<uint32_t, knn::RowBits> passing_;  // by part, when several lists ask
  std::vector<RankedList> rankings_;
  SearchOutcome outcome_;
};

}  // namespace

Result<SearchOutcome> RunSearch(const SelectPlan& plan, StatementContext& context) {
  return SearchRun(plan, context).Run();
}

}  // namespace stoa::sql
