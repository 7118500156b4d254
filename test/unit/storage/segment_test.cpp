#include "storage/chunk/segment_edit.h"

#include <catch2/catch.hpp>

#include "table_fixture.h"

namespace stoa::storage {
namespace {

using testing::MakeColumn;
using testing::MakeDefinition;
using testing::MakeRows;

std::shared_ptr<const SegmentView> Append(std::shared_ptr<const SegmentView> view, const RowBatch& rows,
                                          const TableDefinition& definition) {
  SegmentEdit edit(std::move(view));
  edit.Append(rows, 0, rows.size(), definition);
  return edit.FinishView();
}

std::shared_ptr<const SegmentView> NewView(uint32_t capacity) { return SegmentEdit(capacity).FinishView(); }

int64_t IntAt(const SegmentView& view, const ColumnDefinition& column, uint32_t row) {
  int64_t value = -1;
  const RowId rows[] = {RowId(row)};
  REQUIRE((*view.Column(column))->ReadInts(rows, {&value, 1}).ok());
  return value;
}

TEST_CASE("rows appended to a segment are seen only by newer views", "[storage]") {
  const TableDefinition definition = MakeDefinition("t");
  const auto first = Append(NewView(1024), MakeRows({5, 6}, 1), definition);
  const auto second = Append(first, MakeRows({7}, 2), definition);
  CHECK(first->row_count() == 2);
  CHECK(second->row_count() == 3);
  CHECK_FALSE(first->FindDocument(DocId(7))->has_value());
  CHECK(*second->FindDocument(DocId(7)) == RowId(2));
  CHECK(IntAt(*second, definition.columns[1], 2) == 2);
}

TEST_CASE("an update leaves older views as they are", "[storage]") {
  const TableDefinition definition = MakeDefinition("t");
  const auto before = Append(NewView(1024), MakeRows({5, 6}, 1), definition);
  SegmentEdit edit(before);
  ColumnValues values{.column = ColumnId(1), .type = ColumnType::kInt};
  values.AppendInt(9);
  const RowId rows[] = {RowId(1)};
  const uint32_t picks[] = {0};
  edit.Update(rows, picks, values, definition.columns[1]);
  const auto after = edit.FinishView();
  CHECK(IntAt(*before, definition.columns[1], 1) == 1);
  CHECK(IntAt(*after, definition.columns[1], 1) == 9);
  CHECK(IntAt(*after, definition.columns[1], 0) == 1);
}

TEST_CASE("a column that a segment does not hold reads as its default", "[storage]") {
  TableDefinition definition = MakeDefinition("t");
  auto view = Append(NewView(4096), MakeRows({5, 6}, 1), definition);
  const ColumnDefinition added = MakeColumn("later", ColumnType::kInt, 9);
  CHECK(IntAt(*view, added, 1) == 0);

  definition.columns.push_back(added);
  RowBatch rows;
  ColumnValues values{.column = ColumnId(9), .type = ColumnType::kInt};
  for (uint64_t id = 100; id < 1500; ++id) {
    rows.ids.emplace_back(id);
    values.AppendInt(id >= 1400 ? 4294967295 : 0);
  }
  rows.columns = {values};
  view = Append(view, rows, definition);
  CHECK(IntAt(*view, added, 0) == 0);
  CHECK(IntAt(*view, added, 1301) == 0);
  CHECK(IntAt(*view, added, 1401) == 4294967295);
  CHECK(IntAt(*view, definition.columns[2], 1401) == 0);
}

TEST_CASE("a column widened to bigint keeps its values and takes large ones", "[storage]") {
  TableDefinition definition = MakeDefinition("t");
  const auto before = Append(NewView(1024), MakeRows({5, 6}, 4294967295), definition);
  definition.columns[1].type = ColumnType::kBigint;
  CHECK(IntAt(*before, definition.columns[1], 0) == 4294967295);
  RowBatch rows = MakeRows({7}, 0);
  rows.columns[0].type = ColumnType::kBigint;
  rows.columns[0].ints = {-5};
  const auto after = Append(before, rows, definition);
  CHECK(IntAt(*after, definition.columns[1], 0) == 4294967295);
  CHECK(IntAt(*after, definition.columns[1], 2) == -5);
  CHECK(IntAt(*before, definition.columns[1], 1) == 4294967295);
}

TEST_CASE("every view finds its own version of a document", "[storage]") {
  const TableDefinition definition = MakeDefinition("t");
  std::vector<std::shared_ptr<const SegmentView>> views{NewView(kSegmentRows)};
  for (int64_t version = 0; version < 3000; ++version) {
    SegmentEdit edit(views.back());
    if (const auto old = *edit.Find(DocId(42)); old.has_value()) {
      edit.Delete(*old);
    }
    edit.Append(MakeRows({42}, version), 0, 1, definition);
    views.push_back(edit.FinishView());
  }
  for (const size_t version : {size_t{1}, size_t{2}, size_t{1500}, size_t{3000}}) {
    const auto row = *views[version]->FindDocument(DocId(42));
    REQUIRE(row == RowId(static_cast<uint32_t>(version - 1)));
    CHECK(IntAt(*views[version], definition.columns[1], row->value) == static_cast<int64_t>(version) - 1);
    CHECK(views[version]->live_count() == 1);
  }
}

TEST_CASE("rows of an edit that was given up are dead, and the older version lives on", "[storage]") {
  const TableDefinition definition = MakeDefinition("t");
  const auto base = Append(NewView(1024), MakeRows({1, 2}, 1), definition);
  {
    SegmentEdit lost(base);
    lost.Delete(RowId(0));
    lost.Append(MakeRows({1, 3}, 2), 0, 2, definition);
    CHECK(*lost.Finish()->FindDocument(DocId(1)) == RowId(2));
  }
  CHECK(*base->FindDocument(DocId(1)) == RowId(0));
  const auto next = Append(base, MakeRows({4}, 3), definition);
  CHECK(*next->FindDocument(DocId(1)) == RowId(0));
  CHECK_FALSE(next->FindDocument(DocId(3))->has_value());
  CHECK(*next->FindDocument(DocId(4)) == RowId(4));
  CHECK(next->live_count() == 3);
}

TEST_CASE("an empty segment finds nothing and the lane of a column is checked", "[storage]") {
  const TableDefinition definition = MakeDefinition("t");
  const auto view = Append(NewView(16), MakeRows({1}, 1), definition);
  CHECK_FALSE(NewView(16)->FindDocument(DocId(0))->has_value());
  float value = 0;
  const RowId rows[] = {RowId(0)};
  CHECK((*view->Column(definition.columns[1]))->ReadFloats(rows, {&value, 1}).code() ==
        StatusCode::kInternal);
}

}  // namespace
}  // namespace stoa::storage
