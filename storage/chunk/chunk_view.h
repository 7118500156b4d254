#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "storage/chunk/delete_map.h"
#include "storage/chunk/disk_chunk.h"
#include "storage/chunk/part_edit.h"
#include "storage/chunk/patch_overlay.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// A disk chunk as one snapshot sees it. Immutable and safe to share.
class ChunkView : public TablePart {
 public:
  struct State {
    std::shared_ptr<const DiskChunk> chunk;
    std::shared_ptr<const DeleteMap> deleted;
    std::shared_ptr<const PatchOverlay> overlay;
  };
  explicit ChunkView(State state) : state_(std::move(state)) {}

  uint32_t row_count() const override { return state_.chunk->row_count(); }
  const DeleteMap& deleted() const override { return *state_.deleted; }
  Result<std::optional<RowId>> FindDocument(DocId id) const override;
  Result<std::unique_ptr<ColumnReader>> Column(const ColumnDefinition& column) const override;
  bool is_disk_chunk() const override { return true; }
  uint64_t ram_bytes() const override;
  const VectorIndex* vector_index(const ColumnDefinition& column) const override;
  std::vector<RowId> PatchedRows(ColumnId column) const override;

  const State& state() const { return state_; }

 private:
  State state_;
};

class ChunkEdit : public PartEdit {
 public:
  explicit ChunkEdit(std::shared_ptr<const ChunkView> base);

  Result<std::optional<RowId>> Find(DocId id) const override;
  void Delete(RowId row) override;
  void Update(std::span<const RowId> rows, std::span<const uint32_t> picks, const ColumnValues& values,
              const ColumnDefinition& column) override;
  std::shared_ptr<const TablePart> Finish() override;

 private:
  std::shared_ptr<const ChunkView> base_;
  DeleteMapEdit deletes_;
  PatchOverlayEdit patches_;
};

// The delete map (.spm.N) and the overlay (.spu.N) of generation N of a chunk, as the manifest names it.
// Written like every file: temporary name, sync, rename (the folder is synced by the caller). Read whole.
// docs/format/spm.md, docs/format/spu.md.
Status WriteDeleteMap(Env& env, const std::string& folder, ChunkId chunk, uint64_t generation,
                      const DeleteMap& map);
Result<std::shared_ptr<const DeleteMap>> ReadDeleteMap(Env& env, const std::string& folder, ChunkId chunk,
                                                       uint64_t generation, uint32_t row_count);
Status WritePatchOverlay(Env& env, const std::string& folder, ChunkId chunk, uint64_t generation,
                         const PatchOverlay& overlay);
Result<std::shared_ptr<const PatchOverlay>> ReadPatchOverlay(Env& env, const std::string& folder,
                                                             ChunkId chunk, uint64_t generation,
                                                             uint32_t row_count);

// Carries what happened to `before` (the views that were written into a new chunk) until `after` (the same
// parts as they are now, in the same order; nullptr: the part has no live row any more and is gone) over to
// the new chunk: rows deleted since are deleted there, values changed since are patches there.
Result<std::shared_ptr<const ChunkView>> CarryOver(std::span<const std::shared_ptr<const TablePart>> before,
                                                   std::span<const std::shared_ptr<const TablePart>> after,
                                                   std::shared_ptr<const DiskChunk> chunk,
                                                   const TableDefinition& definition);

}  // namespace stoa::storage
