#include "sql/exec/slot_batch.h"

#include <algorithm>
#include <numeric>
#include <tuple>

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

Result<const Vector*> ScanBatch::Slot(size_t slot) {
  if (values_[slot] == nullptr) {
    if (slots_[slot].kind != SlotInfo::Kind::kColumn) {
      return InternalError("aggregate read before its groups are complete");
    }
    auto value = std::make_unique<Vector>();
    RETURN_IF_ERROR(source_.Read(part_, slots_[slot].index, rows_, *value));
    values_[slot] = std::move(value);
  }
  return values_[slot].get();
}

Result<std::span<const uint64_t>> ScanBatch::Ids() {
  if (ids_.size() != rows_.size()) {
    ids_.resize(rows_.size());
    RETURN_IF_ERROR(source_.ReadIds(part_, rows_, ids_));
  }
  return std::span<const uint64_t>(ids_);
}

GatherBatch::GatherBatch(const RowSource& source, const std::vector<SlotInfo>& slots,
                         std::vector<RowRef> rows, const GroupValues* group_values,
                         std::vector<uint32_t> groups)
    : source_(source),
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

Status GatherBatch::Gather(size_t column, Vector& out) const {
  out.Reset(source_.columns()[column].type, rows_.size());
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
    RETURN_IF_ERROR(source_.Read(first.part, column, run, *piece));
    for (size_t i = begin; i < end; ++i) {
      CopyValue(*piece, i - begin, out, order_[i]);
    }
    pieces_.push_back(std::move(piece));
    begin = end;
  }
  return Status::Ok();
}

}  // namespace stoa::sql
