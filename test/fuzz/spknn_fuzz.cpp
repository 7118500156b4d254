#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../unit/knn/fake_part.h"
#include "fuzz_sections.h"
#include "knn/graph/graph_builder.h"
#include "knn/graph/graph_walk.h"
#include "knn/index/index_format.h"
#include "knn/index/merge_seed.h"
#include "knn/search/table_search.h"
#include "storage/chunk/vector_index_file.h"

// Index files that are sound: nothing, codes of rows, codes of arrays of vectors, graphs. Bytes of their
// sections are changed, as the input says, under right checksums; what opens all the same is searched,
// walked, and taken as the seed of a merge.

namespace {

using namespace stoa;       // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::knn;  // NOLINT(google-build-using-namespace)

constexpr char kPath[] = "/d/chunk.7.spknn";
constexpr uint64_t kChunk = 7;
constexpr uint32_t kRows = 150;

// A sound file and the chunk it belongs to.
struct Sound {
  storage::ColumnDefinition column;
  std::shared_ptr<FakePart> part = std::make_shared<FakePart>();
  std::vector<FuzzSection> sections;
};

struct SoundOptions {
  const char* quantization = "8bit";
  const char* similarity = "l2";
  uint32_t dims = 40;
  bool is_array = false;
  bool has_gaps = false;  // rows without a vector
  bool has_quantizer = true;
  bool has_graph = false;
};

std::vector<const float*> VectorsOf(const FakePart& part) {
  std::vector<const float*> vectors;
  for (const std::string& bytes : part.vectors) {
    if (!bytes.empty()) {
      vectors.push_back(reinterpret_cast<const float*>(bytes.data()));
    }
  }
  return vectors;
}

void FillRows(const SoundOptions& options, Sound& sound) {
  VectorSource source(sound.column, 1);
  for (uint32_t row = 0; row < kRows; ++row) {
    std::string bytes;
    const uint32_t count = options.is_array ? row % 4 : options.has_gaps ? row % 5 != 0 : 1;
    for (uint32_t i = 0; i < count; ++i) {
      if (options.is_array && i == 0) {
        bytes.append(reinterpret_cast<const char*>(&options.dims), sizeof(options.dims));
      }
      bytes += source.NextBytes();
    }
    // Some are equal: they hang on each other.
    sound.part->vectors.push_back(!options.is_array && row % 10 == 9 ? sound.part->vectors[row - 1] : bytes);
    sound.part->ids.push_back(row + 1);
  }
}

// The sections of a graph over so few vectors that the format would only have codes of them.
void WriteGraph(const Sound& sound, const Quantizer& quantizer, storage::SectionFileWriter& writer) {
  constexpr storage::SectionLayout kPaged{.alignment = 4096, .page_size = storage::kDefaultPage};
  constexpr uint32_t kLinks = 4;
  const std::vector<const float*> vectors = VectorsOf(*sound.part);
  const auto count = static_cast<uint32_t>(vectors.size());
  const uint32_t code_bytes = quantizer.code_bytes();
  std::vector<uint8_t> codes(size_t{count} * code_bytes);
  quantizer.EncodeVectors(vectors, codes.data(), code_bytes);
  const auto graph = BuildGraph({.data = codes.data(), .stride = code_bytes, .count = count}, quantizer,
                                {.m = kLinks, .ef_construction = 20}, nullptr, nullptr, nullptr);
  Require(graph.ok());
  const NodeLayout layout = NodeLayout::For(count, kLinks, code_bytes);
  const UpperLevels upper = UpperLevels::Of(*graph);
  const IndexInfo info{.contents = IndexContents::kGraph,
                       .row_count = kRows,
                       .node_count = count,
                       .m = kLinks,
                       .link_bytes = layout.link_bytes,
                       .code_bytes = code_bytes,
                       .entry_node = upper.entry_node,
                       .upper_entry = upper.entry};
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < kRows; ++row) {
    if (!sound.part->vectors[row].empty()) {
      rows.push_back(row);
    }
  }
  std::string nodes(size_t{count} * layout.stride(), '\0');
  for (uint32_t node = 0; node < count; ++node) {
    WriteNodeBlock(&*graph, node, codes.data() + size_t{node} * code_bytes, layout,
                   reinterpret_cast<uint8_t*>(nodes.data()) + size_t{node} * layout.stride());
  }
  const auto add = [&](uint32_t kind, std::string_view bytes) {
    Require(writer.AddSection(kind, sound.column.id.value, bytes, kPaged).ok());
  };
  const auto add_numbers = [&](uint32_t kind, const std::vector<uint32_t>& numbers) {
    add(kind, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint32_t)});
  };
  add(kInfoSection, info.Encode());
  add(kQuantizerSection, quantizer.Encode());
  add(kNodesSection, nodes);
  if (count != kRows) {
    add_numbers(kNodeRowsSection, rows);
  }
  add_numbers(kUpperNodesSection, upper.nodes);
  add_numbers(kUpperStartsSection, upper.starts);
  add_numbers(kUpperListsSection, upper.lists);
}

