#pragma once

#include <memory>
#include <span>
#include <vector>

#include "storage/base/result.h"
#include "storage/chunk/ram_segment.h"
#include "storage/row_batch.h"

namespace stoa::storage {

// The rows of a part that are not deleted, ascending.
std::vector<RowId> LiveRows(const TablePart& part);

// `rows` of a part as a batch with every column of the definition but the id.
Result<RowBatch> CopyRows(const TablePart& part, std::span<const RowId> rows,
                          const TableDefinition& definition);

// One new segment with the live rows of `views`, in order; they must fit (kSegmentRows).
Result<std::shared_ptr<const SegmentView>> RewriteSegments(
    std::span<const std::shared_ptr<const SegmentView>> views, const TableDefinition& definition);

}  // namespace stoa::storage
