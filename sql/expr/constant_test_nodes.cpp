#include <algorithm>
#include <charconv>
#include <cstring>

#include "sql/expr/comparison.h"
#include "sql/expr/leaf.h"
#include "sql/expr/operand.h"

namespace stoa::sql {
namespace {

using storage::JsonKind;
using storage::JsonView;

constexpr double kEqualWithin = 1e-6;

// One operand against constants.
class TestExpr : public Expr {
 public:
  Status Evaluate(Batch& batch, Vector& out) const final {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    Run(*in, out);
    CopyNulls(*in, out);
    const int64_t unmatched = negated_ ? 1 : 0;
    for (size_t row = 0; null_unless_matched_ && row < out.size(); ++row) {
      if (out.ints()[row] == unmatched) {
        SetNullValue(out, row);
      }
    }
    return Status::Ok();
  }

  std::optional<SlotCondition> slot_condition() const final {
    // With a NULL among its constants NOT IN is never true.
    if (operand_->slot() < 0 || (negated_ && null_unless_matched_)) {
      return std::nullopt;
    }
    std::optional<storage::ColumnPredicate> predicate = Predicate();
    if (!predicate) {
      return std::nullopt;
    }
    predicate->negated = negated_;
    return SlotCondition{static_cast<size_t>(operand_->slot()), std::move(*predicate)};
  }

 protected:
  TestExpr(SharedExpr operand, const ConstantTest& test)
      : Expr(ValueType::kInt),
        operand_(std::move(operand)),
        negated_(test.negated),
        null_unless_matched_(test.has_null) {}

  virtual void Run(const Vector& in, Vector& out) const = 0;
  virtual std::optional<storage::ColumnPredicate> Predicate() const { return std::nullopt; }
  bool negated() const { return negated_; }
  const Expr& operand() const { return *operand_; }

 private:
  SharedExpr operand_;
  bool negated_;
  bool null_unless_matched_;
};

class IntegerTestExpr : public TestExpr {
 public:
  IntegerTestExpr(SharedExpr operand, const ConstantTest& test)
      : TestExpr(operand, test), test_(test, operand->type() == ValueType::kUint64) {}

 protected:
  void Run(const Vector& in, Vector& out) const override { test_.Run(in.ints(), out.ints(), negated()); }
  std::optional<storage::ColumnPredicate> Predicate() const override { return test_.Predicate(); }

 private:
  IntegerTest test_;
};

class RealTestExpr : public TestExpr {
 public:
  RealTestExpr(SharedExpr operand, const ConstantTest& test, double tolerance)
      : TestExpr(operand, test), test_(test, operand->type() == ValueType::kFloat, tolerance) {}

 protected:
  void Run(const Vector& in, Vector& out) const override { test_.Run(in.reals(), out.ints(), negated()); }
  std::optional<storage::ColumnPredicate> Predicate() const override {
    return operand().type() == ValueType::kFloat ? test_.Predicate() : std::nullopt;
  }

 private:
  RealTest test_;
};

class TextTestExpr : public TestExpr {
 public:
  TextTestExpr(SharedExpr operand, const ConstantTest& test, Collation collation)
      : TestExpr(std::move(operand), test), test_(test, collation) {}

 protected:
  void Run(const Vector& in, Vector& out) const override {
    const bool wanted = !negated();
    std::ranges::transform(in.texts(), out.ints().begin(), [&](std::string_view value) {
      return static_cast<int64_t>(test_.Matches(value) == wanted);
    });
  }
  std::optional<storage::ColumnPredicate> Predicate() const override { return test_.Predicate(); }

 private:
  TextTest test_;
};

template <typename Item>
class SetTestExpr : public TestExpr {
 public:
  SetTestExpr(SharedExpr operand, const ConstantTest& test, bool all)
      : TestExpr(std::move(operand), test), test_(test, false), all_(all) {}

 protected:
  void Run(const Vector& in, Vector& out) const override {
    std::ranges::transform(in.texts(), out.ints().begin(), [this](std::string_view set) {
      return static_cast<int64_t>(all_ ? All(set) : Any(set));
    });
  }

 private:
  bool Passes(std::string_view set, size_t index) const {
    Item item;
    std::memcpy(&item, set.data() + index * sizeof(Item), sizeof(Item));
    return test_.Matches(static_cast<int64_t>(item)) != negated();
  }
  bool Any(std::string_view set) const {
    for (size_t i = 0; i < set.size() / sizeof(Item); ++i) {
      if (Passes(set, i)) {
        return true;
      }
    }
    return false;
  }
  bool All(std::string_view set) const {
    for (size_t i = 0; i < set.size() / sizeof(Item); ++i) {
      if (!Passes(set, i)) {
        return false;
      }
    }
    return set.size() >= sizeof(Item);  // an empty set never matches
  }

  IntegerTest test_;
  bool all_;
};

class JsonTestExpr : public TestExpr {
 public:
  JsonTestExpr(SharedExpr operand, const ConstantTest& test, Quantifier quantifier, Collation collation)
      : TestExpr(std::move(operand), test), test_(test, collation), quantifier_(quantifier) {}

