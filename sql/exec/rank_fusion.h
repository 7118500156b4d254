#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql/exec/row_source.h"

namespace stoa::sql {

// One ranking that goes into a fusion, of whatever search: each row once, best first.
struct RankedList {
  std::vector<RowRef> rows;
  double weight = 1;
};

struct FusedRow {
  RowRef row;
  float score = 0;
};

// Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): the score of a row is the sum of
// weight / (rank_constant + rank) over the lists that hold it, ranks from 1. Every row of every list, in
// ascending order of rows; the order of the lists does not matter.
std::vector<FusedRow> FuseByReciprocalRank(std::span<const RankedList> lists, uint64_t rank_constant);

}  // namespace stoa::sql
