#include "knn/index/hnsw_format.h"

#include "knn/index/hnsw_index.h"
#include "knn/index/index_builder.h"
#include "knn/index/index_format.h"

namespace stoa::knn {

storage::SectionFileKind HnswFormat::kind() const { return kIndexFile; }

Status HnswFormat::Build(const storage::VectorIndexBuild& build, storage::SectionFileWriter& file) const {
  return IndexBuilder(build).Run(file);
}

Result<std::shared_ptr<const storage::VectorIndex>> HnswFormat::Open(
    std::shared_ptr<const storage::OpenSectionFile> file, const storage::ColumnDefinition& column,
    uint32_t row_count) const {
  ASSIGN_OR_RETURN(std::shared_ptr<const HnswIndex> index,
                   HnswIndex::Open(std::move(file), column, row_count, memory_));
  return std::shared_ptr<const storage::VectorIndex>(std::move(index));
}

}  // namespace stoa::knn
