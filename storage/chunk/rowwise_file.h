#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/column/column_input.h"
#include "storage/column/column_reader.h"
#include "storage/format/open_section_file.h"

namespace stoa::storage {

// A column to write, with where its values come from.
struct ColumnToWrite {
  const ColumnDefinition* definition = nullptr;
  ColumnInput* input = nullptr;
};

// The row-wise attributes of one chunk: rows of fixed stride (.spa), and what has no fixed length (.spb):
// strings, JSON, sets, vectors. Mapped. Immutable and safe to share. docs/format/spa.md, docs/format/spb.md.
class RowwiseFile {
 public:
  // All inputs have the same rows. `blobs` is written only when there is a column of lane kBytes.
  static Status Write(std::span<const ColumnToWrite> columns, WritableFile& rows, WritableFile& blobs,
                      ChunkId chunk);
  // `blobs_path` empty: the chunk has none.
  static Result<std::shared_ptr<const RowwiseFile>> Open(Env& env, const std::string& rows_path,
                                                         const std::string& blobs_path, ChunkId chunk);
  virtual ~RowwiseFile() = default;

  virtual uint32_t row_count() const = 0;
  virtual bool Has(ColumnId column) const = 0;
  // As `type`, which may be wider than what is stored. kNotFound when the file has no such column.
  virtual Result<std::unique_ptr<ColumnReader>> NewReader(std::shared_ptr<const RowwiseFile> self,
                                                          ColumnId column, ColumnType type) const = 0;
  virtual const OpenSectionFile& rows_file() const = 0;
  virtual const OpenSectionFile* blobs_file() const = 0;  // nullptr: none
  virtual Status Check() const = 0;                       // everything, for --check-table
};

}  // namespace stoa::storage
