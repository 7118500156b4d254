#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/expr/vector.h"
#include "storage/base/result.h"
#include "storage/column/column_predicate.h"

namespace stoa::sql {

// The rows an expression is evaluated over: up to kBatchRows rows of numbered slots (columns of a table part,
// or columns of a grouped or sorted result). Slots are read on first use and kept. One thread at a time.
class Batch {
 public:
  virtual ~Batch() = default;
  virtual size_t size() const = 0;
  virtual Result<const Vector*> Slot(size_t slot) = 0;
};

class Expr;
using ExprPtr = std::unique_ptr<const Expr>;
using SharedExpr = std::shared_ptr<const Expr>;

// A condition on one slot that storage can test itself.
struct SlotCondition {
  size_t slot = 0;
  storage::ColumnPredicate predicate;
};

// A bound, typed expression. Immutable after binding and safe to share between threads that use their own
// batches and vectors. Evaluate() fills `out` with batch.size() values of type(); it never ends the process,
// whatever the values: what has no value (division by zero, log of a negative) is 0 or NULL as its function
// says.
class Expr {
 public:
  virtual ~Expr() = default;

  ValueType type() const { return type_; }
  virtual Status Evaluate(Batch& batch, Vector& out) const = 0;
  virtual bool is_constant() const { return false; }
  // The slot when the expression is nothing but that slot; else -1.
  virtual int slot() const { return -1; }
  // For filters: the operands when the expression is true exactly where all of them are; else none.
  virtual std::span<const SharedExpr> conjuncts() const { return {}; }
  // For filters: a condition that holds exactly where the expression is true, if its slot is a column, which
  // has no NULLs; nullopt when there is none.
  virtual std::optional<SlotCondition> slot_condition() const { return std::nullopt; }

 protected:
  explicit Expr(ValueType type) : type_(type) {}

 private:
  ValueType type_;
};

}  // namespace stoa::sql