 protected:
  void Run(const Vector& in, Vector& out) const override {
    for (size_t row = 0; row < in.size(); ++row) {
      const JsonView value(in.texts()[row]);
      out.ints()[row] = static_cast<int64_t>(Passes(value));
      if (value.is_null()) {
        SetNullValue(out, row);
      }
    }
  }

 private:
  bool Passes(JsonView value) const {
    if (value.kind() != JsonKind::kArray) {
      return test_.Matches(value) != negated();
    }
    // Plain and negated: no item may match. That is ALL of the negated test, but true of an empty array.
    const bool all = quantifier_ == Quantifier::kAll || (quantifier_ == Quantifier::kPlain && negated());
    for (size_t i = 0; i < value.size(); ++i) {
      if ((test_.Matches(value.At(i)) != negated()) != all) {
        return !all;
      }
    }
    return all && (value.size() > 0 || quantifier_ == Quantifier::kPlain);
  }

  JsonTest test_;
  Quantifier quantifier_;
};

// Integers among texts are compared by their digits.
void ConvertIntegersToTexts(ConstantTest& test) {
  for (Value* value : test.values()) {
    if (value->type == ValueType::kUint64) {
      *value = Value::String(std::to_string(static_cast<uint64_t>(value->integer)));
    } else if (ClassOf(value->type) == ValueClass::kInteger) {
      *value = Value::String(std::to_string(value->integer));
    }
  }
}

}  // namespace

void ConvertNumericTexts(ConstantTest& test) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  for (Value* value : test.values()) {
    if (ClassOf(value->type) != ValueClass::kText) {
      continue;
    }
    const std::optional<double> number = ParseNumber(value->bytes);
    if (!number) {
      continue;
    }
    uint64_t large = 0;  // ids go up to 2^64-1
    const char* end = value->bytes.data() + value->bytes.size();
    const auto read = std::from_chars(value->bytes.data(), end, large);
    if (read.ec == std::errc() && read.ptr == end) {
      *value = Value::Uint64(large);
      continue;
    }
    const bool is_integer = value->bytes.find_first_of(".eE") == std::string::npos;
    const int64_t integer = LeadingInteger(value->bytes);
    const bool fits = std::abs(*number) < kExact || std::abs(static_cast<double>(integer) - *number) < 1;
    *value = is_integer && fits ? Value::Bigint(integer) : Value::Double(*number);
  }
}

bool Fits(ValueType operand, ConstantTest test) {
  const ValueClass kind = ClassOf(operand);
  if (kind == ValueClass::kJson) {
    return true;
  }
  const ValueClass wanted = kind == ValueClass::kText ? ValueClass::kText : ValueClass::kInteger;
  return std::ranges::all_of(test.values(), [wanted](const Value* value) {
    const ValueClass given = ClassOf(value->type);
    return given == ValueClass::kNull || given == wanted ||
           (wanted == ValueClass::kInteger && given == ValueClass::kReal);
  });
}

Result<SharedExpr> MakeTest(SharedExpr operand, ConstantTest test, Quantifier quantifier,
                            const CompareOptions& options) {
  const auto is_null = [](const Value& value) { return value.is_null(); };
  const ValueClass kind = ClassOf(operand->type());
  if (kind == ValueClass::kNull ||
      (test.has_null && (test.is_range || std::ranges::all_of(test.list, is_null)))) {
    return MakeNull(ValueType::kInt);
  }
  if (IsNumber(kind)) {
    ConvertNumericTexts(test);
  } else if (kind == ValueClass::kText) {
    ConvertIntegersToTexts(test);
  }
  const bool is_float = operand->type() == ValueType::kFloat;
  const bool is_constant = operand->is_constant();
  SharedExpr made;
  switch (kind) {
    case ValueClass::kInteger:
      made = std::make_shared<IntegerTestExpr>(std::move(operand), test);
      break;
    case ValueClass::kReal:
      made = std::make_shared<RealTestExpr>(std::move(operand), test,
                                            is_float || options.exact_floats ? 0 : kEqualWithin);
      break;
    case ValueClass::kText:
      made = std::make_shared<TextTestExpr>(std::move(operand), test, options.collation);
      break;
    case ValueClass::kJson:
      made = std::make_shared<JsonTestExpr>(std::move(operand), test, quantifier, options.collation);
      break;
    case ValueClass::kSet: {
      const bool all = quantifier == Quantifier::kAll;
      if (operand->type() == ValueType::kMulti) {
        made = std::make_shared<SetTestExpr<uint32_t>>(std::move(operand), test, all);
      } else {
        made = std::make_shared<SetTestExpr<int64_t>>(std::move(operand), test, all);
      }
      break;
    }
    default:
      return InvalidError("vectors can not be compared");
  }
  return Fold(std::move(made), is_constant);
}

}  // namespace stoa::sql
