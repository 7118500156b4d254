#include "knn/search/search_plan.h"

#include <algorithm>
#include <cmath>

namespace stoa::knn {
namespace {

// A walk is at least so wide: a narrow one loses its way, and costs hardly less.
constexpr size_t kNarrowestBeam = 64;
// Under a filter so many more candidates are kept: bounds then tell more often that there are no others.
constexpr size_t kMoreOfFiltered = 256;

}  // namespace

SearchPlan::SearchPlan(const storage::TableSnapshot& table, SearchRequest request_of_user,
                       const CancelToken* cancel_token)
    : snapshot(table), request(std::move(request_of_user)), cancel(cancel_token) {
  rescores = request.rescore || request.column->knn->quantization == "none";
  // More than there is need not be looked for, however much is asked for.
  for (const auto& part : table.parts) {
    rows += part->row_count();
  }
  const double asked = rescores ? std::ceil(request.oversampling * request.k) : request.k;
  wanted = static_cast<size_t>(std::min(asked, static_cast<double>(rows)));
  kept = wanted + (rescores && is_filtered() ? kMoreOfFiltered : 0);
  narrowest_beam = std::max(static_cast<size_t>(std::min<uint64_t>(request.ef, rows)), kNarrowestBeam);
}

// A binomial distribution's mean and three deviations (as Lucene divides k over segments).
size_t SearchPlan::ShareOf(const storage::TablePart& part) const {
  const double share = static_cast<double>(part.row_count()) / static_cast<double>(rows);
  const auto all = static_cast<double>(wanted);
  const double most = all * share + 3 * std::sqrt(all * share * (1 - share)) + 1;
  return std::min(wanted, static_cast<size_t>(most));
}

}  // namespace stoa::knn
