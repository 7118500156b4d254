#pragma once

#include <functional>

#include "storage/chunk/ram_segment.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// Whether vectors in RAM segments have no codes of the table's quantiser yet: it is newer than their commit,
// or they came another way (start, compaction of segments).
bool MissCodes(const TableSnapshot& snapshot);
// Makes them, block by block as long as `go_on` says so.
void MakeCodes(const TableSnapshot& snapshot, const std::function<bool()>& go_on);

}  // namespace stoa::storage
