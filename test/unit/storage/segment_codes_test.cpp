#include "storage/chunk/segment_codes.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>

#include "fake_vector_index.h"
#include "storage/base/snapshot_cell.h"
#include "storage/table/head_builder.h"
#include "storage/table/table_files.h"
#include "table_fixture.h"

// Codes of the vectors of RAM segments.
namespace stoa::storage {
namespace {

using testing::FakeQuantizer;
using testing::MakeColumn;
using Snapshot = std::shared_ptr<const TableSnapshot>;

constexpr uint32_t kDims = 4;
constexpr ColumnId kVectors(1);

TableDefinition Definition() {
  TableDefinition definition;
  definition.id = TableId(1);
  definition.name = "t";
  definition.columns = {MakeColumn("id", ColumnType::kId), MakeColumn("v", ColumnType::kFloatVector, 1),
                        MakeColumn("n", ColumnType::kInt, 2)};
  definition.columns[1].knn = KnnOptions{.dims = kDims};
  definition.next_column_id = 3;
  return definition;
}

std::shared_ptr<const FakeQuantizer> Quantizer(uint64_t id) {
  return std::make_shared<const FakeQuantizer>(id, kDims);
}

Snapshot With(const Snapshot& table, std::shared_ptr<const VectorQuantizer> quantizer) {
  auto quantizers = std::make_shared<TableQuantizers>();
  quantizers->entries.push_back({kVectors, std::move(quantizer)});
  auto next = std::make_shared<TableSnapshot>(*table);
  next->quantizers = std::move(quantizers);
  return next;
}

// Every fifth document has no vector.
ColumnValues Vectors(const std::vector<DocId>& ids, int version) {
  ColumnValues values{.column = kVectors, .type = ColumnType::kFloatVector};
  for (const DocId id : ids) {
    const float floats[kDims] = {static_cast<float>(id.value), static_cast<float>(version), 1, 2};
    values.AppendBytes(id.value % 5 == 0
                           ? std::string_view()
                           : std::string_view(reinterpret_cast<const char*>(floats), sizeof(floats)));
  }
  return values;
}

Snapshot Insert(const Snapshot& table, uint64_t first, uint64_t count, int version = 0) {
  HeadBuilder builder(table);
  InsertRows change{.rows = {}, .replace = true};
  for (uint64_t id = first; id < first + count; ++id) {
    change.rows.ids.emplace_back(id);
  }
  change.rows.columns = {Vectors(change.rows.ids, version)};
  REQUIRE(builder.Insert(change).ok());
  return builder.Finish().value();
}

Snapshot Update(const Snapshot& table, const std::vector<uint64_t>& ids, int version) {
  HeadBuilder builder(table);
  UpdateRows change;
  for (const uint64_t id : ids) {
    change.ids.emplace_back(id);
  }
  change.columns = {Vectors(change.ids, version)};
  REQUIRE(builder.Update(change).ok());
  return builder.Finish().value();
}

Snapshot Empty() { return testing::EmptyTable(Definition()); }

// Rows of a block whose code is not that of their vector.
int WrongCodes(const CodeBlock& codes, const std::vector<std::string_view>& vectors, uint64_t quantizer) {
  int wrong = 0;
  for (size_t i = 0; i < vectors.size(); ++i) {
    const bool present = (codes.present[i / 64] >> (i % 64) & 1) != 0;
    if (present != !vectors[i].empty()) {
      ++wrong;
    } else if (present) {
      uint64_t code[2];
      std::memcpy(code, codes.codes + i * codes.stride, sizeof(code));
      wrong += code[0] != testing::SumOf(vectors[i]) || code[1] != quantizer ? 1 : 0;
    }
  }
  return wrong;
}

int WrongCodes(const TableSnapshot& table, const std::shared_ptr<const VectorQuantizer>& quantizer) {
  const ColumnDefinition& column = table.definition->columns[1];
  int wrong = 0;
  for (const auto& part : table.parts) {
    const auto reader = part->Column(column).value();
    for (uint32_t first = 0; first < part->row_count(); first += kBlockRows) {
      std::vector<RowId> rows;
      for (uint32_t row = first; row < std::min(first + kBlockRows, part->row_count()); ++row) {
        rows.emplace_back(row);
      }
      std::vector<std::string_view> vectors(rows.size());
      ReadBuffer buffer;
      wrong += reader->ReadBytes(rows, vectors, buffer).ok() ? 0 : 1;
      const CodeBlock codes = part->Codes(column, first / kBlockRows, quantizer);
      wrong += codes.rows != rows.size() || codes.quantizer_id != quantizer->id() ? 1 : 0;
      wrong += WrongCodes(codes, vectors, quantizer->id());
    }
  }
  return wrong;
}

TEST_CASE("vectors of new and updated rows are coded at their commit, once", "[storage]") {
  const auto quantizer = Quantizer(7);
  Snapshot table = With(Empty(), quantizer);
  for (uint64_t first = 1; first < 3001; first += 100) {
    table = Insert(table, first, 100);
  }
  CHECK(quantizer->encoded == 2400);
  CHECK_FALSE(MissCodes(*table));
  const Snapshot before = table;
  table = Update(table, {1, 2, 5, 1000, 1001, 2998}, 3);
  CHECK(quantizer->encoded == 2404);  // documents 5 and 1000 have no vector
  CHECK(WrongCodes(*table, quantizer) == 0);
  CHECK(WrongCodes(*before, quantizer) == 0);
  table = Insert(table, 2, 3, 4);
  CHECK(WrongCodes(*table, quantizer) == 0);
  CHECK(quantizer->encoded == 2407);
}

TEST_CASE("one commit may insert, update and update again", "[storage]") {
  const auto quantizer = Quantizer(7);
  Snapshot table = Insert(With(Empty(), quantizer), 1, 3);  // a small block, which grows
  HeadBuilder builder(table);
  InsertRows more{.rows = {.ids = {DocId(11), DocId(12), DocId(13)}, .columns = {}}};
  more.rows.columns = {Vectors(more.rows.ids, 1)};
  for (int version = 2; version < 40; ++version) {
    const std::vector<DocId> ids = {DocId(1), DocId(11), DocId(100 + static_cast<uint64_t>(version) * 5 + 1)};
    REQUIRE(builder.Update({.ids = ids, .columns = {Vectors(ids, version)}}).ok());
    for (DocId& id : more.rows.ids) {
      id = DocId(id.value + 10);
    }
    more.rows.columns = {Vectors(more.rows.ids, version)};
    REQUIRE(builder.Insert(more).ok());
  }
  const Snapshot next = builder.Finish().value();
  CHECK_FALSE(MissCodes(*next));
  CHECK(WrongCodes(*next, quantizer) == 0);
  CHECK(WrongCodes(*table, quantizer) == 0);
}

TEST_CASE("commits that are given up leave codes right", "[storage]") {
  const auto quantizer = Quantizer(7);
  std::mt19937 random(5);
  Snapshot table = With(Empty(), quantizer);
  for (int i = 0; i < 200; ++i) {
    const uint64_t first = 1 + random() % 3000;
    const Snapshot next = random() % 3 == 0 ? Update(table, {first, first + 1, first + 3}, i)
                                            : Insert(table, first, 1 + random() % 60, i);
    if (random() % 3 != 0) {
      table = next;
    }
    if (i % 20 == 0) {
      REQUIRE(WrongCodes(*table, quantizer) == 0);
    }
  }
  CHECK(WrongCodes(*table, quantizer) == 0);
}

TEST_CASE("codes are made later when the quantiser appears or changes, and held ones stay", "[storage]") {
  Snapshot table = Insert(Empty(), 1, 2500);
  CHECK(table->parts[0]->Codes(table->definition->columns[1], 0, nullptr).rows == 0);
  const auto first = Quantizer(7);
  table = With(table, first);
  CHECK(MissCodes(*table));
  table = Insert(table, 2501, 1500);  // the block that was begun before is left for later
  CHECK(MissCodes(*table));
  const uint64_t bytes = RamBytesOf(*table);
  int blocks = 0;
  MakeCodes(*table, [&] { return ++blocks < 2; });
  CHECK(MissCodes(*table));
  MakeCodes(*table, [] { return true; });
  CHECK_FALSE(MissCodes(*table));
  CHECK(RamBytesOf(*table) >= bytes + 2000 * 16);
  CHECK(WrongCodes(*table, first) == 0);
  const uint64_t encoded = first->encoded;
  CHECK(encoded == 3200);

  const CodeBlock held = table->parts[0]->Codes(table->definition->columns[1], 1, first);
  const auto second = Quantizer(8);
  const Snapshot later = With(table, second);
  CHECK(MissCodes(*later));
  CHECK(WrongCodes(*later, second) == 0);
  CHECK_FALSE(MissCodes(*later));
  CHECK(first->encoded == encoded);
  uint64_t code[2];
  std::memcpy(code, held.codes + held.stride, sizeof(code));  // of document 1026
  CHECK(code[1] == 7);
  CHECK(WrongCodes(*Update(later, {1, 2, 1500}, 4), second) == 0);
}

TEST_CASE("a column without vectors, and blocks without one, have no codes", "[storage]") {
  const auto quantizer = Quantizer(7);
  Snapshot table = With(Empty(), quantizer);
  HeadBuilder builder(table);
  InsertRows change;
  for (uint64_t id = 1; id <= 1500; ++id) {
    change.rows.ids.emplace_back(id);
  }
  REQUIRE(builder.Insert(change).ok());
  table = builder.Finish().value();
  const CodeBlock codes = table->parts[0]->Codes(table->definition->columns[1], 0, quantizer);
  CHECK(codes.rows == 1024);
  CHECK(codes.codes == nullptr);
  CHECK(codes.present == BlockBits{});
  CHECK(table->parts[0]->Codes(table->definition->columns[2], 0, quantizer).rows == 0);
  CHECK_FALSE(MissCodes(*table));
  table = Update(table, {1400}, 1);
  CHECK(WrongCodes(*table, quantizer) == 0);
  table = Update(table, {1401, 3}, 1);
  CHECK(WrongCodes(*table, quantizer) == 0);
}

TEST_CASE("readers have right codes while rows come and the quantiser changes", "[storage][threads]") {
  SnapshotCell<TableSnapshot> published(With(Empty(), Quantizer(1)));
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done.load()) {
        const auto table = published.Load();
        wrong += WrongCodes(*table, table->quantizer(kVectors));
      }
    });
  }
  std::mt19937 random(3);
  Snapshot table = published.Load();
  for (int i = 0; i < 150; ++i) {
    const uint64_t first = 1 + random() % 3000;
    if (i % 30 == 29) {
      table = With(table, Quantizer(static_cast<uint64_t>(i)));
    } else {
      table = i % 2 == 0 ? Insert(table, first, 50, i) : Update(table, {first, first + 1, first + 2}, i);
    }
    published.Store(table);
  }
  done.store(true);
  for (std::thread& reader : readers) {
    reader.join();
  }
  CHECK(wrong == 0);
  CHECK(WrongCodes(*table, table->quantizer(kVectors)) == 0);
}

}  // namespace
}  // namespace stoa::storage
