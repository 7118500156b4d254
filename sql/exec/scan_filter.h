#pragma once

#include <span>
#include <vector>

#include "sql/exec/slot_batch.h"

namespace stoa::sql {

// A WHERE condition, split into conditions that storage tests itself, block by block, and the rest, which is
// evaluated over the rows that are left. A condition that storage turns out not to test joins the rest. One
// thread at a time.
class ScanFilter {
 public:
  // `filter` may be null: every row passes. It must outlive this, as `slots` must.
  ScanFilter(const Expr* filter, const std::vector<SlotInfo>& slots);

  // Clears the bits of rows that do not pass what storage tests.
  Status SelectInBlock(SourceReaders& readers, size_t part, uint32_t block, storage::BlockBits& bits);
  // Whether rows that storage has tested have to pass something else.
  bool has_rest() const { return rest_ != nullptr; }
  // Keeps the rows of the batch that pass the rest.
  Status KeepPassing(ScanBatch& batch);
  // Storage is not asked any more: the rest is all.
  void TestAllHere();

 private:
  struct Pushed {
    SharedExpr condition;
    size_t column;
    storage::ColumnPredicate predicate;
  };
  void Split(const SharedExpr& condition, const std::vector<SlotInfo>& slots,
             std::vector<SharedExpr>& others);
  void AddToRest(size_t pushed);

  SharedExpr filter_;
  SharedExpr rest_;
  std::vector<Pushed> pushed_;  // cheap ones first
  Vector passes_;
  std::vector<uint32_t> positions_;
};

}  // namespace stoa::sql
