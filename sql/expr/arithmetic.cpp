#include "sql/expr/arithmetic.h"

#include <cmath>
#include <limits>

#include "sql/bind/expr_binder.h"
#include "sql/expr/convert.h"
#include "sql/expr/operand.h"

namespace stoa::sql {
namespace {

struct Add {
  static uint64_t Of(uint64_t a, uint64_t b) { return a + b; }
  static double Of(double a, double b) { return a + b; }
};
struct Subtract {
  static uint64_t Of(uint64_t a, uint64_t b) { return a - b; }
  static double Of(double a, double b) { return a - b; }
};
struct Multiply {
  static uint64_t Of(uint64_t a, uint64_t b) { return a * b; }
  static double Of(double a, double b) { return a * b; }
};
struct BitAnd {
  static uint64_t Of(uint64_t a, uint64_t b) { return a & b; }
};
struct BitOr {
  static uint64_t Of(uint64_t a, uint64_t b) { return a | b; }
};
struct BitXor {
  static uint64_t Of(uint64_t a, uint64_t b) { return a ^ b; }
};
struct ShiftLeft {
  static uint64_t Of(uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; }
};
struct ShiftRight {
  static uint64_t Of(uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; }
};

// Two operands of one lane; NULL where either is.
class BinaryExpr : public Expr {
 public:
  BinaryExpr(ValueType type, SharedExpr left, SharedExpr right)
      : Expr(type), left_(std::move(left)), right_(std::move(right)) {}

  Status Evaluate(Batch& batch, Vector& out) const final {
    Vector left_scratch;
    Vector right_scratch;
    ASSIGN_OR_RETURN(const Vector* left, ReadOperand(*left_, batch, left_scratch));
    ASSIGN_OR_RETURN(const Vector* right, ReadOperand(*right_, batch, right_scratch));
    out.Reset(type(), left->size());
    Compute(*left, *right, out);
    CopyNulls(*left, out);
    CopyNulls(*right, out);
    return Status::Ok();
  }

 protected:
  virtual void Compute(const Vector& left, const Vector& right, Vector& out) const = 0;

 private:
  SharedExpr left_;
  SharedExpr right_;
};

template <typename Op>
class IntegerExpr : public BinaryExpr {
 public:
  using BinaryExpr::BinaryExpr;

 protected:
  void Compute(const Vector& left, const Vector& right, Vector& out) const override {
    const uint64_t mask = type() == ValueType::kInt ? 0xffffffffU : ~uint64_t{0};
    const std::span<const int64_t> a = left.ints();
    const std::span<const int64_t> b = right.ints();
    const std::span<int64_t> c = out.ints();
    for (size_t row = 0; row < c.size(); ++row) {
      c[row] =
          static_cast<int64_t>(Op::Of(static_cast<uint64_t>(a[row]), static_cast<uint64_t>(b[row])) & mask);
    }
  }
};

template <typename Op>
class RealExpr : public BinaryExpr {
 public:
  using BinaryExpr::BinaryExpr;

 protected:
  void Compute(const Vector& left, const Vector& right, Vector& out) const override {
    const std::span<const double> a = left.reals();
    const std::span<const double> b = right.reals();
    const std::span<double> c = out.reals();
    for (size_t row = 0; row < c.size(); ++row) {
      c[row] = Op::Of(a[row], b[row]);
    }
  }
};

// DIV and % of integers.
class IntegerDivisionExpr : public BinaryExpr {
 public:
  IntegerDivisionExpr(ValueType type, SharedExpr left, SharedExpr right, bool remainder)
      : BinaryExpr(type, std::move(left), std::move(right)), remainder_(remainder) {}

 protected:
  void Compute(const Vector& left, const Vector& right, Vector& out) const override {
    const bool is_unsigned = type() == ValueType::kUint64;
    for (size_t row = 0; row < out.size(); ++row) {
      const int64_t a = left.ints()[row];
      const int64_t b = right.ints()[row];
      if (b == 0) {
        SetNullValue(out, row);
      } else {
        out.ints()[row] =
            is_unsigned ? Unsigned(static_cast<uint64_t>(a), static_cast<uint64_t>(b)) : Signed(a, b);
      }
    }
  }

 private:
  int64_t Unsigned(uint64_t a, uint64_t b) const { return static_cast<int64_t>(remainder_ ? a % b : a / b); }
  int64_t Signed(int64_t a, int64_t b) const {
    if (b == -1) {  // INT64_MIN / -1 would trap
      return remainder_ ? 0 : static_cast<int64_t>(-static_cast<uint64_t>(a));
    }
    return remainder_ ? a % b : a / b;
  }

  bool remainder_;
};

// / and % of reals.
class RealDivisionExpr : public BinaryExpr {
 public:
  RealDivisionExpr(SharedExpr left, SharedExpr right, bool remainder)
      : BinaryExpr(ValueType::kDouble, std::move(left), std::move(right)), remainder_(remainder) {}

 protected:
  void Compute(const Vector& left, const Vector& right, Vector& out) const override {
    for (size_t row = 0; row < out.size(); ++row) {
      const double a = left.reals()[row];
      const double b = right.reals()[row];
      if (b == 0) {
        SetNullValue(out, row);
      } else {
        out.reals()[row] = remainder_ ? std::fmod(a, b) : a / b;
      }
    }
  }

 private:
  bool remainder_;
};

class NegateExpr : public Expr {
 public:
  NegateExpr(ValueType type, SharedExpr operand) : Expr(type), operand_(std::move(operand)) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    for (size_t row = 0; row < in->ints().size(); ++row) {
      out.ints()[row] = static_cast<int64_t>(-static_cast<uint64_t>(in->ints()[row]));
    }
    for (size_t row = 0; row < in->reals().size(); ++row) {
      out.reals()[row] = -in->reals()[row];
    }
    CopyNulls(*in, out);
    return Status::Ok();
  }

