#include "sql/exec/scan_filter.h"

#include <algorithm>

#include "sql/expr/logic.h"

namespace stoa::sql {
namespace {

bool IsEmpty(const storage::BlockBits& bits) {
  return std::all_of(bits.begin(), bits.end(), [](uint64_t word) { return word == 0; });
}

}  // namespace

ScanFilter::ScanFilter(const Expr* filter, const std::vector<SlotInfo>& slots)
    : filter_(std::shared_ptr<void>(), filter) {  // borrowed
  if (filter == nullptr) {
    return;
  }
  std::vector<SharedExpr> others;
  Split(filter_, slots, others);
  // IntRange, IntSet, FloatRange, BytesSet, BytesTest: in the order of what they cost.
  std::stable_sort(pushed_.begin(), pushed_.end(), [](const Pushed& a, const Pushed& b) {
    return a.predicate.test.index() < b.predicate.test.index();
  });
  if (pushed_.empty()) {
    rest_ = filter_;
  } else if (!others.empty()) {
    rest_ = MakeCondition(others.size() == 1 ? others[0] : MakeAnd(std::move(others)));
  }
}

void ScanFilter::Split(const SharedExpr& condition, const std::vector<SlotInfo>& slots,
                       std::vector<SharedExpr>& others) {
  if (const auto conjuncts = condition->conjuncts(); !conjuncts.empty()) {
    for (const SharedExpr& conjunct : conjuncts) {
      Split(conjunct, slots, others);
    }
    return;
  }
  std::optional<SlotCondition> own = condition->slot_condition();
  if (own && slots[own->slot].kind == SlotInfo::Kind::kColumn) {
    pushed_.push_back({condition, slots[own->slot].index, std::move(own->predicate)});
  } else {
    others.push_back(condition);
  }
}

Status ScanFilter::SelectInBlock(SourceReaders& readers, size_t part, uint32_t block,
                                 storage::BlockBits& bits) {
  for (size_t i = 0; i < pushed_.size() && !IsEmpty(bits);) {
    ASSIGN_OR_RETURN(SourceReader* const reader, readers.Column(part, pushed_[i].column));
    const Status selected = reader->Select(block, pushed_[i].predicate, bits);
    if (selected.code() == StatusCode::kUnsupported) {
      AddToRest(i);
      continue;
    }
    RETURN_IF_ERROR(selected);
    ++i;
  }
  return Status::Ok();
}

void ScanFilter::AddToRest(size_t pushed) {
  SharedExpr condition = pushed_[pushed].condition;
  pushed_.erase(pushed_.begin() + static_cast<std::ptrdiff_t>(pushed));
  rest_ = rest_ == nullptr ? MakeCondition(condition) : MakeCondition(MakeAnd({condition, rest_}));
}

void ScanFilter::TestAllHere() {
  pushed_.clear();
  rest_ = filter_;
}

Status ScanFilter::KeepPassing(ScanBatch& batch) {
  if (rest_ == nullptr) {
    return Status::Ok();
  }
  RETURN_IF_ERROR(rest_->Evaluate(batch, passes_));
  positions_.clear();
  const auto passes = std::as_const(passes_).ints();
  for (uint32_t i = 0; i < passes.size(); ++i) {
    if (passes[i] != 0 && !passes_.IsNull(i)) {
      positions_.push_back(i);
    }
  }
  batch.Keep(positions_);
  return Status::Ok();
}

}  // namespace stoa::sql
