#pragma once

#include <memory>
#include <vector>

#include "sql/exec/row_source.h"

namespace stoa::sql {

// What a search found.
struct FoundRows {
  std::vector<RowRef> rows;      // ascending
  std::vector<float> distances;  // of each
  std::vector<float> scores;     // of each; none unless ranked lists were fused
};

// What a search tells of the rows it found, in the order of the columns that a found source has for it.
enum class FoundColumn : uint8_t { kDistance, kScore };

// `source` with the columns of FoundColumn more, behind its own, for the rows that were found, which are the
// only ones they may be asked for.
std::shared_ptr<const RowSource> MakeFoundSource(std::shared_ptr<const RowSource> source,
                                                 std::shared_ptr<const FoundRows> found);

}  // namespace stoa::sql
