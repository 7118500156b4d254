#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fake_part.h"
#include "knn/search/table_search.h"

namespace stoa::knn {
namespace {

using storage::AccessMode;
using storage::ColumnDefinition;
using storage::ColumnType;
using storage::TableSnapshot;

constexpr char kPath[] = "/c.spknn";

Status WriteIndex(MemoryEnv& env, const storage::VectorIndexBuild& build) {
  const HnswFormat format(nullptr);
  ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, env.Create(kPath));
  storage::SectionFileWriter writer(*file, format.kind(), 7);
  RETURN_IF_ERROR(format.Build(build, writer));
  RETURN_IF_ERROR(writer.Finish());
  return file->Close();
}

Result<std::shared_ptr<const storage::VectorIndex>> OpenIndex(MemoryEnv& env, const ColumnDefinition& column,
                                                              uint32_t rows,
                                                              std::shared_ptr<IndexMemory> memory = nullptr) {
  const HnswFormat format(std::move(memory));
  ASSIGN_OR_RETURN(const std::shared_ptr<const storage::OpenSectionFile> file,
                   storage::OpenSectionFile::Open(env, kPath, format.kind(), AccessMode::kMmap));
  return format.Open(file, column, rows);
}

// One table of one vector column whose chunks have indexes.
struct Table {
  explicit Table(const ColumnDefinition& vectors) : column(vectors), source(vectors, 1) {
    auto table = std::make_shared<storage::TableDefinition>();
    ColumnDefinition id;
    id.type = ColumnType::kId;
    table->columns = {id, column};
    snapshot.definition = table;
  }

  std::shared_ptr<FakePart> AddChunk(uint32_t rows) {
    auto part = std::make_shared<FakePart>();
    for (uint32_t row = 0; row < rows; ++row) {
      part->vectors.push_back(source.NextBytes());
      part->ids.push_back(next_id++);
    }
    snapshot.parts.push_back(part);
    return part;
  }
  void BuildIndex(FakePart& part, std::shared_ptr<const storage::VectorQuantizer> quantizer = nullptr,
                  std::vector<storage::VectorIndexSource> sources = {}) {
    MemoryEnv env;
    storage::VectorIndexBuild build;
    build.column = &column;
    build.row_count = part.row_count();
    build.new_reader = [&] { return part.Column(column); };
    build.quantizer = std::move(quantizer);
    build.sources = std::move(sources);
    build.threads = 2;
    REQUIRE(WriteIndex(env, build).ok());
    auto opened = OpenIndex(env, column, part.row_count());
    REQUIRE(opened.ok());
    part.index = *opened;
    CHECK(part.index->Check().ok());
  }
  std::vector<SearchHit> Search(SearchRequest request) {
    statistics = {};
    request.column = &column;
    auto hits = SearchTable(snapshot, request, nullptr, statistics);
    REQUIRE(hits.ok());
    return *hits;
  }
  // Share of the exact answer's rows; every distance is exact.
  double Recall(uint32_t k, const std::function<Result<RowBits>(uint32_t)>& filter = nullptr) {
    size_t right = 0;
    size_t wanted = 0;
    for (int query = 0; query < 20; ++query) {
      SearchRequest request{.query = source.Next(), .k = k, .filter = filter};
      const std::vector<SearchHit> found = Search(request);
      request.full_scan = true;
      const std::vector<SearchHit> exact = Search(request);
      CHECK(found.size() == exact.size());
      wanted += exact.size();
      for (const SearchHit& hit : exact) {
        for (const SearchHit& other : found) {
          if (other.id == hit.id) {
            ++right;
            CHECK(other.distance == Approx(hit.distance).margin(1e-5));
          }
        }
      }
    }
    return static_cast<double>(right) / static_cast<double>(wanted);
  }

