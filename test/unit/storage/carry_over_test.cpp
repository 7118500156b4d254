#include <catch2/catch.hpp>
#include <random>

#include "fake_chunk.h"
#include "storage/chunk/chunk_view.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using testing::MakeColumn;
using testing::MakeDefinition;
using testing::MakeRows;
using Parts = std::vector<std::shared_ptr<const TablePart>>;

// Parts of a table that are written to a chunk while they change.
class WorkingTable {
 public:
  explicit WorkingTable(uint32_t seed) : random_(seed) {}

  void AddSegment(uint32_t rows) { now.push_back(NewSegment(rows)); }
  void AddChunk(uint32_t rows) {
    now.push_back(testing::ViewOf(std::make_shared<const testing::FakeChunk>(NewSegment(rows))));
  }

  void Delete(size_t part, uint32_t row) {
    const auto edit = Edit(part);
    edit->Delete(RowId(row));
    now[part] = edit->Finish();
  }

  // Sets a random value in a column of some rows.
  void Update(size_t part, const ColumnDefinition& column, const std::vector<uint32_t>& of) {
    ColumnValues values{.column = column.id, .type = column.type};
    std::vector<RowId> rows;
    std::vector<uint32_t> picks;
    for (const uint32_t row : of) {
      picks.push_back(static_cast<uint32_t>(rows.size()));
      rows.emplace_back(row);
      Append(values);
    }
    const auto edit = Edit(part);
    edit->Update(rows, picks, values, column);
    now[part] = edit->Finish();
  }

  // What the changes of one or more commits may do.
  void ChangeAtRandom(int changes) {
    for (int i = 0; i < changes; ++i) {
      const size_t part = Below(static_cast<uint32_t>(now.size()));
      const uint32_t row_count = now[part]->row_count();
      if (Below(3) == 0) {
        Delete(part, Below(row_count));
        continue;
      }
      std::vector<uint32_t> rows;
      for (uint32_t row = Below(row_count); row < row_count && rows.size() < 5; row += 1 + Below(300)) {
        rows.push_back(row);
      }
      Update(part, definition.columns[1 + Below(static_cast<uint32_t>(definition.columns.size()) - 1)], rows);
    }
  }

  std::vector<std::string> DumpOf(const Parts& parts) const {
    TableSnapshot snapshot;
    snapshot.definition = std::make_shared<const TableDefinition>(definition);
    for (const auto& part : parts) {
      if (part != nullptr) {
        snapshot.parts.push_back(part);
      }
    }
    return testing::Dump(snapshot);
  }

  TableDefinition definition = MakeDefinition("t");
  Parts now;

 private:
  std::shared_ptr<const SegmentView> NewSegment(uint32_t rows) {
    std::vector<uint64_t> ids(rows);
    for (uint64_t& id : ids) {
      id = ++last_id_;
    }
    SegmentEdit edit(rows);
    const RowBatch batch = MakeRows(ids, static_cast<int64_t>(last_id_));
    edit.Append(batch, 0, rows, definition);
    return edit.FinishView();
  }

  std::unique_ptr<PartEdit> Edit(size_t part) {
    if (now[part]->is_disk_chunk()) {
      return std::make_unique<ChunkEdit>(std::static_pointer_cast<const ChunkView>(now[part]));
    }
    return std::make_unique<SegmentEdit>(std::static_pointer_cast<const SegmentView>(now[part]));
  }

  void Append(ColumnValues& values) {
    switch (LaneOf(values.type)) {
      case Lane::kInt:
        values.AppendInt(Below(100));
        return;
      case Lane::kFloat:
        values.AppendFloat(static_cast<float>(Below(100)));
        return;
      case Lane::kBytes:
        values.AppendBytes(std::string(Below(4), 'x'));
        return;
    }
  }

  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

  std::mt19937 random_;
  uint64_t last_id_ = 0;
};

TEST_CASE("after any changes the new chunk shows what the parts it replaces show", "[storage]") {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    WorkingTable table(seed);
    table.AddSegment(3'000);
    table.AddChunk(40'000);
    table.AddSegment(20);
    table.AddChunk(1'500);
    table.ChangeAtRandom(60);
    const Parts before = table.now;
    const auto chunk = testing::WriteFakeChunk(before, table.definition);
    table.ChangeAtRandom(seed == 1 ? 0 : 60);
    if (seed % 3 == 0) {
      // MODIFY n bigint, ADD COLUMN a int, DROP COLUMN f meanwhile.
      table.definition.columns[1].type = ColumnType::kBigint;
      table.definition.columns.push_back(MakeColumn("a", ColumnType::kInt, 9));
      table.definition.columns.erase(table.definition.columns.begin() + 3);
      table.ChangeAtRandom(40);
    }
    Parts after = table.now;
    if (seed % 4 == 0) {
      after[1] = nullptr;
    }
    const auto view = CarryOver(before, after, chunk, table.definition);
    REQUIRE(view.status().ToString() == "ok");
    REQUIRE(table.DumpOf({*view}) == table.DumpOf(after));
  }
}

TEST_CASE("parts that did not change carry nothing over", "[storage]") {
  WorkingTable table(1);
  table.AddSegment(100);
  table.AddChunk(100);
  table.ChangeAtRandom(20);
  const auto view =
      CarryOver(table.now, table.now, testing::WriteFakeChunk(table.now, table.definition), table.definition);
  REQUIRE(view.ok());
  CHECK((*view)->state().overlay->empty());
  CHECK((*view)->deleted().count() == 0);
}

TEST_CASE("only values that differ become patches", "[storage]") {
  WorkingTable table(1);
  table.AddSegment(2'000);
  table.AddChunk(2'000);
  table.Update(1, table.definition.columns[1], {1, 2, 3});
  const Parts before = table.now;
  const auto chunk = testing::WriteFakeChunk(before, table.definition);
  table.Update(0, table.definition.columns[4], {700});
  table.Update(1, table.definition.columns[1], {9});
  const auto view = CarryOver(before, table.now, chunk, table.definition);
  REQUIRE(view.ok());
  CHECK((*view)->state().overlay->patched_values() == 2);
  CHECK((*view)->state().overlay->Find(ColumnId(4))->Find(0)->rows == std::vector<uint16_t>{700});
  CHECK((*view)->state().overlay->Find(ColumnId(1))->Find(1)->rows ==
        std::vector<uint16_t>{2'009 % kBlockRows});
}

TEST_CASE("parts that do not belong to the new chunk are refused", "[storage]") {
  WorkingTable table(1);
  table.AddSegment(100);
  table.AddSegment(100);
  const auto chunk = testing::WriteFakeChunk(table.now, table.definition);
  const Parts swapped = {table.now[1], table.now[0]};
  CHECK(CarryOver(table.now, swapped, chunk, table.definition).status().code() == StatusCode::kInternal);
  const auto first = std::span(table.now).first(1);
  CHECK(CarryOver(first, first, chunk, table.definition).status().code() == StatusCode::kInternal);
  CHECK(CarryOver(table.now, first, chunk, table.definition).status().code() == StatusCode::kInternal);
}

}  // namespace
}  // namespace stoa::storage
