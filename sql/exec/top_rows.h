#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql/bind/name_scope.h"
#include "sql/exec/row_source.h"
#include "sql/expr/operand.h"
#include "sql/expr/vector.h"

namespace stoa::sql {

// How one key of an ORDER BY sorts.
struct SortKey {
  SharedExpr expr;
  bool descending = false;
};

// A kept row: where it is, the group it stands for, its key values and the document id that breaks ties.
struct RankedRow {
  RowRef row;
  uint32_t group = 0;
  uint64_t id = 0;
  std::vector<Value> keys;
};

// The first `limit` rows by the sort keys, then by document id; a bounded heap. Without keys the order is by
// id. NULLs come first in ascending order. One thread at a time.
class TopRows {
 public:
  TopRows(const std::vector<SortKey>& keys, Collation collation, size_t limit)
      : keys_(keys), collation_(collation), limit_(limit) {}

  // Those of the first `rows` rows of a batch that may be among the first, judged by their first key alone;
  // `values[k]` holds key k for the batch.
  void FindCandidates(const Operands& values, size_t rows, std::vector<uint32_t>& candidates) const;
  // Adds row `i` of a batch.
  void Add(const Operands& values, size_t i, RowRef row, uint64_t id, uint32_t group = 0);
  // Best first; the object is empty afterwards.
  std::vector<RankedRow> Take();
  size_t size() const { return heap_.size(); }

 private:
  bool Before(const RankedRow& a, const RankedRow& b) const;
  bool NewBefore(const Operands& values, size_t i, uint64_t id, const RankedRow& kept) const;

  const std::vector<SortKey>& keys_;
  Collation collation_;
  size_t limit_;
  std::vector<RankedRow> heap_;  // worst on top once full
};

// Evaluates the keys over a batch.
Status EvaluateKeys(const std::vector<SortKey>& keys, Batch& batch, Operands& values);

}  // namespace stoa::sql