  ColumnDefinition column;
  VectorSource source;
  TableSnapshot snapshot;
  SearchStatistics statistics;
  int64_t next_id = 1;
};

const HnswIndex& IndexOf(const FakePart& part) { return dynamic_cast<const HnswIndex&>(*part.index); }

TEST_CASE("chunks of a table share a quantiser and are searched as one", "[knn]") {
  for (const char* similarity : {"l2", "ip", "cosine"}) {
    for (const char* quantization : {"none", "8bit", "4bit", "1bit", "1bitsimple"}) {
      INFO(similarity << " " << quantization);
      Table table(VectorColumnOf(160, similarity, quantization));
      const auto first = table.AddChunk(1500);
      table.BuildIndex(*first);
      const auto second = table.AddChunk(700);
      table.BuildIndex(*second, first->index->quantizer());
      table.AddChunk(50);  // without an index
      CHECK(second->index->quantizer()->id() == first->index->quantizer()->id());
      CHECK(table.Recall(10) > (std::string_view(quantization) == "1bitsimple" ? 0.75 : 0.9));
    }
  }
}

TEST_CASE("neighbours that all lie in one of many chunks are found, and the others do not pay for it",
          "[knn]") {
  Table table(VectorColumnOf(160, "l2", "8bit"));
  table.BuildIndex(*table.AddChunk(1500));
  for (int chunk = 1; chunk < 8; ++chunk) {
    const auto part = table.AddChunk(1000);
    // Chunks lie far apart, as rows of different times may.
    for (std::string& bytes : part->vectors) {
      float first = 0;
      std::memcpy(&first, bytes.data(), sizeof(first));
      first += static_cast<float>(chunk);
      std::memcpy(bytes.data(), &first, sizeof(first));
    }
    table.BuildIndex(*part, table.snapshot.parts[0]->vector_index(table.column)->quantizer());
  }
  SearchRequest request{.query = table.source.Next(), .k = 200};
  for (const float at : {0.0F, 3.5F, 7.0F}) {
    request.query[0] += at;
    request.full_scan = false;
    const std::vector<SearchHit> found = table.Search(request);
    request.full_scan = true;
    const std::vector<SearchHit> exact = table.Search(request);
    REQUIRE(found.size() == exact.size());
    const auto same = std::mismatch(found.begin(), found.end(), exact.begin(),
                                    [](const SearchHit& a, const SearchHit& b) { return a.id == b.id; });
    CHECK(same.first - found.begin() > 190);
  }
}

TEST_CASE("codes beyond what a scan reads quickly get a graph, which is walked", "[knn]") {
  Table table(VectorColumnOf(256, "l2", "8bit"));
  const auto part = table.AddChunk(9000);
  table.BuildIndex(*part);
  REQUIRE(IndexOf(*part).contents() == IndexContents::kGraph);
  CHECK(table.Recall(10) > 0.97);
  SearchRequest request{.query = table.source.Next(), .k = 10};
  table.Search(request);
  CHECK(table.statistics.graph_parts == 1);
  CHECK(table.statistics.distance_computations < 4000);
  // A beam that is too wide to be kept in order gives way to a scan.
  CHECK(table.Search({.query = table.source.Next(), .k = 2900}).size() == 2900);
  CHECK(table.statistics.code_parts == 1);

  SECTION("deleted, patched and filtered rows are no candidates, and as many rows come back as there are") {
    storage::DeleteMapEdit deletes(part->deletes);
    for (uint32_t row = 0; row < 9000; row += 2) {
      deletes.Add(RowId(row));
    }
    part->deletes = deletes.Finish();
    CHECK(table.Recall(100) > 0.95);
    for (const uint32_t every : {3u, 30u, 1000u}) {
      const auto filter = [&](uint32_t) -> Result<RowBits> {
        RowBits bits{.words = std::vector<uint64_t>((9000 + 63) / 64)};
        for (uint32_t row = 1; row < 9000; row += every) {
          bits.words[row / 64] |= uint64_t{1} << (row % 64);
          ++bits.count;
        }
        return bits;
      };
      CHECK(table.Recall(20, filter) > 0.95);
    }
  }
  SECTION("a row whose vector was updated is found at its new place only") {
    SearchRequest old{.query = std::vector<float>(256), .k = 1};
    std::memcpy(old.query.data(), part->vectors[77].data(), part->vectors[77].size());
    CHECK(table.Search(old)[0].location.row == RowId(77));
    part->vectors[77] = table.source.NextBytes();
    part->patched = {RowId(77)};
    CHECK(table.Search(old)[0].location.row != RowId(77));
    std::memcpy(old.query.data(), part->vectors[77].data(), part->vectors[77].size());
    CHECK(table.Search(old)[0].location.row == RowId(77));
  }
  SECTION("a merge goes on from the graph and finds old and new rows") {
    auto merged = std::make_shared<FakePart>();
    storage::VectorIndexSource source{.index = part->index,
                                      .new_rows = std::vector<uint32_t>(9000, storage::kNoRow)};
    for (uint32_t row = 0; row < 9000; ++row) {
      if (row % 4 != 0) {
        source.new_rows[row] = merged->row_count();
        merged->vectors.push_back(part->vectors[row]);
        merged->ids.push_back(part->ids[row]);
      }
    }
    for (int row = 0; row < 500; ++row) {
      merged->vectors.push_back(table.source.NextBytes());
      merged->ids.push_back(table.next_id++);
    }
    table.snapshot.parts = {merged};
    table.BuildIndex(*merged, part->index->quantizer(), {source});
    CHECK(table.Recall(10) > 0.96);
  }
}

TEST_CASE("rows without a vector never appear; rows with several appear once, at the nearest", "[knn]") {
  Table table(VectorColumnOf(40, "l2", "8bit", ColumnType::kFloatVectorArray));
  const auto part = table.AddChunk(0);
  for (uint32_t row = 0; row < 3000; ++row) {
    std::string value;
    for (uint32_t i = 0; i < row % 4; ++i) {
      if (value.empty()) {
        value.append("\x28\0\0\0", 4);
      }
      value += table.source.NextBytes();
    }
    part->vectors.push_back(value);
    part->ids.push_back(table.next_id++);
  }
  table.BuildIndex(*part);
  CHECK(IndexOf(*part).node_count() == 4500);
  CHECK(table.Recall(30) > 0.95);
  const std::vector<SearchHit> all = table.Search({.query = table.source.Next(), .k = 3000});
  CHECK(all.size() == 2250);
  for (const SearchHit& hit : all) {
    CHECK(hit.location.row.value % 4 != 0);
  }
}

TEST_CASE("vectors too long to measure are the farthest, and are there", "[knn]") {
  for (const char* similarity : {"l2", "ip"}) {
    Table table(VectorColumnOf(8, similarity, "none"));
    const auto part = table.AddChunk(20);
    const std::vector<float> huge(8, 3e38f);
    const auto* bytes = reinterpret_cast<const char*>(huge.data());
    part->vectors[3] = std::string(bytes, huge.size() * sizeof(float));
    const std::vector<SearchHit> hits = table.Search({.query = {1, -1, 1, -1, 1, -1, 1, -1}, .k = 20});
    CHECK(hits.size() == 20);
  }
}

TEST_CASE("a chunk none of whose rows has a vector is searched beside others", "[knn]") {
  Table table(VectorColumnOf(256, "l2", "8bit"));
  const auto part = table.AddChunk(2000);
  table.BuildIndex(*part);
  const auto empty = table.AddChunk(0);
  empty->vectors.resize(20000);
  empty->ids.resize(20000);
  table.BuildIndex(*empty, part->index->quantizer());
  REQUIRE(IndexOf(*empty).contents() == IndexContents::kCodes);
  CHECK(table.Recall(10) == 1.0);
  CHECK(table.Search({.query = table.source.Next(), .k = 10, .rescore = false}).size() == 10);
}

TEST_CASE("a quantiser is trained wherever the vectors lie", "[knn]") {
  Table table(VectorColumnOf(40, "l2", "8bit"));
  const auto part = table.AddChunk(0);
  part->vectors.resize(9000);  // without a vector
  part->ids.resize(9000);
  for (uint32_t row = 0; row < 40000; ++row) {
    part->vectors.push_back(table.source.NextBytes());
    part->ids.push_back(table.next_id++);
  }
  table.BuildIndex(*part);
  CHECK(part->index->quantizer() != nullptr);
  CHECK(table.Recall(10) > 0.95);
}

TEST_CASE("single vectors of some rows are scanned and walked as those of all", "[knn]") {
  Table table(VectorColumnOf(256, "l2", "8bit"));
  const auto part = table.AddChunk(12000);
  for (uint32_t row = 0; row < 12000; row += 5) {
    part->vectors[row].clear();
  }
  table.BuildIndex(*part);
  CHECK_FALSE(IndexOf(*part).rows_repeat());
  CHECK(table.Recall(10) > 0.97);
  CHECK(table.statistics.exact_parts == 1);  // of the full scan
  CHECK(table.Search({.query = table.source.Next(), .k = 12000}).size() == 9600);
}

TEST_CASE("a search that was cancelled ends with an error", "[knn]") {
  Table table(VectorColumnOf(256, "l2", "8bit"));
  const auto part = table.AddChunk(9000);
  table.BuildIndex(*part);
  CancelToken cancel;
  cancel.Cancel();
  SearchStatistics statistics;
  for (const bool full_scan : {false, true}) {
    const SearchRequest request{
        .column = &table.column, .query = table.source.Next(), .k = 10, .full_scan = full_scan};
    const auto hits = SearchTable(table.snapshot, request, &cancel, statistics);
    REQUIRE_FALSE(hits.ok());
    CHECK(hits.status().code() == StatusCode::kCancelled);
  }
}

TEST_CASE("a search whose time is over ends with what it has", "[knn]") {
  Table table(VectorColumnOf(256, "l2", "8bit"));
  table.BuildIndex(*table.AddChunk(9000));
  // The filter takes all the time there is: the first part is still searched, the second is not.
  table.BuildIndex(*table.AddChunk(9000));
  CancelToken cancel;
  SearchRequest request{.column = &table.column, .query = table.source.Next(), .k = 10};
  request.filter = [&](uint32_t) -> Result<RowBits> {
    cancel.SetDeadline(CancelToken::Clock::now());
    return RowBits{.words = std::vector<uint64_t>((9000 + 63) / 64, 1), .count = (9000 + 63) / 64};
  };
  SearchStatistics statistics;
  const auto hits = SearchTable(table.snapshot, request, &cancel, statistics);
  REQUIRE(hits.ok());
  CHECK(statistics.out_of_time);
  CHECK(std::all_of(hits->begin(), hits->end(), [](const SearchHit& hit) { return hit.location.part == 0; }));
}

TEST_CASE("below a thousand vectors there is no quantiser and the answer is exact", "[knn]") {
  Table table(VectorColumnOf(64, "ip", "1bit"));
  const auto part = table.AddChunk(1023);
  table.BuildIndex(*part);
  CHECK(part->index->quantizer() == nullptr);
  CHECK(table.Recall(50) == 1.0);
}

TEST_CASE("half of the vectors being equal hides no other", "[knn]") {
  Table table(VectorColumnOf(128, "l2", "none"));
  const auto part = table.AddChunk(20000);
  for (uint32_t row = 0; row < 20000; row += 2) {
    part->vectors[row] = part->vectors[0];
  }
  table.BuildIndex(*part);
  REQUIRE(IndexOf(*part).contents() == IndexContents::kGraph);
  int missed = 0;
  for (uint32_t row = 1; row < 20000; row += 100) {
    SearchRequest request{.query = std::vector<float>(128), .k = 5};
    std::memcpy(request.query.data(), part->vectors[row].data(), part->vectors[row].size());
    const std::vector<SearchHit> hits = table.Search(request);
    missed += hits.size() != 5 || hits[0].location.row != RowId(row);
  }
  CHECK(missed <= 2);
  SearchRequest equal{.query = std::vector<float>(128), .k = 300};
  std::memcpy(equal.query.data(), part->vectors[0].data(), part->vectors[0].size());
  const std::vector<SearchHit> hits = table.Search(equal);
  REQUIRE(hits.size() == 300);
  CHECK(hits.back().distance == 0);
}

TEST_CASE("an index beyond the limit of memory is mapped and answers alike", "[knn]") {
  const ColumnDefinition column = VectorColumnOf(256, "l2", "8bit");
  Table table(column);
  const auto part = table.AddChunk(9000);
  table.BuildIndex(*part);
  MemoryEnv env;
  storage::VectorIndexBuild build;
  build.column = &column;
  build.row_count = 9000;
  build.new_reader = [&] { return part->Column(column); };
  REQUIRE(WriteIndex(env, build).ok());
  const auto memory = std::make_shared<IndexMemory>(1000);
  auto mapped = OpenIndex(env, column, 9000, memory);
  REQUIRE(mapped.ok());
  CHECK(memory->used() == 0);
  CHECK((*mapped)->ram_bytes() < part->index->ram_bytes() / 10);
  const SearchRequest request{.query = table.source.Next(), .k = 10};
  const std::vector<SearchHit> loaded_hits = table.Search(request);
  part->index = *mapped;
  CHECK(table.Search(request).size() == loaded_hits.size());
  auto loaded = OpenIndex(env, column, 9000, std::make_shared<IndexMemory>(1u << 30));
  REQUIRE(loaded.ok());
  CHECK((*loaded)->ram_bytes() > 9000 * 256);
}

TEST_CASE("a damaged index file is reported and never crashes a search", "[knn]") {
  const ColumnDefinition column = VectorColumnOf(40, "l2", "8bit");
  Table table(column);
  const auto part = table.AddChunk(30000);
  MemoryEnv env;
  storage::VectorIndexBuild build;
  build.column = &column;
  build.row_count = 30000;
  build.new_reader = [&] { return part->Column(column); };
  REQUIRE(WriteIndex(env, build).ok());
  const std::string bytes = *env.ReadFile(kPath);
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    std::string damaged = bytes;
    if (round % 3 == 0) {
      damaged.resize(random() % bytes.size());
    } else {
      damaged[random() % bytes.size()] ^= static_cast<char>(1 << (random() % 8));
    }
    auto file = *env.Create(kPath);
    REQUIRE(file->Append(damaged).ok());
    REQUIRE(file->Close().ok());
    const auto opened = OpenIndex(env, column, 30000);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.status().text().find(kPath) != std::string::npos);
  }
}

}  // namespace
}  // namespace stoa::knn
