#include "sql/exec/top_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sql/expr/collation.h"

namespace stoa::sql {
namespace {

template <typename T>
int Order(T a, T b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

// Row i of `values` against a kept value.
int CompareTo(const Vector& values, size_t i, const Value& kept, Collation collation) {
  if (values.IsNull(i) || kept.is_null()) {
    return Order(values.IsNull(i) ? 0 : 1, kept.is_null() ? 0 : 1);
  }
  switch (LaneOf(values.type())) {
    case VectorLane::kInt:
      return values.type() == ValueType::kUint64
                 ? Order(static_cast<uint64_t>(values.ints()[i]), static_cast<uint64_t>(kept.integer))
                 : Order(values.ints()[i], kept.integer);
    case VectorLane::kReal:
      return Order(values.reals()[i], kept.real);
    case VectorLane::kBytes:
      return CompareStrings(collation, values.texts()[i], kept.bytes);
  }
  return 0;
}

int CompareValues(const Value& a, const Value& b, Collation collation) {
  if (a.is_null() || b.is_null()) {
    return Order(a.is_null() ? 0 : 1, b.is_null() ? 0 : 1);
  }
  switch (LaneOf(a.type)) {
    case VectorLane::kInt:
      return a.type == ValueType::kUint64
                 ? Order(static_cast<uint64_t>(a.integer), static_cast<uint64_t>(b.integer))
                 : Order(a.integer, b.integer);
    case VectorLane::kReal:
      return Order(a.real, b.real);
    case VectorLane::kBytes:
      return CompareStrings(collation, a.bytes, b.bytes);
  }
  return 0;
}

// Positions of values that do not sort behind `worst`.
template <typename T>
void FindNotAfter(std::span<const T> values, T worst, bool descending, std::vector<uint32_t>& found) {
  found.resize(values.size());
  size_t count = 0;
  for (uint32_t i = 0; i < values.size(); ++i) {
    found[count] = i;
    count += (descending ? values[i] < worst : worst < values[i]) ? 0 : 1;
  }
  found.resize(count);
}

}  // namespace

bool TopRows::Before(const RankedRow& a, const RankedRow& b) const {
  for (size_t k = 0; k < keys_.size(); ++k) {
    if (const int order = CompareValues(a.keys[k], b.keys[k], collation_); order != 0) {
      return keys_[k].descending ? order > 0 : order < 0;
    }
  }
  return a.id != b.id ? a.id < b.id : a.group < b.group;
}

bool TopRows::NewBefore(const Operands& values, size_t i, uint64_t id, const RankedRow& kept) const {
  for (size_t k = 0; k < keys_.size(); ++k) {
    if (const int order = CompareTo(values[k], i, kept.keys[k], collation_); order != 0) {
      return keys_[k].descending ? order > 0 : order < 0;
    }
  }
  return id < kept.id;
}

void TopRows::FindCandidates(const Operands& values, size_t rows, std::vector<uint32_t>& candidates) const {
  const bool rejects = limit_ > 0 && heap_.size() == limit_ && !keys_.empty() && !values[0].has_nulls() &&
                       !heap_.front().keys[0].is_null();
  const VectorLane lane = rejects ? LaneOf(values[0].type()) : VectorLane::kBytes;
  candidates.clear();
  if (lane == VectorLane::kBytes) {
    candidates.resize(rows);
    std::iota(candidates.begin(), candidates.end(), 0u);
    return;
  }
  const Value& worst = heap_.front().keys[0];
  const bool descending = keys_[0].descending;
  if (lane == VectorLane::kReal) {
    FindNotAfter(values[0].reals().first(rows), worst.real, descending, candidates);
  } else if (values[0].type() == ValueType::kUint64) {
    const auto ids = reinterpret_cast<const uint64_t*>(values[0].ints().data());  // travels as its bits
    FindNotAfter(std::span(ids, rows), static_cast<uint64_t>(worst.integer), descending, candidates);
  } else {
    FindNotAfter(values[0].ints().first(rows), worst.integer, descending, candidates);
  }
}

void TopRows::Add(const Operands& values, size_t i, RowRef row, uint64_t id, uint32_t group) {
  if (limit_ == 0) {
    return;
  }
  const auto before = [this](const RankedRow& a, const RankedRow& b) { return Before(a, b); };
  const bool full = heap_.size() == limit_;
  if (full && !NewBefore(values, i, id, heap_.front())) {
    return;
  }
  RankedRow entry{row, group, id, {}};
  entry.keys.reserve(keys_.size());
  for (size_t k = 0; k < keys_.size(); ++k) {
    entry.keys.push_back(values[k].At(i));
  }
  if (full) {
    std::pop_heap(heap_.begin(), heap_.end(), before);
    heap_.back() = std::move(entry);
    std::push_heap(heap_.begin(), heap_.end(), before);
    return;
  }
  heap_.push_back(std::move(entry));
  if (heap_.size() == limit_) {
    std::make_heap(heap_.begin(), heap_.end(), before);
  }
}

std::vector<RankedRow> TopRows::Take() {
  std::sort(heap_.begin(), heap_.end(),
            [this](const RankedRow& a, const RankedRow& b) { return Before(a, b); });
  return std::exchange(heap_, {});
}

Status EvaluateKeys(const std::vector<SortKey>& keys, Batch& batch, Operands& values) {
  for (size_t k = 0; k < keys.size(); ++k) {
    RETURN_IF_ERROR(values.Read(k, *keys[k].expr, batch));
  }
  return Status::Ok();
}

}  // namespace stoa::sql
