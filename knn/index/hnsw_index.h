#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "knn/graph/node_blocks.h"
#include "knn/index/index_format.h"
#include "knn/index/index_memory.h"
#include "knn/index/page_buffer.h"
#include "knn/quantize/quantizer.h"
#include "storage/vector/vector_index.h"

namespace stoa::knn {

// The open index of one vector column of one chunk: a graph, or codes alone, or nothing but how many vectors
// there are. Loaded to memory while knn_mem_limit allows it, else mapped. Immutable and safe to share.
class HnswIndex : public storage::VectorIndex {
 public:
  // Checksums of all sections are checked.
  static Result<std::shared_ptr<const HnswIndex>> Open(std::shared_ptr<const storage::OpenSectionFile> file,
                                                       const storage::ColumnDefinition& column,
                                                       uint32_t row_count,
                                                       std::shared_ptr<IndexMemory> memory);
  ~HnswIndex() override;

  std::shared_ptr<const storage::VectorQuantizer> quantizer() const override { return quantizer_; }
  uint64_t ram_bytes() const override;
  Status Check() const override;

  IndexContents contents() const { return info_.contents; }
  const std::shared_ptr<const Quantizer>& codec() const { return quantizer_; }
  uint32_t node_count() const { return info_.node_count; }
  const NodeBlocks& blocks() const { return blocks_; }
  const UpperLevels& upper_levels() const { return upper_; }
  // Nodes are the rows, or ascend by row: several of one row for arrays of vectors.
  bool nodes_are_rows() const { return node_rows_.empty() && info_.node_count == info_.row_count; }
  uint32_t RowOf(uint32_t node) const { return node_rows_.empty() ? node : node_rows_[node]; }
  const std::vector<uint32_t>& node_rows() const { return node_rows_; }
  uint32_t row_count() const { return info_.row_count; }
  // Some rows have several vectors.
  bool rows_repeat() const { return rows_repeat_; }
  // (node, the node with links that it is equal to)
  const std::vector<std::pair<uint32_t, uint32_t>>& duplicates() const { return duplicates_; }
  // After reading nodes: kIo when a mapped page could not be read.
  Status CheckReadable() const;

 private:
  HnswIndex() = default;
  Status LoadNodes(const storage::OpenSectionFile& file, uint32_t key);
  Status LoadUpperLevels(const storage::OpenSectionFile& file, uint32_t key);
  Status LoadNodeRows(const storage::OpenSectionFile& file, uint32_t key);
  // kCorrupt when chains of equal nodes meet or lead in a circle.
  Status FindDuplicateNodes();

  std::string path_;
  IndexInfo info_;
  std::shared_ptr<const Quantizer> quantizer_;
  std::shared_ptr<IndexMemory> memory_;
  PageBuffer loaded_;             // the nodes, when they are in memory
  uint64_t taken_ = 0;            // of memory_
  storage::SectionBytes mapped_;  // the nodes otherwise
  bool is_mapped_ = false;
  NodeBlocks blocks_;
  UpperLevels upper_;
  std::vector<uint32_t> node_rows_;
  bool rows_repeat_ = false;
  std::vector<std::pair<uint32_t, uint32_t>> duplicates_;
};

}  // namespace stoa::knn
