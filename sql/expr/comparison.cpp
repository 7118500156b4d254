#include "sql/expr/comparison.h"

#include <cmath>

#include "sql/bind/expr_binder.h"
#include "sql/expr/collation.h"
#include "sql/expr/convert.h"
#include "sql/expr/leaf.h"
#include "sql/expr/operand.h"

namespace stoa::sql {
namespace {

using storage::JsonKind;
using storage::JsonView;

constexpr double kEqualWithin = 1e-6;

bool Holds(Operator op, int order) {
  switch (op) {
    case Operator::kEqual:
      return order == 0;
    case Operator::kNotEqual:
      return order != 0;
    case Operator::kLess:
      return order < 0;
    case Operator::kLessEqual:
      return order <= 0;
    case Operator::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

// Two operands that are not constant; NULL where either is.
class CompareExpr : public Expr {
 public:
  Status Evaluate(Batch& batch, Vector& out) const final {
    Vector left_scratch;
    Vector right_scratch;
    ASSIGN_OR_RETURN(const Vector* left, ReadOperand(*left_, batch, left_scratch));
    ASSIGN_OR_RETURN(const Vector* right, ReadOperand(*right_, batch, right_scratch));
    out.Reset(type(), left->size());
    Run(*left, *right, out);
    CopyNulls(*left, out);
    CopyNulls(*right, out);
    return Status::Ok();
  }

 protected:
  CompareExpr(Operator op, SharedExpr left, SharedExpr right)
      : Expr(ValueType::kInt), op_(op), left_(std::move(left)), right_(std::move(right)) {}

  virtual void Run(const Vector& left, const Vector& right, Vector& out) const = 0;
  Operator op() const { return op_; }
  const Expr& left() const { return *left_; }
  const Expr& right() const { return *right_; }

 private:
  Operator op_;
  SharedExpr left_;
  SharedExpr right_;
};

template <typename Value, typename Compare>
void CompareAll(std::span<const Value> a, std::span<const Value> b, std::span<int64_t> out, Compare compare) {
  for (size_t row = 0; row < out.size(); ++row) {
    out[row] = static_cast<int64_t>(compare(a[row], b[row]));
  }
}

// Integers of the same signedness.
class IntegerCompareExpr : public CompareExpr {
 public:
  IntegerCompareExpr(Operator op, SharedExpr left, SharedExpr right)
      : CompareExpr(op, std::move(left), std::move(right)) {}

 protected:
  void Run(const Vector& left, const Vector& right, Vector& out) const override {
    // Flipping the highest bit orders unsigned values as signed ones.
    const int64_t flip = this->left().type() == ValueType::kUint64 ? std::numeric_limits<int64_t>::min() : 0;
    const std::span<const int64_t> a = left.ints();
    const std::span<const int64_t> b = right.ints();
    const std::span<int64_t> c = out.ints();
    switch (op()) {
      case Operator::kEqual:
        CompareAll(a, b, c, [](int64_t x, int64_t y) { return x == y; });
        break;
      case Operator::kNotEqual:
        CompareAll(a, b, c, [](int64_t x, int64_t y) { return x != y; });
        break;
      case Operator::kLess:
        CompareAll(a, b, c, [flip](int64_t x, int64_t y) { return (x ^ flip) < (y ^ flip); });
        break;
      case Operator::kLessEqual:
        CompareAll(a, b, c, [flip](int64_t x, int64_t y) { return (x ^ flip) <= (y ^ flip); });
        break;
      case Operator::kGreater:
        CompareAll(a, b, c, [flip](int64_t x, int64_t y) { return (x ^ flip) > (y ^ flip); });
        break;
      default:
        CompareAll(a, b, c, [flip](int64_t x, int64_t y) { return (x ^ flip) >= (y ^ flip); });
        break;
    }
  }
};

class RealCompareExpr : public CompareExpr {
 public:
  RealCompareExpr(Operator op, SharedExpr left, SharedExpr right, double tolerance)
      : CompareExpr(op, std::move(left), std::move(right)), tolerance_(tolerance) {}

 protected:
  void Run(const Vector& left, const Vector& right, Vector& out) const override {
    const std::span<const double> a = left.reals();
    const std::span<const double> b = right.reals();
    const std::span<int64_t> c = out.ints();
    const double within = tolerance_;
    switch (op()) {
      case Operator::kEqual:
        CompareAll(a, b, c, [within](double x, double y) { return x == y || std::fabs(x - y) <= within; });
        break;
      case Operator::kNotEqual:
        CompareAll(a, b, c, [within](double x, double y) { return x != y && !(std::fabs(x - y) <= within); });
        break;
      case Operator::kLess:
        CompareAll(a, b, c, [](double x, double y) { return x < y; });
        break;
      case Operator::kLessEqual:
        CompareAll(a, b, c, [](double x, double y) { return x <= y; });
        break;
      case Operator::kGreater:
        CompareAll(a, b, c, [](double x, double y) { return x > y; });
        break;
      default:
        CompareAll(a, b, c, [](double x, double y) { return x >= y; });
        break;
    }
  }

 private:
  double tolerance_;
};

class TextCompareExpr : public CompareExpr {
 public:
  TextCompareExpr(Operator op, SharedExpr left, SharedExpr right, Collation collation)
      : CompareExpr(op, std::move(left), std::move(right)), collation_(collation) {}

 protected:
  void Run(const Vector& left, const Vector& right, Vector& out) const override {
    CompareAll(left.texts(), right.texts(), out.ints(), [this](std::string_view a, std::string_view b) {
      return Holds(op(), CompareStrings(collation_, a, b));
    });
  }

 private:
  Collation collation_;
};

// A value of any scalar type.
struct Scalar {
  enum class Kind : uint8_t { kNull, kInteger, kReal, kText, kOther };
  Kind kind = Kind::kNull;
  bool is_json = false;
  __int128 integer = 0;
  double real = 0;  // of integers too
  std::string_view text;
};

Scalar IntegerScalar(__int128 value) {
  Scalar scalar;
  scalar.kind = Scalar::Kind::kInteger;
  scalar.integer = value;
  scalar.real = static_cast<double>(value);
  return scalar;
}

Scalar RealScalar(double value) {
  Scalar scalar;
  scalar.kind = Scalar::Kind::kReal;
  scalar.real = value;
  return scalar;
}

Scalar TextScalar(Scalar::Kind kind, std::string_view text) {
  Scalar scalar;
  scalar.kind = kind;
  scalar.text = text;
  return scalar;
}

Scalar JsonScalar(JsonView value) {
  Scalar scalar;
  if (value.is_null()) {
    return scalar;
  }
  switch (value.kind()) {
    case JsonKind::kFalse:
    case JsonKind::kTrue:
    case JsonKind::kInt:
      scalar = IntegerScalar(value.AsInt());
      break;
    case JsonKind::kDouble:
      scalar = RealScalar(value.AsDouble());
      break;
    case JsonKind::kString:
      scalar = TextScalar(Scalar::Kind::kText, value.AsString());
      break;
    default:
      scalar = TextScalar(Scalar::Kind::kOther, value.bytes());
      break;
  }
  scalar.is_json = true;
  return scalar;
}

Scalar ScalarAt(ValueType type, const Vector& in, size_t row) {
  if (in.IsNull(row)) {
    return {};
  }
  switch (ClassOf(type)) {
    case ValueClass::kInteger: {
      const int64_t value = in.ints()[row];
      return IntegerScalar(type == ValueType::kUint64 ? __int128{static_cast<uint64_t>(value)}
                                                      : __int128{value});
    }
    case ValueClass::kReal:
      return RealScalar(in.reals()[row]);
    case ValueClass::kText:
      return TextScalar(Scalar::Kind::kText, in.texts()[row]);
    case ValueClass::kJson:
      return JsonScalar(JsonView(in.texts()[row]));
    default:
      return {};
  }
}

bool IsNumber(const Scalar& scalar) {
  return scalar.kind == Scalar::Kind::kInteger || scalar.kind == Scalar::Kind::kReal;
}

template <typename Number>
int Order(Number a, Number b) {
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

std::string NumberText(const Scalar& number) {
  std::string text;
  if (number.kind == Scalar::Kind::kInteger) {
    text = std::to_string(static_cast<int64_t>(number.integer));
  } else {
    AppendDoubleText(number.real, text);
  }
  return text;
}

// Operands of different or mixed kinds, value by value.
class MixedCompareExpr : public CompareExpr {
 public:
  MixedCompareExpr(Operator op, SharedExpr left, SharedExpr right, const CompareOptions& options)
      : CompareExpr(op, std::move(left), std::move(right)), options_(options) {}

 protected:
  void Run(const Vector& left, const Vector& right, Vector& out) const override {
    for (size_t row = 0; row < out.size(); ++row) {
      const Scalar a = ScalarAt(this->left().type(), left, row);
      const Scalar b = ScalarAt(this->right().type(), right, row);
      if (a.kind == Scalar::Kind::kNull || b.kind == Scalar::Kind::kNull) {
        SetNullValue(out, row);
        continue;
      }
      const std::optional<int> order = Compare(a, b);
      out.ints()[row] = static_cast<int64_t>(order ? Holds(op(), *order) : op() == Operator::kNotEqual);
    }
  }

 private:
  // nullopt: kinds that never are equal and have no order.
  std::optional<int> Compare(const Scalar& a, const Scalar& b) const {
    if (IsNumber(a) && IsNumber(b)) {
      return CompareNumbers(a, b);
    }
    if (a.kind == Scalar::Kind::kText && b.kind == Scalar::Kind::kText) {
      return CompareStrings(options_.collation, a.text, b.text);
    }
    if (a.kind == Scalar::Kind::kOther && b.kind == Scalar::Kind::kOther) {
      return a.text == b.text ? std::optional<int>(0) : std::nullopt;
    }
    const bool comparable = a.kind != Scalar::Kind::kOther && b.kind != Scalar::Kind::kOther;
    if (a.is_json || b.is_json || !comparable) {
      return std::nullopt;
    }
    if (IsNumber(a)) {
      return CompareNumberWithText(a, b.text);
    }
    return -CompareNumberWithText(b, a.text);
  }

  int CompareNumbers(const Scalar& a, const Scalar& b) const {
    if (a.kind == Scalar::Kind::kInteger && b.kind == Scalar::Kind::kInteger) {
      return Order(a.integer, b.integer);
    }
    const bool by_equality = op() == Operator::kEqual || op() == Operator::kNotEqual;
    const bool close = by_equality && !options_.exact_floats && std::fabs(a.real - b.real) <= kEqualWithin;
    return close ? 0 : Order(a.real, b.real);
  }

  int CompareNumberWithText(const Scalar& number, std::string_view text) const {
    const std::optional<double> parsed = ParseNumber(text);
    return parsed ? CompareNumbers(number, RealScalar(*parsed))
                  : CompareStrings(options_.collation, NumberText(number), text);
  }

  CompareOptions options_;
};

SharedExpr MakeCompareNode(Operator op, SharedExpr left, SharedExpr right, const CompareOptions& options) {
  const ValueClass a = ClassOf(left->type());
  const ValueClass b = ClassOf(right->type());
  const bool same_sign = (left->type() == ValueType::kUint64) == (right->type() == ValueType::kUint64);
  if (a == ValueClass::kInteger && b == ValueClass::kInteger && same_sign) {
    return std::make_shared<IntegerCompareExpr>(op, std::move(left), std::move(right));
  }
  if (IsNumber(a) && IsNumber(b) && (a == ValueClass::kReal || b == ValueClass::kReal)) {
    return std::make_shared<RealCompareExpr>(op, ConvertTo(std::move(left), ValueType::kDouble),
                                             ConvertTo(std::move(right), ValueType::kDouble),
                                             options.exact_floats ? 0 : kEqualWithin);
  }
  if (a == ValueClass::kText && b == ValueClass::kText) {
    return std::make_shared<TextCompareExpr>(op, std::move(left), std::move(right), options.collation);
  }
  return std::make_shared<MixedCompareExpr>(op, std::move(left), std::move(right), options);
}

}  // namespace

Operator Mirror(Operator op) {
  switch (op) {
    case Operator::kLess:
      return Operator::kGreater;
    case Operator::kLessEqual:
      return Operator::kGreaterEqual;
    case Operator::kGreater:
      return Operator::kLess;
    case Operator::kGreaterEqual:
      return Operator::kLessEqual;
    default:
      return op;
  }
}

Result<SharedExpr> MakeComparison(Operator op, SharedExpr left, SharedExpr right,
                                  const CompareOptions& options) {
  if (left->is_constant() && !right->is_constant()) {
    std::swap(left, right);
    op = Mirror(op);
  }
  if (right->is_constant()) {
    ASSIGN_OR_RETURN(Value value, EvaluateConstant(*right));
    ConstantTest test = ConstantTest::Compare(op, std::move(value));
    if (IsNumber(ClassOf(left->type()))) {
      ConvertNumericTexts(test);
    }
    if (Fits(left->type(), test)) {
      return MakeTest(std::move(left), std::move(test), Quantifier::kPlain, options);
    }
  }
  for (const SharedExpr& side : {left, right}) {
    const ValueClass kind = ClassOf(side->type());
    if (kind == ValueClass::kNull) {
      return MakeNull(ValueType::kInt);
    }
    if (kind == ValueClass::kSet) {
      return InvalidError("a multi-value column is compared with numbers only");
    }
    if (kind == ValueClass::kVector) {
      return InvalidError("vectors can not be compared");
    }
  }
  const bool is_constant = left->is_constant() && right->is_constant();
  return Fold(MakeCompareNode(op, std::move(left), std::move(right), options), is_constant);
}

}  // namespace stoa::sql
