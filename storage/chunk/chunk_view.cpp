#include "storage/chunk/chunk_view.h"

#include <utility>

namespace stoa::storage {

Result<std::optional<RowId>> ChunkView::FindDocument(DocId id) const {
  ASSIGN_OR_RETURN(std::optional<RowId> row, state_.chunk->documents().Find(id));
  if (row.has_value() && state_.deleted->Contains(*row)) {
    row.reset();
  }
  return row;
}

Result<std::unique_ptr<ColumnReader>> ChunkView::Column(const ColumnDefinition& column) const {
  ASSIGN_OR_RETURN(std::unique_ptr<ColumnReader> base, state_.chunk->NewReader(state_.chunk, column));
  return MakePatchedReader(std::move(base), state_.overlay->Share(column.id));
}

uint64_t ChunkView::ram_bytes() const {
  return state_.chunk->ram_bytes() + state_.deleted->ram_bytes() + state_.overlay->ram_bytes();
}

const VectorIndex* ChunkView::vector_index(const ColumnDefinition& column) const {
  return state_.chunk->vector_index(column.id);
}

std::vector<RowId> ChunkView::PatchedRows(ColumnId column) const {
  std::vector<RowId> rows;
  const PatchOverlay::Column* patches = state_.overlay->Find(column);
  if (patches == nullptr) {
    return rows;
  }
  for (const PatchOverlay::Column::Entry& entry : patches->blocks) {
    for (const uint16_t row : entry.patch->rows) {
      rows.emplace_back(entry.block * kBlockRows + row);
    }
  }
  return rows;
}

ChunkEdit::ChunkEdit(std::shared_ptr<const ChunkView> base)
    : base_(std::move(base)), deletes_(base_->state().deleted), patches_(base_->state().overlay) {}

Result<std::optional<RowId>> ChunkEdit::Find(DocId id) const {
  ASSIGN_OR_RETURN(std::optional<RowId> row, base_->state().chunk->documents().Find(id));
  if (row.has_value() && deletes_.Contains(*row)) {
    row.reset();
  }
  return row;
}

void ChunkEdit::Delete(RowId row) { deletes_.Add(row); }

void ChunkEdit::Update(std::span<const RowId> rows, std::span<const uint32_t> picks,
                       const ColumnValues& values, const ColumnDefinition& column) {
  patches_.Set(rows, picks, values, column);
}

std::shared_ptr<const TablePart> ChunkEdit::Finish() {
  if (!deletes_.changed() && !patches_.changed()) {
    return base_;
  }
  return std::make_shared<const ChunkView>(
      ChunkView::State{base_->state().chunk, deletes_.Finish(), patches_.Finish()});
}

}  // namespace stoa::storage
