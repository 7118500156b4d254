#pragma once

#include <memory>
#include <optional>
#include <span>

#include "storage/base/result.h"
#include "storage/row_batch.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// Makes the next view of a part out of its newest one. The base view never changes; an edit that is dropped
// without Finish() has done nothing that a view shows. One thread at a time, under the table's writer mutex.
class PartEdit {
 public:
  virtual ~PartEdit() = default;

  virtual Result<std::optional<RowId>> Find(DocId id) const = 0;  // the live row
  virtual void Delete(RowId row) = 0;
  // Sets `column` of rows[i] to the value at picks[i]; `rows` ascend.
  virtual void Update(std::span<const RowId> rows, std::span<const uint32_t> picks,
                      const ColumnValues& values, const ColumnDefinition& column) = 0;
  virtual std::shared_ptr<const TablePart> Finish() = 0;
};

}  // namespace stoa::storage
