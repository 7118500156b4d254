#pragma once

#include <memory>

#include "knn/index/index_memory.h"
#include "storage/vector/vector_index.h"

namespace stoa::knn {

// Vector indexes of chunks as this layer makes them: a graph where walking it is cheaper than scanning the
// codes, else codes alone, and exact comparison while a table has too few vectors to train a quantiser. Safe
// to share.
class HnswFormat : public storage::VectorIndexFormat {
 public:
  // Vectors that a quantiser is trained with at least (DESIGN 4).
  static constexpr uint32_t kFewestToTrain = 1024;
  // Codes of so many bytes are scanned in about the time of a walk.
  static constexpr uint64_t kScannedBytes = 2u << 20;

  explicit HnswFormat(std::shared_ptr<IndexMemory> memory) : memory_(std::move(memory)) {}

  storage::SectionFileKind kind() const override;
  Status Build(const storage::VectorIndexBuild& build, storage::SectionFileWriter& file) const override;
  Result<std::shared_ptr<const storage::VectorIndex>> Open(
      std::shared_ptr<const storage::OpenSectionFile> file, const storage::ColumnDefinition& column,
      uint32_t row_count) const override;

 private:
  std::shared_ptr<IndexMemory> memory_;
};

}  // namespace stoa::knn
