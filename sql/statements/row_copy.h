#pragma once

#include <span>
#include <vector>

#include "storage/row_batch.h"
#include "storage/table/table_snapshot.h"

namespace stoa::sql {

// Whole rows of a snapshot read back, to be written again: CREATE TABLE … LIKE … WITH DATA and REPLACE … SET.

// kInvalid when a column cannot be read back: a text that is indexed, but not stored.
Status CheckCopyable(const storage::TableDefinition& definition);

// All live rows, in order.
std::vector<storage::RowLocation> LiveRows(const storage::TableSnapshot& snapshot);
// The live rows of these documents, in order; others are passed over.
Result<std::vector<storage::RowLocation>> RowsOf(const storage::TableSnapshot& snapshot,
                                                 std::span<const DocId> ids);

// The rows at `locations` (ascending) with all columns of the snapshot's definition.
Result<storage::RowBatch> CopyRows(const storage::TableSnapshot& snapshot,
                                   std::span<const storage::RowLocation> locations);

// The ids of all live rows, in order.
Result<std::vector<DocId>> LiveDocuments(const storage::TableSnapshot& snapshot);

// `count` times the only value of `one`.
storage::ColumnValues RepeatedValue(const storage::ColumnValues& one, size_t count);

}  // namespace stoa::sql
