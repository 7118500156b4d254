#include "knn/index/index_builder.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "knn/graph/link_table.h"
#include "knn/graph/parallel_for.h"
#include "knn/index/hnsw_format.h"
#include "knn/index/merge_seed.h"
#include "knn/search/vector_batch.h"
#include "storage/base/memory_limit.h"

namespace stoa::knn {

using storage::SectionFileWriter;

namespace {

constexpr uint32_t kBatchRows = 2048;       // whose vectors are held at a time
constexpr uint32_t kEncodeGrain = 64;       // vectors that a thread encodes at a time
constexpr uint32_t kSampleVectors = 16384;  // that a quantiser is trained with at most
constexpr storage::SectionLayout kPaged{.alignment = 4096, .page_size = storage::kDefaultPage};

std::string_view BytesOf(const std::vector<uint32_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint32_t)};
}

// A column without quantisation is walked on 8 bits and always rescored: a quarter of the memory for the same
// answer. The quantiser takes more bits than it was asked for where dims are few.
CodeKind KindOf(const storage::KnnOptions& options) {
  if (options.quantization == "1bit") {
    return CodeKind::k1Bit;
  }
  if (options.quantization == "1bitsimple") {
    return CodeKind::kSign;
  }
  if (options.quantization == "4bit") {
    return CodeKind::k4Bit;
  }
  return CodeKind::k8Bit;
}

}  // namespace

Status IndexBuilder::Run(SectionFileWriter& file) {
  ASSIGN_OR_RETURN(reader_, build_.new_reader());
  RETURN_IF_ERROR(FindNodes());
  RETURN_IF_ERROR(ChooseQuantizer());
  if (quantizer_ == nullptr) {
    return WriteAll(nullptr, file);
  }
  RETURN_IF_ERROR(EncodeAll());
  if (!WantsGraph()) {
    return WriteAll(nullptr, file);
  }
  ASSIGN_OR_RETURN(const Graph graph, Link());
  return WriteAll(&graph, file);
}

Status IndexBuilder::ForVectors(const UseVectors& use) {
  VectorBatch batch(*build_.column);
  std::vector<RowId> rows;
  std::vector<uint32_t> owners;
  for (uint64_t first = 0; first < build_.row_count; first += kBatchRows) {
    if (build_.cancel != nullptr) {
      RETURN_IF_ERROR(build_.cancel->Check());
    }
    rows.clear();
    for (uint64_t row = first; row < std::min<uint64_t>(build_.row_count, first + kBatchRows); ++row) {
      rows.push_back(RowId(static_cast<uint32_t>(row)));
    }
    RETURN_IF_ERROR(batch.Read(*reader_, rows));
    owners.clear();
    for (const uint32_t place : batch.owners()) {
      owners.push_back(rows[place].value);
    }
    use(batch.vectors(), owners);
  }
  return Status::Ok();
}

Status IndexBuilder::FindNodes() {
  RETURN_IF_ERROR(ForVectors([&](std::span<const float* const>, std::span<const uint32_t> rows) {
    node_rows_.insert(node_rows_.end(), rows.begin(), rows.end());
  }));
  return node_rows_.size() < Graph::kMostNodes
             ? Status::Ok()
             : LimitError("column '{}': {} vectors are too many for one index", build_.column->name,
                          node_rows_.size());
}

Status IndexBuilder::ChooseQuantizer() {
  if (build_.quantizer != nullptr) {
    quantizer_ = std::dynamic_pointer_cast<const Quantizer>(build_.quantizer);
    if (quantizer_ == nullptr) {
      return InternalError("the quantiser of column '{}' is of another layer", build_.column->name);
    }
    return Status::Ok();
  }
  if (node_count() < HnswFormat::kFewestToTrain) {
    return Status::Ok();
  }
  const size_t dims = build_.column->knn->dims;
  const uint32_t step = (node_count() + kSampleVectors - 1) / kSampleVectors;
  std::vector<float> floats;
  uint32_t node = 0;
  RETURN_IF_ERROR(ForVectors([&](std::span<const float* const> vectors, std::span<const uint32_t>) {
    for (const float* vector : vectors) {
      if (node++ % step == 0) {
        floats.insert(floats.end(), vector, vector + dims);
      }
    }
  }));
  std::vector<const float*> sample;
  for (size_t at = 0; at < floats.size(); at += dims) {
    sample.push_back(floats.data() + at);
  }
  quantizer_ = Quantizer::Train({.kind = KindOf(*build_.column->knn),
                                 .metric = MetricOf(build_.column->knn->similarity).value_or(Metric::kL2),
                                 .dims = build_.column->knn->dims},
                                sample);
  return Status::Ok();
}

bool IndexBuilder::WantsGraph() const {
  return uint64_t{node_count()} * quantizer_->code_bytes() > HnswFormat::kScannedBytes;
}

