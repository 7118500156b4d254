#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql/expr/vector.h"
#include "storage/base/result.h"

namespace stoa::sql {

// The rows an expression is evaluated over: up to kBatchRows rows of numbered slots (columns of a table part,
// or columns of a grouped or sorted result). Slots are read on first use and kept. One thread at a time.
class Batch {
 public:
  virtual ~Batch() = default;
  virtual size_t size() const = 0;
  virtual Result<const Vector*> Slot(size_t slot) = 0;
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

 protected:
  explicit Expr(ValueType type) : type_(type) {}

 private:
  ValueType type_;
};

using ExprPtr = std::unique_ptr<const Expr>;
using SharedExpr = std::shared_ptr<const Expr>;

}  // namespace stoa::sql
