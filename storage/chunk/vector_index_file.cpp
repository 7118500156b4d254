#include "storage/chunk/vector_index_file.h"

#include <utility>

namespace stoa::storage {

std::vector<const ColumnDefinition*> VectorIndexColumns(const TableDefinition& definition) {
  std::vector<const ColumnDefinition*> columns;
  for (const ColumnDefinition& column : definition.columns) {
    if (column.knn.has_value()) {
      columns.push_back(&column);
    }
  }
  return columns;
}

Result<std::shared_ptr<const VectorIndexFile>> VectorIndexFile::Open(Env& env, const std::string& folder,
                                                                     const ChunkHeader& header,
                                                                     const VectorIndexFormat& format) {
  const std::string path = folder + "/" + ChunkFileName(header.id, kVectorIndexSuffix);
  std::shared_ptr<VectorIndexFile> opened(new VectorIndexFile);
  ASSIGN_OR_RETURN(opened->file_, OpenSectionFile::Open(env, path, format.kind(), AccessMode::kMmap));
  if (opened->file_->owner() != header.id.value) {
    return CorruptError("{}: belongs to chunk {}", path, opened->file_->owner());
  }
  for (const ColumnDefinition* column : VectorIndexColumns(header.definition)) {
    ASSIGN_OR_RETURN(auto index, format.Open(opened->file_, *column, header.row_count));
    opened->indexes_.push_back({column->id, std::move(index)});
  }
  return std::shared_ptr<const VectorIndexFile>(std::move(opened));
}

const VectorIndex* VectorIndexFile::Find(ColumnId column) const {
  for (const Entry& entry : indexes_) {
    if (entry.column == column) {
      return entry.index.get();
    }
  }
  return nullptr;
}

uint64_t VectorIndexFile::ram_bytes() const {
  uint64_t bytes = sizeof(*this);
  for (const Entry& entry : indexes_) {
    bytes += entry.index->ram_bytes();
  }
  return bytes;
}

Status VectorIndexFile::Check() const {
  for (const Entry& entry : indexes_) {
    RETURN_IF_ERROR(entry.index->Check());
  }
  return Status::Ok();
}

}  // namespace stoa::storage
