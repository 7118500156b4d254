#include "sql/expr/conditional.h"

#include <algorithm>

#include "sql/expr/convert.h"
#include "sql/expr/leaf.h"
#include "sql/expr/logic.h"
#include "sql/expr/operand.h"

namespace stoa::sql {
namespace {

// Writes the rows of `in` that `wanted` names to `out`, of the same type.
void CopyRows(const Expr& source, const Vector& in, const std::vector<uint8_t>& wanted, Vector& out) {
  for (size_t row = 0; row < wanted.size(); ++row) {
    if (wanted[row] == 0) {
      continue;
    }
    if (in.IsNull(row)) {
      SetNullValue(out, row);
      continue;
    }
    switch (LaneOf(out.type())) {
      case VectorLane::kInt:
        out.ints()[row] = in.ints()[row];
        break;
      case VectorLane::kReal:
        out.reals()[row] = in.reals()[row];
        break;
      case VectorLane::kBytes:
        out.texts()[row] = KeepText(source, in.texts()[row], out);
        break;
    }
  }
}

// Chooses one of several values per row. `choices` are conditions (true: take the value of the same index).
class CaseExpr : public Expr {
 public:
  CaseExpr(ValueType type, std::vector<SharedExpr> conditions, std::vector<SharedExpr> values)
      : Expr(type), conditions_(std::move(conditions)), values_(std::move(values)) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    const size_t rows = batch.size();
    std::vector<uint8_t> open(rows, 1);
    size_t open_rows = rows;
    Vector result(type());
    result.Reset(type(), rows);
    for (size_t i = 0; i < values_.size() && open_rows > 0; ++i) {
      std::vector<uint8_t> chosen = open;
      if (i < conditions_.size()) {
        RETURN_IF_ERROR(Choose(*conditions_[i], batch, chosen));
      }
      const auto count = static_cast<size_t>(std::ranges::count(chosen, 1));
      if (count == 0) {
        continue;
      }
      Vector scratch;
      ASSIGN_OR_RETURN(const Vector* values, ReadOperand(*values_[i], batch, scratch));
      CopyRows(*values_[i], *values, chosen, result);
      open_rows -= count;
      for (size_t row = 0; row < rows; ++row) {
        open[row] = static_cast<uint8_t>(open[row] & (chosen[row] ^ 1));
      }
    }
    out = std::move(result);
    return Status::Ok();
  }

 private:
  // Keeps the rows of `chosen` where the condition is true.
  static Status Choose(const Expr& condition, Batch& batch, std::vector<uint8_t>& chosen) {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* truth, ReadOperand(condition, batch, scratch));
    for (size_t row = 0; row < chosen.size(); ++row) {
      chosen[row] = static_cast<uint8_t>(chosen[row] & static_cast<uint8_t>(truth->ints()[row] != 0));
    }
    return Status::Ok();
  }

  std::vector<SharedExpr> conditions_;
  std::vector<SharedExpr> values_;
};

}  // namespace

Result<SharedExpr> MakeCase(std::vector<SharedExpr> conditions, std::vector<SharedExpr> values) {
  ValueType type = ValueType::kNull;
  bool is_constant = true;
  for (const SharedExpr& value : values) {
    ASSIGN_OR_RETURN(type, CommonType(type, value->type()));
    is_constant = is_constant && value->is_constant();
  }
  for (SharedExpr& value : values) {
    const bool is_null = value->type() == ValueType::kNull && value->is_constant();
    value = is_null ? MakeNull(type) : ConvertTo(std::move(value), type);
  }
  for (SharedExpr& condition : conditions) {
    is_constant = is_constant && condition->is_constant();
    condition = MakeCondition(std::move(condition));
  }
  return Fold(std::make_shared<CaseExpr>(type, std::move(conditions), std::move(values)), is_constant);
}

Result<SharedExpr> MakeCoalesce(std::vector<SharedExpr> values) {
  std::vector<SharedExpr> conditions;
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    SharedExpr is_set = MakeIsNull(values[i], true);
    ASSIGN_OR_RETURN(is_set, Fold(std::move(is_set), values[i]->is_constant()));
    conditions.push_back(std::move(is_set));
  }
  return MakeCase(std::move(conditions), std::move(values));
}

SharedExpr MakeNullIf(SharedExpr condition, SharedExpr value) {
  const ValueType type = value->type();
  std::vector<SharedExpr> conditions;
  conditions.push_back(MakeCondition(std::move(condition)));
  std::vector<SharedExpr> values;
  values.push_back(MakeNull(type));
  values.push_back(std::move(value));
  return std::make_shared<CaseExpr>(type, std::move(conditions), std::move(values));
}

}  // namespace stoa::sql
