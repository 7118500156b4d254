#include "sql/exec/rank_fusion.h"

#include <algorithm>
#include <tuple>

namespace stoa::sql {
namespace {

struct Contribution {
  RowRef row;
  double score;
};

}  // namespace

std::vector<FusedRow> FuseByReciprocalRank(std::span<const RankedList> lists, uint64_t rank_constant) {
  std::vector<Contribution> contributions;
  size_t count = 0;
  for (const RankedList& list : lists) {
    count += list.rows.size();
  }
  contributions.reserve(count);
  for (const RankedList& list : lists) {
    double divisor = static_cast<double>(rank_constant);
    for (const RowRef& row : list.rows) {
      divisor += 1;
      contributions.push_back({row, list.weight / divisor});
    }
  }
  // By score too, so that rows with the same ranks in other lists get the same sum to the last bit.
  std::sort(contributions.begin(), contributions.end(), [](const Contribution& a, const Contribution& b) {
    return std::tie(a.row, a.score) < std::tie(b.row, b.score);
  });
  std::vector<FusedRow> fused;
  for (size_t i = 0; i < contributions.size();) {
    const RowRef row = contributions[i].row;
    double score = 0;
    for (; i < contributions.size() && contributions[i].row == row; ++i) {
      score += contributions[i].score;
    }
    fused.push_back({row, static_cast<float>(score)});
  }
  return fused;
}

}  // namespace stoa::sql