Status IndexBuilder::EncodeAll() {
  const CodeKind kind = quantizer_->options().kind;
  const bool links_by_itself = kind == CodeKind::kFloat || kind == CodeKind::k8Bit;
  linker_ = links_by_itself || !WantsGraph() ? quantizer_ : quantizer_->WithKind(CodeKind::k8Bit);
  codes_ = PageBuffer(uint64_t{node_count()} * quantizer_->code_bytes());
  const bool two = linker_ != quantizer_;
  linker_codes_ = two ? PageBuffer(uint64_t{node_count()} * linker_->code_bytes()) : PageBuffer();
  if (codes_.data() == nullptr || (two && linker_codes_.data() == nullptr)) {
    return LimitError("no memory for the codes of {} vectors", node_count());
  }
  uint32_t first_node = 0;
  return ForVectors([&](std::span<const float* const> vectors, std::span<const uint32_t>) {
    const auto count = static_cast<uint32_t>(vectors.size());
    const auto encode = [&](const Quantizer& quantizer, uint8_t* codes, uint32_t from, uint32_t to) {
      const size_t bytes = quantizer.code_bytes();
      quantizer.EncodeVectors(vectors.subspan(from, to - from), codes + (first_node + from) * bytes, bytes);
    };
    ParallelFor(build_.threads, 0, (count + kEncodeGrain - 1) / kEncodeGrain, 1,
                [&](uint32_t, uint32_t piece) {
                  const uint32_t from = piece * kEncodeGrain;
                  const uint32_t to = std::min(count, from + kEncodeGrain);
                  encode(*quantizer_, codes_.data(), from, to);
                  if (two) {
                    encode(*linker_, linker_codes_.data(), from, to);
                  }
                  return true;
                });
    first_node += count;
  });
}

Result<Graph> IndexBuilder::Link() {
  const GraphOptions options{.m = build_.column->knn->hnsw_m,
                             .ef_construction = build_.column->knn->hnsw_ef_construction,
                             .threads = build_.threads};
  const CodeArray codes{.data = linker_ == quantizer_ ? codes_.data() : linker_codes_.data(),
                        .stride = linker_->code_bytes(),
                        .count = node_count()};
  const uint64_t memory = UsableMemory();
  if (const uint64_t needed = LinkTable::BytesFor(node_count(), options.m); needed > memory) {
    return LimitError("column '{}': hnsw_m = {} needs {} bytes for {} vectors, there are {}",
                      build_.column->name, options.m, needed, node_count(), memory);
  }
  MergeSeed seed;
  seed.Choose(build_.sources, node_rows_, options.m);
  const auto progress = [&](uint64_t done) {
    if (build_.progress != nullptr) {
      build_.progress(done, node_count());
    }
  };
  return BuildGraph(codes, *linker_, options, seed.get(), build_.cancel, progress);
}

Status IndexBuilder::WriteAll(const Graph* graph, SectionFileWriter& file) const {
  IndexInfo info{.row_count = build_.row_count, .node_count = node_count()};
  const bool identity = node_count() == build_.row_count &&
                        std::adjacent_find(node_rows_.begin(), node_rows_.end()) == node_rows_.end();
  NodeLayout layout;
  UpperLevels upper;
  if (quantizer_ != nullptr) {
    info.contents = graph != nullptr ? IndexContents::kGraph : IndexContents::kCodes;
    info.m = graph != nullptr ? graph->m : 0;
    layout = NodeLayout::For(node_count(), info.m, quantizer_->code_bytes());
    info.link_bytes = layout.link_bytes;
    info.code_bytes = layout.code_bytes;
  }
  if (graph != nullptr) {
    upper = UpperLevels::Of(*graph);
    info.entry_node = upper.entry_node;
    info.upper_entry = upper.entry;
  }
  RETURN_IF_ERROR(file.AddSection(kInfoSection, key(), info.Encode()));
  if (!identity) {
    RETURN_IF_ERROR(file.AddSection(kNodeRowsSection, key(), BytesOf(node_rows_), kPaged));
  }
  if (quantizer_ == nullptr) {
    return Status::Ok();
  }
  RETURN_IF_ERROR(file.AddSection(kQuantizerSection, key(), quantizer_->Encode()));
  RETURN_IF_ERROR(WriteNodes(graph, layout, file));
  if (graph == nullptr) {
    return Status::Ok();
  }
  RETURN_IF_ERROR(file.AddSection(kUpperNodesSection, key(), BytesOf(upper.nodes), kPaged));
  RETURN_IF_ERROR(file.AddSection(kUpperStartsSection, key(), BytesOf(upper.starts), kPaged));
  return file.AddSection(kUpperListsSection, key(), BytesOf(upper.lists), kPaged);
}

Status IndexBuilder::WriteNodes(const Graph* graph, const NodeLayout& layout, SectionFileWriter& file) const {
  RETURN_IF_ERROR(file.BeginSection(kNodesSection, key(), kPaged));
  std::string block(layout.stride(), '\0');
  for (uint32_t node = 0; node < node_count(); ++node) {
    if (build_.cancel != nullptr && node % kBatchRows == 0) {
      RETURN_IF_ERROR(build_.cancel->Check());
    }
    std::fill(block.begin(), block.end(), '\0');
    const uint8_t* code = codes_.data() + uint64_t{node} * quantizer_->code_bytes();
    WriteNodeBlock(graph, node, code, layout, reinterpret_cast<uint8_t*>(block.data()));
    RETURN_IF_ERROR(file.AppendToSection(block));
  }
  return file.EndSection();
}

}  // namespace stoa::knn