Sound Make(const SoundOptions& options) {
  Sound sound;
  sound.column = VectorColumnOf(
      options.dims, options.similarity, options.quantization,
      options.is_array ? storage::ColumnType::kFloatVectorArray : storage::ColumnType::kFloatVector);
  FillRows(options, sound);
  std::shared_ptr<const Quantizer> quantizer;
  if (options.has_quantizer) {
    VectorSource source(sound.column, 2);
    const std::vector<float> sample = source.Next();
    const float* const vectors[] = {sample.data()};
    const std::string_view name = options.quantization;
    quantizer = Quantizer::Train({.kind = name == "1bit"   ? CodeKind::k1Bit
                                          : name == "4bit" ? CodeKind::k4Bit
                                                           : CodeKind::k8Bit,
                                  .metric = MetricOf(options.similarity).value(),
                                  .dims = options.dims},
                                 vectors);
  }
  MemoryEnv env;
  Require(env.MakeFolder("/d").ok());
  auto file = env.Create(kPath);
  storage::SectionFileWriter writer(**file, kIndexFile, kChunk);
  if (options.has_graph) {
    WriteGraph(sound, *quantizer, writer);
  } else {
    storage::VectorIndexBuild build;
    build.column = &sound.column;
    build.row_count = kRows;
    build.new_reader = [&] { return sound.part->Column(sound.column); };
    build.quantizer = quantizer;
    Require(HnswFormat(nullptr).Build(build, writer).ok());
  }
  Require(writer.Finish().ok() && (*file)->Close().ok());
  sound.sections = ReadSections(env, kPath, kIndexFile);
  return sound;
}

const std::vector<Sound>& SoundFiles() {
  static const std::vector<Sound> files = [] {
    std::vector<Sound> made;
    for (const SoundOptions& options :
         {SoundOptions{.has_gaps = true, .has_quantizer = false}, SoundOptions{},
          SoundOptions{.quantization = "4bit", .is_array = true}, SoundOptions{.has_graph = true},
          SoundOptions{.quantization = "1bit",
          .similarity = "cosine",
          .dims = 128,
          .has_gaps = true,
          .has_graph = true},
          SoundOptions{.quantization = "none", .similarity = "ip", .dims = 3, .has_graph = true}}) {
      made.push_back(Make(options));
    }
    return made;
  }();
  return files;
}

RowBits EveryThird() {
  RowBits bits{.words = std::vector<uint64_t>((kRows + 63) / 64)};
  for (uint32_t row = 0; row < kRows; row += 3) {
    bits.words[row / 64] |= uint64_t{1} << (row % 64);
    ++bits.count;
  }
  return bits;
}

void SearchAll(const Sound& sound, std::shared_ptr<const storage::VectorIndex> index) {
  const auto part = std::make_shared<FakePart>(*sound.part);
  part->index = std::move(index);
  auto table = std::make_shared<storage::TableDefinition>();
  storage::ColumnDefinition id;
  id.type = storage::ColumnType::kId;
  table->columns = {id, sound.column};
  storage::TableSnapshot snapshot;
  snapshot.definition = table;
  snapshot.parts = {part};
  SearchRequest request{
      .column = &sound.column, .query = std::vector<float>(sound.column.knn->dims, 0.5F), .k = 7};
  for (const bool rescore : {true, false}) {
    for (const bool filtered : {true, false}) {
      request.rescore = rescore;
      request.filter = nullptr;
      if (filtered) {
        request.filter = [](uint32_t) -> Result<RowBits> { return EveryThird(); };
      }
      SearchStatistics statistics;
      const auto hits = SearchTable(snapshot, request, nullptr, statistics);
      Require(!hits.ok() || hits->size() <= request.k);
    }
  }
}

