#include "sql/expr/leaf.h"

#include <algorithm>

#include "sql/bind/expr_binder.h"
#include "sql/expr/operand.h"

namespace stoa::sql {
namespace {

class ConstantExpr : public Expr {
 public:
  ConstantExpr(ValueType type, Value value) : Expr(type), value_(std::move(value)) {}

  bool is_constant() const override { return true; }
  Status Evaluate(Batch& batch, Vector& out) const override {
    const size_t rows = batch.size();
    out.Reset(type(), rows);
    switch (LaneOf(type())) {
      case VectorLane::kInt:
        std::ranges::fill(out.ints(), value_.integer);
        break;
      case VectorLane::kReal:
        std::ranges::fill(out.reals(), value_.real);
        break;
      case VectorLane::kBytes:
        std::ranges::fill(out.texts(), std::string_view(value_.bytes));
        break;
    }
    for (size_t row = 0; value_.is_null() && row < rows; ++row) {
      SetNullValue(out, row);
    }
    return Status::Ok();
  }

 private:
  Value value_;
};

class SlotExpr : public Expr {
 public:
  SlotExpr(size_t slot, ValueType type) : Expr(type), slot_(slot) {}

  int slot() const override { return static_cast<int>(slot_); }
  Status Evaluate(Batch& batch, Vector& out) const override {
    ASSIGN_OR_RETURN(const Vector* values, batch.Slot(slot_));
    if (values->size() != batch.size() || LaneOf(values->type()) != LaneOf(type())) {
      return InternalError("slot {} has {} values of another type for {} rows", slot_, values->size(),
                           batch.size());
    }
    out.Reset(type(), values->size());
    switch (LaneOf(type())) {
      case VectorLane::kInt:
        std::ranges::copy(values->ints(), out.ints().begin());
        break;
      case VectorLane::kReal:
        std::ranges::copy(values->reals(), out.reals().begin());
        break;
      case VectorLane::kBytes:
        std::ranges::copy(values->texts(), out.texts().begin());
        break;
    }
    CopyNulls(*values, out);
    return Status::Ok();
  }

 private:
  size_t slot_;
};

class JsonPathExpr : public Expr {
 public:
  JsonPathExpr(SharedExpr json, std::vector<storage::JsonStep> path)
      : Expr(ValueType::kJson), json_(std::move(json)), path_(std::move(path)) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    if (json_->slot() < 0) {  // `out` owns the strings the value points into
      RETURN_IF_ERROR(json_->Evaluate(batch, out));
      FollowAll(out, out);
      return Status::Ok();
    }
    ASSIGN_OR_RETURN(const Vector* values, ReadOperand(*json_, batch, out));
    out.Reset(ValueType::kJson, values->size());
    FollowAll(*values, out);
    return Status::Ok();
  }

 private:
  void FollowAll(const Vector& in, Vector& out) const {
    const std::span<const std::string_view> stored = in.texts();
    const std::span<std::string_view> found = out.texts();
    for (size_t row = 0; row < stored.size(); ++row) {
      const storage::JsonView value = storage::Follow(storage::JsonView(stored[row]), path_);
      if (value.is_null()) {
        SetNullValue(out, row);
      } else {
        found[row] = value.bytes();
      }
    }
  }

  SharedExpr json_;
  std::vector<storage::JsonStep> path_;
};

// One row without slots: what constants are evaluated over.
class ConstantBatch : public Batch {
 public:
  size_t size() const override { return 1; }
  Result<const Vector*> Slot(size_t slot) override {
    return InternalError("a constant expression reads column {}", slot);
  }
};

}  // namespace

SharedExpr MakeConstant(Value value) {
  const ValueType type = value.type;
  return std::make_shared<ConstantExpr>(type, std::move(value));
}

SharedExpr MakeNull(ValueType type) { return std::make_shared<ConstantExpr>(type, Value::Null()); }

SharedExpr MakeSlot(size_t slot, ValueType type) { return std::make_shared<SlotExpr>(slot, type); }

SharedExpr MakeJsonPath(SharedExpr json, std::vector<storage::JsonStep> path) {
  return std::make_shared<JsonPathExpr>(std::move(json), std::move(path));
}

Result<Value> EvaluateConstant(const Expr& expr) {
  ConstantBatch batch;
  Vector out;
  RETURN_IF_ERROR(expr.Evaluate(batch, out));
  if (out.size() != 1) {
    return InternalError("a constant expression has {} values", out.size());
  }
  return out.At(0);
}

Result<SharedExpr> Fold(SharedExpr expr, bool operands_are_constant) {
  if (!operands_are_constant) {
    return expr;
  }
  ASSIGN_OR_RETURN(Value value, EvaluateConstant(*expr));
  if (value.is_null()) {
    return MakeNull(expr->type());
  }
  return MakeConstant(std::move(value));
}

}  // namespace stoa::sql
