#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "storage/base/result.h"
#include "storage/column/column_input.h"
#include "storage/column/file_column.h"
#include "storage/column/text_dictionary.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// Columns of type kString: a dictionary and codes when few texts are distinct, else the texts in row order,
// with a hash each when the definition says so. docs/format/spc-texts-sets-vectors.md.
//
// Reads `input` two or three times.
Status WriteTextColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file);
Result<std::shared_ptr<const FileColumn>> OpenTextColumn(std::shared_ptr<const OpenSectionFile> file,
                                                         ColumnId column);

// Reads the rows of a text column as codes: equal texts have equal codes, and codes are in the order of the
// texts. One thread at a time, as a ColumnReader.
class DictionaryReader {
 public:
  virtual ~DictionaryReader() = default;

  virtual const TextDictionary& dictionary() const = 0;
  // All below dictionary().size().
  virtual Status ReadCodes(std::span<const RowId> rows, std::span<uint32_t> codes) = 0;
};

// nullptr when the column is of another type or has no dictionary. The reader holds `column`.
std::unique_ptr<DictionaryReader> NewDictionaryReader(const std::shared_ptr<const FileColumn>& column);

}  // namespace stoa::storage
