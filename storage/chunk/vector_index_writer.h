#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/chunk/disk_chunk.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// Builds the vector indexes of a chunk whose other files, but for the header, are written. `progress` is told
// how many rows × columns are done. After an error the file is of no use.
Status WriteVectorIndexes(Env& env, const std::string& folder, const ChunkWriteInput& input,
                          const std::function<void(uint64_t done)>& progress, WritableFile& file);

// Where the rows of a part go in a chunk that is written of it and others: by row of the part, its row in the
// chunk; kNoRow: dead, or its value in the column was changed since the part was written. `first`: the row of
// the first live one.
std::vector<uint32_t> NewRowsOf(const TablePart& part, ColumnId column, uint32_t first);

}  // namespace stoa::storage
