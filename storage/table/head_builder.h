#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/base/result.h"
#include "storage/chunk/part_edit.h"
#include "storage/chunk/segment_edit.h"
#include "storage/table/table_snapshot.h"
#include "storage/table/write_set.h"

namespace stoa::storage {

// Applies changes to the newest snapshot of a table and makes the next one. The base never changes; a builder
// that is dropped has done nothing. Later changes see earlier ones. One thread at a time, under the table's
// writer mutex. Columns that the definition does not have (any more) are passed over. New rows go to the last
// RAM segment that is not sealed; disk chunks and sealed segments only get deletes and updates.
class HeadBuilder {
 public:
  explicit HeadBuilder(std::shared_ptr<const TableSnapshot> base);

  // kExists "duplicate id '7'" (nothing is changed then), or kInternal for a batch of uneven length.
  Status Insert(const InsertRows& change);
  Result<uint64_t> Delete(const DeleteRows& change);  // rows found
  Result<uint64_t> Update(const UpdateRows& change);  // rows found

  bool changed() const { return changed_; }
  Result<std::shared_ptr<const TableSnapshot>> Finish();

 private:
  struct Part {
    std::shared_ptr<const TablePart> base;  // nullptr: new in this builder
    std::unique_ptr<PartEdit> edit;
    SegmentEdit* open = nullptr;  // `edit`, when rows may be appended
  };

  PartEdit& Edit(size_t part);
  Result<std::vector<std::optional<RowLocation>>> Locate(std::span<const DocId> ids) const;
  void Append(const RowBatch& rows);
  SegmentEdit& EditWithRoom(size_t rows);
  static Status Compact(TableSnapshot& next, const std::vector<bool>& rewrite);

  std::shared_ptr<const TableSnapshot> base_;
  std::vector<Part> parts_;
  bool changed_ = false;
};

}  // namespace stoa::storage
