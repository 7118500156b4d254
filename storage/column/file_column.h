#pragma once

#include <memory>

#include "storage/base/result.h"
#include "storage/column/column_input.h"
#include "storage/column/column_reader.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// One column of an open .spc: what all of its readers share, such as the directory of blocks and the
// dictionary. Immutable and safe to share; holds the file.
class FileColumn {
 public:
  virtual ~FileColumn() = default;

  virtual ColumnType type() const = 0;
  virtual uint32_t row_count() const = 0;
  virtual uint64_t ram_bytes() const = 0;  // of what it keeps in memory
  // As `type`, which may be wider than what is stored (int → bigint). The reader holds `self`.
  virtual std::unique_ptr<ColumnReader> NewReader(std::shared_ptr<const FileColumn> self,
                                                  ColumnType type) const = 0;
  // Reads everything: checksums and what the sections say of each other. For --check-table.
  virtual Status Check() const = 0;
};

// Kinds of sections of a .spc; the key is the column id. docs/format/spc.md.
enum class SpcSection : uint32_t {
  kColumn = 1,       // what the column is: type, form, rows
  kDirectory = 2,    // numbers: one entry per block
  kZones = 3,        // numbers: minimum and maximum of each 65,536 rows
  kBlocks = 4,       // numbers: packed blocks
  kTextOffsets = 5,  // strings of the dictionary, or of the rows
  kTextBytes = 6,
  kHashes = 7,
  kSetOffsets = 8,
  kSetValues = 9,
  kPresence = 10,  // vectors: one bit a row
  kVectors = 11,   // vectors: slots of fixed stride
  kSlotRows = 12,  // vectors: slot → row, when slots are not in row order

  // What a column of lane kBytes is; it has exactly one of these. The codes of a text column's dictionary are
  // a number column (kColumn, kDirectory, …) under the same key.
  kTextInfo = 20,
  kSetInfo = 21,
  kVectorInfo = 22,
};

// Writes the sections of a column. Memory is bounded by a few blocks and the dictionary.
//   numbers: kId, kInt, kBigint, kBool, kTimestamp, kFloat    storage/column/number_column
//   texts:   kString                                          storage/column/text_column
//   sets:    kMulti, kMulti64                                 storage/column/set_column
//   vectors: kFloatVector, kFloatVectorArray                  storage/column/vector_column
Status WriteFileColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file);

// kNotFound when the file has no such column; kCorrupt names file and section.
Result<std::shared_ptr<const FileColumn>> OpenFileColumn(std::shared_ptr<const OpenSectionFile> file,
                                                         ColumnId column);

}  // namespace stoa::storage
