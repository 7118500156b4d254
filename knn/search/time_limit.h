#pragma once

#include "knn/search/table_search.h"

namespace stoa::knn {

// Polled once a batch of work. kCancelled when the statement was ended from outside. Otherwise whether its
// time is over (max_query_time), which the statistics remember: the search then ends with what it has.
inline Result<bool> IsOutOfTime(const CancelToken* cancel, SearchStatistics& statistics) {
  if (cancel == nullptr) {
    return false;
  }
  RETURN_IF_ERROR(cancel->Check());
  statistics.out_of_time = statistics.out_of_time || cancel->DeadlinePassed();
  return statistics.out_of_time;
}

}  // namespace stoa::knn
