#include "sql/expr/logic.h"

#include <algorithm>

#include "sql/bind/expr_binder.h"
#include "sql/expr/convert.h"
#include "sql/expr/operand.h"
#include "sql/session/session_state.h"
#include "storage/json/json_value.h"

namespace stoa::sql {
namespace {

// AND starts with 1 and is decided by a 0, OR the other way round; a NULL decides nothing and is noted.
class LogicExpr : public Expr {
 public:
  LogicExpr(std::vector<SharedExpr> operands, bool is_and)
      : Expr(ValueType::kInt), operands_(std::move(operands)), is_and_(is_and) {}

  std::span<const SharedExpr> conjuncts() const override {
    return is_and_ ? std::span<const SharedExpr>(operands_) : std::span<const SharedExpr>();
  }
  Status Evaluate(Batch& batch, Vector& out) const override {
    std::vector<uint8_t> nulls;  // rows where an operand is NULL; empty: none
    Vector scratch;
    Vector result(type());
    result.Reset(type(), batch.size());
    std::ranges::fill(result.ints(), is_and_ ? 1 : 0);
    for (const SharedExpr& operand : operands_) {
      ASSIGN_OR_RETURN(const Vector* values, ReadOperand(*operand, batch, scratch));
      Combine(*values, result.ints(), nulls);
      if (std::ranges::find(result.ints(), is_and_ ? 1 : 0) == result.ints().end()) {
        break;
      }
    }
    for (size_t row = 0; row < nulls.size(); ++row) {
      if (nulls[row] != 0 && result.ints()[row] == (is_and_ ? 1 : 0)) {
        SetNullValue(result, row);
      }
    }
    out = std::move(result);
    return Status::Ok();
  }

 private:
  void Combine(const Vector& operand, std::span<int64_t> result, std::vector<uint8_t>& nulls) const {
    const std::span<const int64_t> values = operand.ints();
    if (!is_and_) {
      for (size_t row = 0; row < result.size(); ++row) {
        result[row] |= static_cast<int64_t>(values[row] != 0);
      }
    } else if (!operand.has_nulls()) {
      for (size_t row = 0; row < result.size(); ++row) {
        result[row] &= static_cast<int64_t>(values[row] != 0);
      }
    } else {
      for (size_t row = 0; row < result.size(); ++row) {
        result[row] &= static_cast<int64_t>(values[row] != 0 || operand.IsNull(row));
      }
    }
    if (operand.has_nulls()) {
      nulls.resize(result.size(), 0);
      for (size_t row = 0; row < result.size(); ++row) {
        nulls[row] = static_cast<uint8_t>(nulls[row] | static_cast<uint8_t>(operand.IsNull(row)));
      }
    }
  }

  std::vector<SharedExpr> operands_;
  bool is_and_;
};

class NotExpr : public Expr {
 public:
  explicit NotExpr(SharedExpr operand) : Expr(ValueType::kInt), operand_(std::move(operand)) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    std::ranges::transform(in->ints(), out.ints().begin(), [](int64_t v) { return v == 0 ? 1 : 0; });
    CopyNulls(*in, out);
    return Status::Ok();
  }

 private:
  SharedExpr operand_;
};

class IsNullExpr : public Expr {
 public:
  IsNullExpr(SharedExpr operand, bool negated)
      : Expr(ValueType::kInt), operand_(std::move(operand)), negated_(negated) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    const bool is_json = operand_->type() == ValueType::kJson;
    for (size_t row = 0; row < in->size(); ++row) {
      const bool is_null = in->IsNull(row) || (is_json && storage::JsonView(in->texts()[row]).is_null());
      out.ints()[row] = static_cast<int64_t>(is_null != negated_);
    }
    return Status::Ok();
  }

 private:
  SharedExpr operand_;
  bool negated_;
};

// Truth with NULL as 0.
class ConditionExpr : public Expr {
 public:
  explicit ConditionExpr(SharedExpr operand) : Expr(ValueType::kInt), operand_(std::move(operand)) {}

  std::span<const SharedExpr> conjuncts() const override { return {&operand_, 1}; }
  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    std::ranges::transform(in->ints(), out.ints().begin(), [](int64_t v) { return v != 0 ? 1 : 0; });
    for (size_t row = 0; in->has_nulls() && row < in->size(); ++row) {
      out.ints()[row] = in->IsNull(row) ? 0 : out.ints()[row];
    }
    return Status::Ok();
  }

 private:
  SharedExpr operand_;
};

class LikeExpr : public Expr {
 public:
  LikeExpr(SharedExpr text, SharedExpr pattern, bool negated)
      : Expr(ValueType::kInt), text_(std::move(text)), pattern_(std::move(pattern)), negated_(negated) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector text_scratch;
    Vector pattern_scratch;
    ASSIGN_OR_RETURN(const Vector* texts, ReadOperand(*text_, batch, text_scratch));
    ASSIGN_OR_RETURN(const Vector* patterns, ReadOperand(*pattern_, batch, pattern_scratch));
    out.Reset(type(), texts->size());
    for (size_t row = 0; row < texts->size(); ++row) {
      out.ints()[row] =
          static_cast<int64_t>(MatchesLike(texts->texts()[row], patterns->texts()[row]) != negated_);
    }
    CopyNulls(*texts, out);
    CopyNulls(*patterns, out);
    return Status::Ok();
  }

 private:
  SharedExpr text_;
  SharedExpr pattern_;
  bool negated_;
};

SharedExpr IntegerTruth(SharedExpr operand) {
  return LaneOf(operand->type()) == VectorLane::kInt ? operand : ToTruth(std::move(operand));
}

SharedExpr MakeLogic(std::vector<SharedExpr> operands, bool is_and) {
  for (SharedExpr& operand : operands) {
    operand = IntegerTruth(std::move(operand));
  }
  return std::make_shared<LogicExpr>(std::move(operands), is_and);
}

}  // namespace

SharedExpr MakeAnd(std::vector<SharedExpr> operands) { return MakeLogic(std::move(operands), true); }

SharedExpr MakeOr(std::vector<SharedExpr> operands) { return MakeLogic(std::move(operands), false); }

SharedExpr MakeNot(SharedExpr operand) { return std::make_shared<NotExpr>(IntegerTruth(std::move(operand))); }

SharedExpr MakeIsNull(SharedExpr operand, bool negated) {
  return std::make_shared<IsNullExpr>(std::move(operand), negated);
}

SharedExpr MakeCondition(SharedExpr operand) {
  return std::make_shared<ConditionExpr>(IntegerTruth(std::move(operand)));
}

SharedExpr MakeLike(SharedExpr text, SharedExpr pattern, bool negated) {
  return std::make_shared<LikeExpr>(ConvertTo(std::move(text), ValueType::kString),
                                    ConvertTo(std::move(pattern), ValueType::kString), negated);
}

}  // namespace stoa::sql
