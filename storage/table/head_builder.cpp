#include "storage/table/head_builder.h"

#include <algorithm>

#include "storage/chunk/chunk_view.h"
#include "storage/chunk/row_copy.h"

namespace stoa::storage {
namespace {

constexpr uint32_t kFirstCapacities[] = {1024, 8192};  // of a table's first segments: tiny tables cost little
constexpr uint64_t kGarbageWorthRewriting = 1u << 20;

Status CheckShape(size_t rows, const std::vector<ColumnValues>& columns) {
  for (const ColumnValues& values : columns) {
    if (values.size() != rows) {
      return InternalError("column {} has {} values for {} rows", values.column.value, values.size(), rows);
    }
  }
  return Status::Ok();
}

// The first id that occurs twice.
std::optional<DocId> FindTwin(std::span<const DocId> ids) {
  const auto not_above = [](DocId a, DocId b) { return a >= b; };
  if (std::adjacent_find(ids.begin(), ids.end(), not_above) == ids.end()) {
    return std::nullopt;  // they ascend
  }
  std::vector<DocId> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twin = std::adjacent_find(sorted.begin(), sorted.end());
  return twin == sorted.end() ? std::nullopt : std::optional(*twin);
}

void AppendFrom(const ColumnValues& from, size_t row, ColumnValues& to) {
  switch (LaneOf(from.type)) {
    case Lane::kInt:
      to.AppendInt(from.ints[row]);
      break;
    case Lane::kFloat:
      to.AppendFloat(from.floats[row]);
      break;
    case Lane::kBytes:
      to.AppendBytes(from.BytesAt(row));
      break;
  }
}

// The batch without the earlier ones of rows with the same id.
RowBatch KeepLastOfEachId(const RowBatch& rows) {
  std::vector<size_t> order(rows.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return rows.ids[a] != rows.ids[b] ? rows.ids[a] < rows.ids[b] : a < b;
  });
  std::vector<size_t> kept;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i + 1 == order.size() || rows.ids[order[i]] != rows.ids[order[i + 1]]) {
      kept.push_back(order[i]);
    }
  }
  std::sort(kept.begin(), kept.end());
  RowBatch result;
  for (const size_t row : kept) {
    result.ids.push_back(rows.ids[row]);
  }
  for (const ColumnValues& values : rows.columns) {
    ColumnValues& copy = result.columns.emplace_back();
    copy.column = values.column;
    copy.type = values.type;
    for (const size_t row : kept) {
      AppendFrom(values, row, copy);
    }
  }
  return result;
}

// nullptr for a disk chunk and for a segment that is being written to one.
const SegmentView* AsOpenSegment(const TablePart& part) {
  if (part.is_disk_chunk()) {
    return nullptr;
  }
  const auto& segment = static_cast<const SegmentView&>(part);
  return segment.state().sealed ? nullptr : &segment;
}

// `full`: no row will be appended any more.
bool WorthRewriting(const TablePart& part, bool full) {
  const SegmentView::State& state = AsOpenSegment(part)->state();
  const uint32_t dead = part.deleted().count();
  return (full && dead >= kBlockRows / 2 && dead > part.row_count() / 2) ||
         (state.garbage_bytes > kGarbageWorthRewriting && state.garbage_bytes > state.ram_bytes / 2);
}

}  // namespace

HeadBuilder::HeadBuilder(std::shared_ptr<const TableSnapshot> base) : base_(std::move(base)) {
  parts_.reserve(base_->parts.size() + 1);
  for (const auto& part : base_->parts) {
    parts_.push_back({part, nullptr, nullptr});
  }
}

PartEdit& HeadBuilder::Edit(size_t part) {
  Part& edited = parts_[part];
  if (edited.edit != nullptr) {
    return *edited.edit;
  }
  if (edited.base->is_disk_chunk()) {
    edited.edit = std::make_unique<ChunkEdit>(std::static_pointer_cast<const ChunkView>(edited.base));
    return *edited.edit;
  }
  auto edit = std::make_unique<SegmentEdit>(std::static_pointer_cast<const SegmentView>(edited.base));
  edit->CodeWith(base_->quantizers);
  edited.open = AsOpenSegment(*edited.base) != nullptr ? edit.get() : nullptr;
  edited.edit = std::move(edit);
  return *edited.edit;
}

// Part by part, newest first, so that the hash of one part stays in the cache for all ids.
Result<std::vector<std::optional<RowLocation>>> HeadBuilder::Locate(std::span<const DocId> ids) const {
  std::vector<std::optional<RowLocation>> places(ids.size());
  size_t missing = ids.size();
  for (size_t p = parts_.size(); p-- > 0 && missing > 0;) {
    const Part& part = parts_[p];
    for (size_t i = 0; i < ids.size(); ++i) {
      if (places[i].has_value()) {
        continue;
      }
      ASSIGN_OR_RETURN(const std::optional<RowId> row,
                       part.edit != nullptr ? part.edit->Find(ids[i]) : part.base->FindDocument(ids[i]));
      if (row.has_value()) {
        places[i] = RowLocation{static_cast<uint32_t>(p), *row};
        --missing;
      }
    }
  }
  return places;
}

Status HeadBuilder::Insert(const InsertRows& change) {
  RETURN_IF_ERROR(CheckShape(change.rows.size(), change.rows.columns));
  if (change.rows.size() == 0) {
    return Status::Ok();
  }
  const std::optional<DocId> twin = FindTwin(change.rows.ids);
  if (twin.has_value() && !change.replace) {
    return ExistsError("duplicate id '{}'", twin->value);
  }
  ASSIGN_OR_RETURN(const auto places, Locate(change.rows.ids));
  if (!change.replace) {
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].has_value()) {
        return ExistsError("duplicate id '{}'", change.rows.ids[i].value);
      }
    }
  }
  for (const auto& place : places) {
    if (place.has_value()) {
      Edit(place->part).Delete(place->row);
    }
  }
  if (twin.has_value()) {
    Append(KeepLastOfEachId(change.rows));
  } else {
    Append(change.rows);
  }
  changed_ = true;
  return Status::Ok();
}

