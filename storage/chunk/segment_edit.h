#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "storage/chunk/part_edit.h"
#include "storage/chunk/ram_segment.h"
#include "storage/row_batch.h"

namespace stoa::storage {

// Makes the next view of a segment out of its newest one: appends behind the published rows, copies the
// blocks that an update touches, copies the delete map. The base view never changes. An edit that is dropped
// without Finish() leaves rows that no view shows; the next edit passes over them. One thread at a time,
// under the table's writer mutex.
class SegmentEdit : public PartEdit {
 public:
  explicit SegmentEdit(std::shared_ptr<const SegmentView> base);
  explicit SegmentEdit(uint32_t capacity);  // an empty segment

  // What vectors of new and updated rows are coded with; not given: codes are left for later.
  void CodeWith(std::shared_ptr<const TableQuantizers> quantizers) { quantizers_ = std::move(quantizers); }

  uint32_t row_count() const { return next_.row_count; }
  uint32_t room() const { return next_.segment->capacity() - next_.segment->appended(); }
  Result<std::optional<RowId>> Find(DocId id) const override;

  void Delete(RowId row) override;
  // Rows [from, from + count) of `rows`; count ≤ room(). Columns that the definition does not have are passed
  // over.
  void Append(const RowBatch& rows, size_t from, size_t count, const TableDefinition& definition);
  void Update(std::span<const RowId> rows, std::span<const uint32_t> picks, const ColumnValues& values,
              const ColumnDefinition& column) override;

  std::shared_ptr<const TablePart> Finish() override { return FinishView(); }
  std::shared_ptr<const SegmentView> FinishView();

 private:
  void PassOverGivenUpRows();
  StoredColumn& Own(const ColumnDefinition& column);
  void Widen(StoredColumn& column, ColumnType type);
  ColumnBlock* BlockForAppend(const ColumnDefinition& column, uint32_t row, uint32_t end, bool only_defaults);
  ColumnBlock& BlockForUpdate(StoredColumn& column, uint32_t row);
  void ReplaceBlock(const StoredColumn& column, std::shared_ptr<ColumnBlock>& place, uint32_t capacity);
  void MakeCodes();
  void MakeCodesOf(const StoredColumn& column, const std::shared_ptr<const VectorQuantizer>& quantizer);
  void AppendColumn(const ColumnValues& values, size_t from, size_t count, uint32_t first_row,
                    const ColumnDefinition& column);

  std::shared_ptr<const SegmentView> base_;
  SegmentView::State next_;
  uint32_t first_new_row_;
  bool changed_ = false;
  std::shared_ptr<const TableQuantizers> quantizers_;
  DeleteMapEdit deletes_;
  std::shared_ptr<ColumnDirectory> directory_;              // copy of the base's once a column changes
  std::vector<std::shared_ptr<StoredColumn>> own_columns_;  // parallel to directory_: copies of this edit
  std::unordered_set<const ColumnBlock*> own_blocks_;       // made by this edit
};

}  // namespace stoa::storage