 private:
  SharedExpr operand_;
};

Status CheckOperand(const Expr& operand) {
  const ValueClass kind = ClassOf(operand.type());
  if (kind == ValueClass::kSet) {
    return InvalidError("numeric operation on a multi-value column");
  }
  if (kind == ValueClass::kVector) {
    return InvalidError("numeric operation on a vector");
  }
  return Status::Ok();
}

bool IsBitOperation(Operator op) {
  return op == Operator::kBitAnd || op == Operator::kBitOr || op == Operator::kBitXor ||
         op == Operator::kShiftLeft || op == Operator::kShiftRight;
}

bool IsIntegerLike(const Expr& expr) {
  const ValueClass kind = ClassOf(expr.type());
  return kind == ValueClass::kInteger || kind == ValueClass::kNull;
}

ValueType IntegerResult(ValueType a, ValueType b) {
  if (a == b && a != ValueType::kNull) {
    return a;
  }
  const bool small =
      (a == ValueType::kInt || a == ValueType::kNull) && (b == ValueType::kInt || b == ValueType::kNull);
  return small ? ValueType::kInt : ValueType::kBigint;
}

SharedExpr MakeIntegerOperation(Operator op, SharedExpr a, SharedExpr b) {
  const ValueType type = IntegerResult(a->type(), b->type());
  switch (op) {
    case Operator::kAdd:
      return std::make_shared<IntegerExpr<Add>>(type, std::move(a), std::move(b));
    case Operator::kSubtract:
      return std::make_shared<IntegerExpr<Subtract>>(type, std::move(a), std::move(b));
    case Operator::kMultiply:
      return std::make_shared<IntegerExpr<Multiply>>(type, std::move(a), std::move(b));
    case Operator::kBitAnd:
      return std::make_shared<IntegerExpr<BitAnd>>(type, std::move(a), std::move(b));
    case Operator::kBitOr:
      return std::make_shared<IntegerExpr<BitOr>>(type, std::move(a), std::move(b));
    case Operator::kBitXor:
      return std::make_shared<IntegerExpr<BitXor>>(type, std::move(a), std::move(b));
    case Operator::kShiftLeft:
      return std::make_shared<IntegerExpr<ShiftLeft>>(ValueType::kBigint, std::move(a), std::move(b));
    case Operator::kShiftRight:
      return std::make_shared<IntegerExpr<ShiftRight>>(ValueType::kBigint, std::move(a), std::move(b));
    case Operator::kModulo:
      return std::make_shared<IntegerDivisionExpr>(type, std::move(a), std::move(b), true);
    default:
      return std::make_shared<IntegerDivisionExpr>(type, std::move(a), std::move(b), false);
  }
}

SharedExpr MakeRealOperation(Operator op, SharedExpr a, SharedExpr b) {
  a = ConvertTo(std::move(a), ValueType::kDouble);
  b = ConvertTo(std::move(b), ValueType::kDouble);
  switch (op) {
    case Operator::kAdd:
      return std::make_shared<RealExpr<Add>>(ValueType::kDouble, std::move(a), std::move(b));
    case Operator::kSubtract:
      return std::make_shared<RealExpr<Subtract>>(ValueType::kDouble, std::move(a), std::move(b));
    case Operator::kMultiply:
      return std::make_shared<RealExpr<Multiply>>(ValueType::kDouble, std::move(a), std::move(b));
    case Operator::kIntegerDivide:
      return ConvertTo(std::make_shared<RealDivisionExpr>(std::move(a), std::move(b), false),
                       ValueType::kBigint);
    default:
      return std::make_shared<RealDivisionExpr>(std::move(a), std::move(b), op == Operator::kModulo);
  }
}

}  // namespace

Result<SharedExpr> MakeArithmetic(Operator op, SharedExpr left, SharedExpr right) {
  RETURN_IF_ERROR(CheckOperand(*left));
  RETURN_IF_ERROR(CheckOperand(*right));
  if (IsBitOperation(op)) {
    left = IsIntegerLike(*left) ? left : ConvertTo(left, ValueType::kBigint);
    right = IsIntegerLike(*right) ? right : ConvertTo(right, ValueType::kBigint);
    return MakeIntegerOperation(op, std::move(left), std::move(right));
  }
  if (op != Operator::kDivide && IsIntegerLike(*left) && IsIntegerLike(*right)) {
    return MakeIntegerOperation(op, std::move(left), std::move(right));
  }
  return MakeRealOperation(op, std::move(left), std::move(right));
}

Result<SharedExpr> MakeNegate(SharedExpr operand) {
  RETURN_IF_ERROR(CheckOperand(*operand));
  if (IsIntegerLike(*operand)) {
    return SharedExpr(std::make_shared<NegateExpr>(ValueType::kBigint, std::move(operand)));
  }
  if (operand->type() != ValueType::kFloat) {
    operand = ConvertTo(std::move(operand), ValueType::kDouble);
  }
  const ValueType type = operand->type();
  return SharedExpr(std::make_shared<NegateExpr>(type, std::move(operand)));
}

Result<SharedExpr> MakeBitNot(SharedExpr operand) {
  RETURN_IF_ERROR(CheckOperand(*operand));
  SharedExpr ones = MakeConstant(Value::Uint64(~uint64_t{0}));
  SharedExpr bits = ConvertTo(std::move(operand), ValueType::kUint64);
  return MakeIntegerOperation(Operator::kBitXor, std::move(bits), std::move(ones));
}

}  // namespace stoa::sql
