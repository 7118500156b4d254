#pragma once

#include <memory>
#include <utility>

#include "storage/chunk/chunk_view.h"
#include "storage/chunk/disk_chunk.h"
#include "storage/chunk/ram_segment.h"
#include "storage/chunk/row_copy.h"
#include "storage/chunk/segment_edit.h"

namespace stoa::storage::testing {

// A disk chunk without files: its rows are those of a segment.
class FakeChunk : public DiskChunk, private DocumentIndex {
 public:
  explicit FakeChunk(std::shared_ptr<const SegmentView> rows) : rows_(std::move(rows)) {
    header_.row_count = rows_->row_count();
  }

  const ChunkHeader& header() const override { return header_; }
  const std::string& folder() const override { return folder_; }
  uint32_t row_count() const override { return rows_->row_count(); }
  const DocumentIndex& documents() const override { return *this; }
  Result<std::unique_ptr<ColumnReader>> NewReader(std::shared_ptr<const DiskChunk>,
                                                  const ColumnDefinition& column) const override {
    return rows_->Column(column);
  }
  AccessMode columnar_access() const override { return AccessMode::kMmap; }
  uint64_t disk_bytes() const override { return 0; }
  uint64_t ram_bytes() const override { return 1000; }
  std::vector<ChunkFileInfo> Files() const override { return {}; }
  Status Check() const override { return Status::Ok(); }

 protected:
  Result<std::optional<RowId>> Find(DocId id) const override { return rows_->FindDocument(id); }

 private:
  DocId min_id() const override { return rows_->state().min_id; }
  DocId max_id() const override { return rows_->state().max_id; }
  const OpenSectionFile& file() const override { std::abort(); }
  Status Check(ColumnInput&) const override { return Status::Ok(); }

  ChunkHeader header_;
  std::string folder_;
  std::shared_ptr<const SegmentView> rows_;
};

inline std::shared_ptr<const ChunkView> ViewOf(std::shared_ptr<const DiskChunk> chunk) {
  return std::make_shared<const ChunkView>(ChunkView::State{
      std::move(chunk), std::make_shared<const DeleteMap>(), std::make_shared<const PatchOverlay>()});
}

// The live rows of the parts, in order, as a chunk.
inline std::shared_ptr<const DiskChunk> WriteFakeChunk(
    std::span<const std::shared_ptr<const TablePart>> parts, const TableDefinition& definition) {
  SegmentEdit edit(kSegmentRows);
  for (const auto& part : parts) {
    const std::vector<RowId> live = LiveRows(*part);
    edit.Append(CopyRows(*part, live, definition).value(), 0, live.size(), definition);
  }
  return std::make_shared<const FakeChunk>(edit.FinishView());
}

}  // namespace stoa::storage::testing
