#pragma once

#include <memory>

#include "storage/base/result.h"
#include "storage/column/column_input.h"
#include "storage/column/file_column.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// Columns of numbers: kId, kInt, kBigint, kBool, kTimestamp, kFloat. Blocks of 1,024 values, each packed in
// the way that takes the fewest bytes and still gives a single value by arithmetic (number_block.h).
// docs/format/spc.md, "Numbers".
//
// Reads `input` once; holds one piece of it, one block and the directory.
Status WriteNumberColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file);
// The same under any key, for columns that keep numbers of their own: codes of a dictionary.
Status WriteNumbers(ColumnType type, ColumnInput& input, SectionFileWriter& file, uint32_t key);

Result<std::shared_ptr<const FileColumn>> OpenNumberColumn(std::shared_ptr<const OpenSectionFile> file,
                                                           ColumnId column);

}  // namespace stoa::storage
