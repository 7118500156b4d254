#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "storage/base/result.h"
#include "storage/chunk/delete_map.h"
#include "storage/column/column_reader.h"
#include "storage/schema.h"
#include "storage/vector/table_quantizers.h"

namespace stoa::storage {

// The codes of the vectors of a block of a part: 1,024 rows, or what is left of the part.
struct CodeBlock {
  std::shared_ptr<const void> owner;  // keeps `codes`
  const uint8_t* codes = nullptr;     // of row i of the block: codes + i × stride; nullptr: no row has one
  uint32_t stride = 0;                // bytes; the quantiser's code_bytes()
  uint64_t quantizer_id = 0;
  uint32_t rows = 0;    // that the block has; 0: there are no codes, the rows are compared one by one
  BlockBits present{};  // rows that have a vector, dead ones perhaps included; only they have a code
};

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

  // The index of a vector column; nullptr: none, the rows are compared one by one. It knows nothing of rows
  // that were deleted or patched since the part was written. Lives as long as the part.
  virtual const VectorIndex* vector_index(const ColumnDefinition& /*column*/) const { return nullptr; }
  // The rows, ascending, whose value in this column was changed since the part was written; dead ones
  // perhaps included.
  virtual std::vector<RowId> PatchedRows(ColumnId /*column*/) const { return {}; }
  // RAM segments: the codes of a column's vectors in rows block × 1,024 and on, by this quantiser, usually
  // the snapshot's. Codes that are missing are made first, at most a few milliseconds a block. Of one vector
  // a row only (kFloatVector).
  virtual CodeBlock Codes(const ColumnDefinition& /*column*/, uint32_t /*block*/,
                          const std::shared_ptr<const VectorQuantizer>& /*quantizer*/) const {
    return {};
  }

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
  std::shared_ptr<const TableQuantizers> quantizers;    // nullptr: no column has one

  uint64_t live_count() const;
  Result<std::optional<RowLocation>> FindDocument(DocId id) const;
  // What new vectors of the column are coded with: the quantiser of the newest index that has one. nullptr:
  // none has. Indexes of older chunks may have others.
  std::shared_ptr<const VectorQuantizer> quantizer(ColumnId column) const {
    return quantizers != nullptr ? quantizers->Find(column) : nullptr;
  }
};

}  // namespace stoa::storage
