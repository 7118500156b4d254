#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "storage/base/result.h"
#include "storage/chunk/delete_map.h"
#include "storage/column/column_reader.h"
#include "storage/schema.h"

namespace stoa::storage {

// One part of a table as one snapshot sees it: a RAM segment up to its published row count, or a disk chunk.
// Rows keep the order of insertion. Immutable and safe to share.
class TablePart {
 public:
  virtual ~TablePart() = default;

  virtual uint32_t row_count() const = 0;  // dead rows included
  virtual const DeleteMap& deleted() const = 0;
  // The live row of a document.
  virtual Result<std::optional<RowId>> FindDocument(DocId id) const = 0;
  // A column of the snapshot's definition. Rows older than the column read as its default; a column that was
  // widened (MODIFY int → bigint) reads in its new type.
  virtual Result<std::unique_ptr<ColumnReader>> Column(const ColumnDefinition& column) const = 0;
  virtual bool is_disk_chunk() const = 0;
  virtual uint64_t ram_bytes() const = 0;

  uint32_t live_count() const { return row_count() - deleted().count(); }
};

struct RowLocation {
  uint32_t part = 0;
  RowId row;
  friend auto operator<=>(const RowLocation&, const RowLocation&) = default;
};

// What a statement sees of a table from its start to its end (DESIGN 3). Everything reachable is immutable.
struct TableSnapshot {
  std::shared_ptr<const TableDefinition> definition;
  std::vector<std::shared_ptr<const TablePart>> parts;  // oldest first

  uint64_t live_count() const;
  Result<std::optional<RowLocation>> FindDocument(DocId id) const;
};

}  // namespace stoa::storage