void HeadBuilder::Append(const RowBatch& rows) {
  size_t done = 0;
  while (done < rows.size()) {
    SegmentEdit& edit = EditWithRoom(rows.size() - done);
    const size_t count = std::min<size_t>(edit.room(), rows.size() - done);
    edit.Append(rows, done, count, *base_->definition);
    done += count;
  }
}

// The last segment, or a new one when it is full.
SegmentEdit& HeadBuilder::EditWithRoom(size_t rows) {
  const auto is_open = [](const Part& part) {
    return part.open != nullptr || (part.base != nullptr && AsOpenSegment(*part.base) != nullptr);
  };
  if (!parts_.empty() && is_open(parts_.back())) {
    Edit(parts_.size() - 1);
    if (parts_.back().open->room() > 0) {
      return *parts_.back().open;
    }
  }
  const auto segments = static_cast<size_t>(std::count_if(parts_.begin(), parts_.end(), is_open));
  uint32_t capacity = kSegmentRows;
  if (segments < std::size(kFirstCapacities) && rows <= kFirstCapacities[segments]) {
    capacity = kFirstCapacities[segments];
  }
  auto edit = std::make_unique<SegmentEdit>(capacity);
  edit->CodeWith(base_->quantizers);
  SegmentEdit& open = *edit;
  parts_.push_back({nullptr, std::move(edit), &open});
  return open;
}

Result<uint64_t> HeadBuilder::Delete(const DeleteRows& change) {
  uint64_t found = 0;
  ASSIGN_OR_RETURN(const auto places, Locate(change.ids));
  for (size_t i = 0; i < places.size(); ++i) {
    // The same id may be given twice.
    if (!places[i].has_value()) {
      continue;
    }
    ASSIGN_OR_RETURN(const std::optional<RowId> live, Edit(places[i]->part).Find(change.ids[i]));
    if (live.has_value()) {
      Edit(places[i]->part).Delete(places[i]->row);
      ++found;
    }
  }
  changed_ = changed_ || found > 0;
  return found;
}

Result<uint64_t> HeadBuilder::Update(const UpdateRows& change) {
  RETURN_IF_ERROR(CheckShape(change.ids.size(), change.columns));
  ASSIGN_OR_RETURN(const auto places, Locate(change.ids));
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < places.size(); ++i) {
    if (places[i].has_value()) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return *places[a] < *places[b]; });
  size_t done = 0;
  while (done < order.size()) {
    const uint32_t part = places[order[done]]->part;
    std::vector<RowId> rows;
    const size_t first = done;
    for (; done < order.size() && places[order[done]]->part == part; ++done) {
      rows.push_back(places[order[done]]->row);
    }
    for (const ColumnValues& values : change.columns) {
      const int index = base_->definition->IndexOf(values.column);
      if (index > 0) {
        Edit(part).Update(rows, std::span(order).subspan(first, rows.size()), values,
                          base_->definition->columns[static_cast<size_t>(index)]);
      }
    }
  }
  changed_ = changed_ || (!order.empty() && !change.columns.empty());
  return order.size();
}

Result<std::shared_ptr<const TableSnapshot>> HeadBuilder::Finish() {
  if (!changed_) {
    return base_;
  }
  auto next = std::make_shared<TableSnapshot>();
  next->definition = base_->definition;
  next->quantizers = base_->quantizers;
  std::vector<bool> rewrite;
  for (size_t p = 0; p < parts_.size(); ++p) {
    const bool is_edited = parts_[p].edit != nullptr;
    const bool full = p + 1 < parts_.size() || (parts_[p].open != nullptr && parts_[p].open->room() == 0);
    auto part = is_edited ? parts_[p].edit->Finish() : parts_[p].base;
    const bool is_open = AsOpenSegment(*part) != nullptr;
    if (is_open && full && part->live_count() == 0) {
      continue;
    }
    next->parts.push_back(std::move(part));
    rewrite.push_back(is_edited && is_open && WorthRewriting(*next->parts.back(), full));
  }
  RETURN_IF_ERROR(Compact(*next, rewrite));
  return std::shared_ptr<const TableSnapshot>(std::move(next));
}

// Rewrites segments that this commit left more dead than alive, each with its older neighbour when both are
// sparse.
Status HeadBuilder::Compact(TableSnapshot& next, const std::vector<bool>& rewrite) {
  auto& parts = next.parts;
  for (size_t p = rewrite.size(); p-- > 0;) {
    if (!rewrite[p]) {
      continue;
    }
    const bool with_older = p > 0 && AsOpenSegment(*parts[p - 1]) != nullptr &&
                            parts[p - 1]->live_count() + parts[p]->live_count() <= kSegmentRows / 2 &&
                            parts[p - 1]->row_count() > parts[p - 1]->live_count();
    std::vector<std::shared_ptr<const SegmentView>> views;
    if (with_older) {
      views.push_back(std::static_pointer_cast<const SegmentView>(parts[p - 1]));
    }
    views.push_back(std::static_pointer_cast<const SegmentView>(parts[p]));
    ASSIGN_OR_RETURN(parts[p], RewriteSegments(views, *next.definition));
    if (with_older) {
      parts.erase(parts.begin() + static_cast<ptrdiff_t>(p) - 1);
      --p;
    }
  }
  return Status::Ok();
}

}  // namespace stoa::storage
