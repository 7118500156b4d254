#include "sql/exec/slot_batch.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace stoa::sql {
namespace {

void CopyValue(const Vector& from, size_t i, Vector& to, size_t k) {
  switch (LaneOf(from.type())) {
    case VectorLane::kInt:
      to.ints()[k] = from.ints()[i];
      break;
    case VectorLane::kReal:
      to.reals()[k] = from.reals()[i];
      break;
    case VectorLane::kBytes:
      to.texts()[k] = from.texts()[i];
      break;
  }
  if (from.IsNull(i)) {
    to.SetNull(k);
  }
}

void SetEmpty(Vector& out, size_t i) {
  switch (LaneOf(out.type())) {
    case VectorLane::kInt:
      out.ints()[i] = 0;
      break;
    case VectorLane::kReal:
      out.reals()[i] = 0;
      break;
    case VectorLane::kBytes:
      out.texts()[i] = {};
      break;
  }
}

}  // namespace

ScanBatch::ScanBatch(SourceReaders& readers, const std::vector<SlotInfo>& slots)
    : readers_(readers), slots_(slots), values_(slots.size() + 1), id_values_(slots.size()) {
  for (size_t slot = 0; slot < slots.size() && readers.source().has_ids(); ++slot) {
    if (slots[slot].kind == SlotInfo::Kind::kColumn && slots[slot].index == RowSource::kIdColumn) {
      id_values_ = slot;
    }
  }
}

void ScanBatch::Reset(size_t part, std::span<const RowId> rows) {
  part_ = part;
  rows_.assign(rows.begin(), rows.end());
  for (Values& values : values_) {
    values.is_read = false;
  }
}

void ScanBatch::Keep(std::span<const uint32_t> positions) {
  if (positions.size() == rows_.size()) {
    return;
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    rows_[i] = rows_[positions[i]];
  }
  rows_.resize(positions.size(), RowId(0));
  for (Values& values : values_) {
    if (values.is_read) {
      values.vector.Keep(positions);
    }
  }
}

void ScanBatch::Truncate(size_t count) {
  std::vector<uint32_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0u);
  Keep(positions);
}

Result<const Vector*> ScanBatch::Slot(size_t slot) {
  Values& values = values_[slot];
  if (!values.is_read) {
    if (slots_[slot].kind != SlotInfo::Kind::kColumn) {
      return InternalError("aggregate read before its groups are complete");
    }
    RETURN_IF_ERROR(readers_.Read(part_, slots_[slot].index, rows_, values.vector));
    values.is_read = true;
  }
  return &values.vector;
}

Result<std::span<const int64_t>> ScanBatch::Ids() {
  Values& values = values_[id_values_];
  if (!values.is_read) {
    RETURN_IF_ERROR(readers_.ReadIds(part_, rows_, values.vector));
    values.is_read = true;
  }
  return std::span<const int64_t>(std::as_const(values.vector).ints());
}

GatherBatch::GatherBatch(SourceReaders& readers, const std::vector<SlotInfo>& slots, std::vector<RowRef> rows,
                         const GroupValues* group_values, std::vector<uint32_t> groups)
    : readers_(readers),
      slots_(slots),
      rows_(std::move(rows)),
      group_values_(group_values),
      groups_(std::move(groups)),
      order_(rows_.size()),
      values_(slots.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(rows_[a].part, rows_[a].row) < std::tie(rows_[b].part, rows_[b].row);
  });
}

Result<const Vector*> GatherBatch::Slot(size_t slot) {
  if (values_[slot] == nullptr) {
    auto value = std::make_unique<Vector>();
    const SlotInfo& info = slots_[slot];
    if (info.kind == SlotInfo::Kind::kColumn) {
      RETURN_IF_ERROR(Gather(info.index, *value));
    } else if (group_values_ != nullptr) {
      RETURN_IF_ERROR(group_values_->ReadGroups(info, groups_, *value));
    } else {
      return InternalError("aggregate read without groups");
    }
    values_[slot] = std::move(value);
  }
  return values_[slot].get();
}

Status GatherBatch::Gather(size_t column, Vector& out) {
  out.Reset(readers_.source().columns()[column].type, rows_.size());
  std::vector<RowId> run;
  for (size_t begin = 0; begin < order_.size();) {
    const RowRef first = rows_[order_[begin]];
    if (!first.exists()) {
      SetEmpty(out, order_[begin++]);
      continue;
    }
    size_t end = begin;
    run.clear();
    while (end < order_.size() && rows_[order_[end]].part == first.part && rows_[order_[end]].exists()) {
      run.push_back(rows_[order_[end++]].row);
    }
    auto piece = std::make_unique<Vector>();
    RETURN_IF_ERROR(readers_.Read(first.part, column, run, *piece));
    for (size_t i = begin; i < end; ++i) {
      CopyValue(*piece, i - begin, out, order_[i]);
    }
    pieces_.push_back(std::move(piece));
    begin = end;
  }
  return Status::Ok();
}

}  // namespace stoa::sql