// By the graph itself: a chunk of so few rows is scanned.
void WalkAll(const HnswIndex& index) {
  if (index.contents() != IndexContents::kGraph) {
    return;
  }
  const auto scorer = index.codec()->NewScorer();
  const std::vector<float> query(index.codec()->options().dims, 0.5F);
  scorer->SetQuery(query.data());
  const GraphWalk walk(index.blocks(), index.upper_levels());
  WalkState state;
  std::vector<FoundNode> found;
  for (const size_t beam : {size_t{1}, size_t{64}}) {
    walk.Search(*scorer, beam, state, found);
    Require(found.size() <= beam);
    std::vector<uint64_t> passes((index.node_count() + 63) / 64, 0x5555'1111'2222'4444);
    for (const bool through : {true, false}) {
      (void)walk.SearchFiltered(*scorer, beam, {.passes = passes, .through = through}, state, found);
      Require(found.size() <= std::max<size_t>(beam, 64));
    }
  }
}

// The index is what a merge goes on from: four of five rows live on, a few are new.
void MergeFrom(const std::shared_ptr<const storage::VectorIndex>& index) {
  const auto& hnsw = dynamic_cast<const HnswIndex&>(*index);
  if (hnsw.contents() != IndexContents::kGraph) {
    return;
  }
  storage::VectorIndexSource source{.index = index,
                                    .new_rows = std::vector<uint32_t>(kRows, storage::kNoRow)};
  std::vector<uint32_t> node_rows;
  std::vector<uint8_t> codes;
  const uint32_t code_bytes = hnsw.codec()->code_bytes();
  for (uint32_t node = 0; node < std::min(hnsw.node_count(), kRows); ++node) {
    const uint32_t row = hnsw.RowOf(node);
    if (row % 5 == 0 || row >= kRows) {
      continue;
    }
    if (source.new_rows[row] == storage::kNoRow) {
      source.new_rows[row] = node_rows.empty() ? 0 : node_rows.back() + 1;
    }
    node_rows.push_back(source.new_rows[row]);
    codes.insert(codes.end(), hnsw.blocks().Code(node), hnsw.blocks().Code(node) + code_bytes);
  }
  MergeSeed seed;
  seed.Choose({&source, 1}, node_rows, hnsw.upper_levels().m);
  const auto count = static_cast<uint32_t>(node_rows.size());
  const GraphOptions options{.m = hnsw.upper_levels().m, .ef_construction = 20};
  const auto graph = BuildGraph({.data = codes.data(), .stride = code_bytes, .count = count}, *hnsw.codec(),
                                options, seed.get(), nullptr, nullptr);
  Require(graph.ok());
}

}  // namespace

// Bytes: the file; then what happens to its sections.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input({reinterpret_cast<const char*>(data), size});
  const Sound& sound = SoundFiles()[input.Take(1) % SoundFiles().size()];
  std::vector<FuzzSection> sections = sound.sections;
  Damage(sections, input);
  MemoryEnv env;
  Require(env.MakeFolder("/d").ok());
  WriteSections(env, kPath, kIndexFile, kChunk, sections);
  storage::ChunkHeader header;
  header.id = ChunkId(kChunk);
  header.row_count = kRows;
  header.definition.columns = {sound.column};
  // Once loaded, once mapped.
  for (const uint64_t memory : {uint64_t{1} << 30, uint64_t{0}}) {
    const HnswFormat format(std::make_shared<IndexMemory>(memory));
    const auto file = storage::VectorIndexFile::Open(env, "/d", header, format);
    if (!file.ok()) {
      continue;
    }
    const std::shared_ptr<const storage::VectorIndex> index(*file, (*file)->Find(sound.column.id));
    (void)(*file)->Check();
    SearchAll(sound, index);
    WalkAll(dynamic_cast<const HnswIndex&>(*index));
    MergeFrom(index);
  }
  return 0;
}
