#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "knn/graph/code_array.h"
#include "knn/graph/graph_builder.h"
#include "knn/graph/node_blocks.h"
#include "knn/index/index_format.h"
#include "knn/index/page_buffer.h"
#include "knn/quantize/quantizer.h"
#include "storage/vector/vector_index.h"

namespace stoa::knn {

// Builds the index of one column for one new chunk: reads its vectors, encodes them, links them, writes the
// sections. One use, one caller; works with build.threads threads. Takes the codes' bytes, for kinds other
// than 8 bits those of 8-bit codes besides, and what BuildGraph takes.
class IndexBuilder {
 public:
  explicit IndexBuilder(const storage::VectorIndexBuild& build) : build_(build) {}
  Status Run(storage::SectionFileWriter& file);

 private:
  using UseVectors =
      std::function<void(std::span<const float* const> vectors, std::span<const uint32_t> rows)>;

  // Calls use() with all vectors, some rows' at a time.
  Status ForVectors(const UseVectors& use);
  Status FindNodes();
  Status ChooseQuantizer();
  Status EncodeAll();
  bool WantsGraph() const;
  Result<Graph> Link();
  Status WriteAll(const Graph* graph, storage::SectionFileWriter& file) const;
  Status WriteNodes(const Graph* graph, const NodeLayout& layout, storage::SectionFileWriter& file) const;
  uint32_t node_count() const { return static_cast<uint32_t>(node_rows_.size()); }
  uint32_t key() const { return build_.column->id.value; }

  const storage::VectorIndexBuild& build_;
  std::unique_ptr<storage::ColumnReader> reader_;
  std::vector<uint32_t> node_rows_;  // by node; rows repeat for arrays of vectors
  std::shared_ptr<const Quantizer> quantizer_;
  std::shared_ptr<const Quantizer> linker_;  // of the codes that decide the links; often quantizer_
  PageBuffer codes_;
  PageBuffer linker_codes_;  // empty when linker_ is quantizer_
};

}  // namespace stoa::knn
