#pragma once

#include <memory>
#include <vector>

#include "sql/exec/row_source.h"

namespace stoa::sql {

// What a KNN search found.
struct FoundRows {
  std::vector<RowRef> rows;      // ascending
  std::vector<float> distances;  // of each
};

// `source` with one column more, behind its own: the distance of the rows that were found, which are the only
// ones it may be asked for.
std::shared_ptr<const RowSource> MakeFoundSource(std::shared_ptr<const RowSource> source,
                                                 std::shared_ptr<const FoundRows> found);

}  // namespace stoa::sql
