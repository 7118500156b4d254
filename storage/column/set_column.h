#pragma once

#include <memory>

#include "storage/base/result.h"
#include "storage/column/column_input.h"
#include "storage/column/file_column.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// Columns of type kMulti and kMulti64: the sets in row order, as byte blocks.
// docs/format/spc-texts-sets-vectors.md, "Sets". Reads `input` once.
Status WriteSetColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file);
Result<std::shared_ptr<const FileColumn>> OpenSetColumn(std::shared_ptr<const OpenSectionFile> file,
                                                        ColumnId column);

}  // namespace stoa::storage
