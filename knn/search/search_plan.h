#pragma once

#include "knn/search/part_rows.h"
#include "knn/search/table_search.h"

namespace stoa::knn {

// What one search looks for; the same for all parts and threads.
struct SearchPlan {
  SearchPlan(const storage::TableSnapshot& table, SearchRequest request_of_user,
             const CancelToken* cancel_token);

  // How many of the wanted candidates lie in a part if they are spread evenly, and hardly ever more.
  size_t ShareOf(const storage::TablePart& part) const;
  bool is_filtered() const { return request.filter && request.prefilter; }

  const storage::TableSnapshot& snapshot;
  const SearchRequest request;
  const CancelToken* const cancel;
  bool rescores = true;  // exact distances, also when nothing is rescored: without quantisation
  uint64_t rows = 0;     // of the table, dead ones included
  size_t wanted = 0;     // candidates
  size_t kept = 0;       // candidates, at least `wanted`
  size_t narrowest_beam = 0;
};

// A part, and the rows of it that may be found.
struct SearchedPart {
  SearchedPart(const SearchPlan& plan, uint32_t place, RowBits bits)
      : number(place),
        filter(std::move(bits)),
        rows(*plan.snapshot.parts[place], plan.is_filtered() ? &filter : nullptr) {}
  SearchedPart(const SearchedPart&) = delete;
  SearchedPart& operator=(const SearchedPart&) = delete;

  const uint32_t number;  // of the part
  const RowBits filter;
  PartRows rows;
};

}  // namespace stoa::knn
