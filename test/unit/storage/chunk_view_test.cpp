#include "storage/chunk/chunk_view.h"

#include <catch2/catch.hpp>

#include "fake_chunk.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using testing::Dump;
using testing::MakeDefinition;
using testing::MakeRows;

std::shared_ptr<const ChunkView> NewChunk(const std::vector<uint64_t>& ids) {
  const TableDefinition definition = MakeDefinition("t");
  SegmentEdit edit(kSegmentRows);
  const RowBatch rows = MakeRows(ids, 1);
  edit.Append(rows, 0, rows.size(), definition);
  return testing::ViewOf(std::make_shared<const testing::FakeChunk>(edit.FinishView()));
}

std::shared_ptr<const ChunkView> Finish(ChunkEdit& edit) {
  return std::static_pointer_cast<const ChunkView>(edit.Finish());
}

std::vector<std::string> DumpOf(std::shared_ptr<const ChunkView> view) {
  TableSnapshot snapshot;
  snapshot.definition = std::make_shared<const TableDefinition>(MakeDefinition("t"));
  snapshot.parts = {std::move(view)};
  return Dump(snapshot);
}

void SetInt(ChunkEdit& edit, uint32_t row, int64_t value) {
  ColumnValues values{.column = ColumnId(1), .type = ColumnType::kInt};
  values.AppendInt(value);
  const RowId rows[] = {RowId(row)};
  const uint32_t picks[] = {0};
  edit.Update(rows, picks, values, MakeDefinition("t").columns[1]);
}

TEST_CASE("deletes and updates of a disk chunk are seen by newer views only", "[storage]") {
  const auto before = NewChunk({5, 6, 7});
  ChunkEdit edit(before);
  CHECK(*edit.Find(DocId(6)) == RowId(1));
  edit.Delete(RowId(1));
  CHECK_FALSE(edit.Find(DocId(6))->has_value());
  SetInt(edit, 2, 9);
  const auto after = Finish(edit);
  CHECK(DumpOf(before) ==
        std::vector<std::string>{"5: 1 -1 0.5 text 1", "6: 1 -1 0.5 text 1", "7: 1 -1 0.5 text 1"});
  CHECK(DumpOf(after) == std::vector<std::string>{"5: 1 -1 0.5 text 1", "7: 9 -1 0.5 text 1"});
  CHECK(before->FindDocument(DocId(6))->has_value());
  CHECK_FALSE(after->FindDocument(DocId(6))->has_value());
  CHECK(*after->FindDocument(DocId(7)) == RowId(2));
  CHECK(after->live_count() == 2);
  CHECK(after->ram_bytes() > before->ram_bytes() + sizeof(DeleteMap::Page));
}

TEST_CASE("an edit that changes nothing gives the view it began with", "[storage]") {
  const auto before = NewChunk({5, 6});
  ChunkEdit edit(before);
  edit.Update({}, {}, ColumnValues{.column = ColumnId(1), .type = ColumnType::kInt},
              MakeDefinition("t").columns[1]);
  CHECK(edit.Finish() == before);
  ChunkEdit first(before);
  first.Delete(RowId(0));
  const auto deleted = Finish(first);
  ChunkEdit second(deleted);
  second.Delete(RowId(0));
  CHECK(second.Finish() == deleted);
}

}  // namespace
}  // namespace stoa::storage
