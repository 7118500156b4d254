#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/column/column_input.h"
#include "storage/format/open_section_file.h"

namespace stoa::storage {

// Document id → row of one chunk (.spt), with a filter in front: an id that is not in the chunk costs a
// compare with the smallest and largest id and, inside, one cache line of the filter. Mapped. Immutable and
// safe to share. docs/format/spt.md.
class DocumentIndex {
 public:
  // `ids`: the id column, each id once. Memory: the ids and rows of the chunk, 12 bytes each.
  static Status Write(ColumnInput& ids, WritableFile& file, ChunkId chunk);
  static Result<std::shared_ptr<const DocumentIndex>> Open(Env& env, const std::string& path, ChunkId chunk);
  virtual ~DocumentIndex() = default;

  virtual uint32_t row_count() const = 0;
  virtual DocId min_id() const = 0;
  virtual DocId max_id() const = 0;
  // Whether the row lives is for the caller to look up. kCorrupt, kIo.
  virtual Result<std::optional<RowId>> Find(DocId id) const = 0;
  virtual uint64_t ram_bytes() const = 0;
  virtual const OpenSectionFile& file() const = 0;
  // Everything, and that `ids` and the index say the same. For --check-table.
  virtual Status Check(ColumnInput& ids) const = 0;
};

}  // namespace stoa::storage
