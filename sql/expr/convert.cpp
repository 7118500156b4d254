#include "sql/expr/convert.h"

#include <algorithm>
#include <cmath>

#include "sql/bind/expr_binder.h"
#include "sql/expr/leaf.h"
#include "sql/expr/operand.h"
#include "storage/json/json_value.h"

namespace stoa::sql {
namespace {

using storage::JsonView;

constexpr int64_t kLow32 = 0xffffffff;

int64_t RealToInteger(double value, ValueType target) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (target == ValueType::kUint64 && value >= kTwo63) {
    return value >= 2 * kTwo63 ? -1 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  return TruncateToInteger(value);
}

void ToIntegers(const Vector& in, ValueType from, ValueType target, std::span<int64_t> out) {
  switch (ClassOf(from)) {
    case ValueClass::kNull:
      std::ranges::fill(out, 0);
      break;
    case ValueClass::kInteger:
      std::ranges::copy(in.ints(), out.begin());
      break;
    case ValueClass::kReal:
      std::ranges::transform(in.reals(), out.begin(),
                             [target](double v) { return RealToInteger(v, target); });
      break;
    case ValueClass::kJson:
      std::ranges::transform(in.texts(), out.begin(), [](std::string_view v) { return JsonView(v).AsInt(); });
      break;
    default:
      std::ranges::transform(in.texts(), out.begin(), LeadingInteger);
      break;
  }
  if (target == ValueType::kInt) {
    std::ranges::transform(out, out.begin(), [](int64_t v) { return v & kLow32; });
  }
}

void ToReals(const Vector& in, ValueType from, ValueType target, std::span<double> out) {
  switch (ClassOf(from)) {
    case ValueClass::kNull:
      std::ranges::fill(out, 0.0);
      break;
    case ValueClass::kInteger:
      if (from == ValueType::kUint64) {
        std::ranges::transform(in.ints(), out.begin(),
                               [](int64_t v) { return static_cast<double>(static_cast<uint64_t>(v)); });
      } else {
        std::ranges::transform(in.ints(), out.begin(), [](int64_t v) { return static_cast<double>(v); });
      }
      break;
    case ValueClass::kReal:
      std::ranges::copy(in.reals(), out.begin());
      break;
    case ValueClass::kJson:
      std::ranges::transform(in.texts(), out.begin(),
                             [](std::string_view v) { return JsonView(v).AsDouble(); });
      break;
    default:
      std::ranges::transform(in.texts(), out.begin(), LeadingDouble);
      break;
  }
  if (target == ValueType::kFloat) {
    std::ranges::transform(out, out.begin(),
                           [](double v) { return static_cast<double>(static_cast<float>(v)); });
  }
}

void AppendJson(std::string_view stored, std::string& out) {
  const JsonView view(stored);
  if (view.kind() == storage::JsonKind::kString) {
    out.append(view.AsString());
  } else if (view.exists()) {
    storage::AppendJsonText(view, out);
  }
}

void AppendText(const Vector& in, ValueType from, size_t row, std::string& out) {
  switch (from) {
    case ValueType::kNull:
      break;
    case ValueType::kInt:
    case ValueType::kBigint:
      fmt::format_to(std::back_inserter(out), "{}", in.ints()[row]);
      break;
    case ValueType::kUint64:
      fmt::format_to(std::back_inserter(out), "{}", static_cast<uint64_t>(in.ints()[row]));
      break;
    case ValueType::kFloat:
      AppendFloatText(static_cast<float>(in.reals()[row]), out);
      break;
    case ValueType::kDouble:
      AppendDoubleText(in.reals()[row], out);
      break;
    case ValueType::kString:
    case ValueType::kText:
      out.append(in.texts()[row]);
      break;
    case ValueType::kJson:
      AppendJson(in.texts()[row], out);
      break;
    case ValueType::kMulti:
      AppendMultiText(in.texts()[row], out);
      break;
    case ValueType::kMulti64:
      AppendMulti64Text(in.texts()[row], out);
      break;
    case ValueType::kFloatVector:
      AppendVectorText(in.texts()[row], out);
      break;
    case ValueType::kFloatVectorArray:
      AppendVectorArrayText(in.texts()[row], out);
      break;
  }
}

class ConvertExpr : public Expr {
 public:
  ConvertExpr(SharedExpr operand, ValueType target, bool absent_is_null)
      : Expr(target), operand_(std::move(operand)), absent_is_null_(absent_is_null) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    switch (LaneOf(type())) {
      case VectorLane::kInt:
        ToIntegers(*in, operand_->type(), type(), out.ints());
        break;
      case VectorLane::kReal:
        ToReals(*in, operand_->type(), type(), out.reals());
        break;
      case VectorLane::kBytes:
        ToTexts(*in, out);
        break;
    }
    if (ClassOf(operand_->type()) != ValueClass::kJson) {
      CopyNulls(*in, out);
    } else if (absent_is_null_) {
      for (size_t row = 0; row < in->size(); ++row) {
        if (in->IsNull(row) || JsonView(in->texts()[row]).is_null()) {
          SetNullValue(out, row);
        }
      }
    }
    return Status::Ok();
  }

 private:
  void ToTexts(const Vector& in, Vector& out) const {
    const bool is_text = ClassOf(operand_->type()) == ValueClass::kText;
    for (size_t row = 0; row < in.size(); ++row) {
      if (is_text) {
        out.texts()[row] = KeepText(*operand_, in.texts()[row], out);
        continue;
      }
      std::string text;
      AppendText(in, operand_->type(), row, text);
      out.texts()[row] = out.Own(std::move(text));
    }
  }

  SharedExpr operand_;
  bool absent_is_null_;
};

class SignedExpr : public Expr {
 public:
  explicit SignedExpr(SharedExpr operand) : Expr(ValueType::kBigint), operand_(std::move(operand)) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    std::ranges::transform(in->ints(), out.ints().begin(), [](int64_t v) {
      return static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(v)));
    });
    CopyNulls(*in, out);
    return Status::Ok();
  }

 private:
  SharedExpr operand_;
};

class TruthExpr : public Expr {
 public:
  explicit TruthExpr(SharedExpr operand) : Expr(ValueType::kInt), operand_(std::move(operand)) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    switch (LaneOf(operand_->type())) {
      case VectorLane::kInt:
        std::ranges::transform(in->ints(), out.ints().begin(), [](int64_t v) { return v != 0 ? 1 : 0; });
        break;
      case VectorLane::kReal:
        std::ranges::transform(in->reals(), out.ints().begin(), [](double v) { return v != 0 ? 1 : 0; });
        break;
      case VectorLane::kBytes:
        TextTruth(*in, out.ints());
        break;
    }
    CopyNulls(*in, out);
    return Status::Ok();
  }

 private:
  void TextTruth(const Vector& in, std::span<int64_t> out) const {
    switch (ClassOf(operand_->type())) {
      case ValueClass::kText:
        std::ranges::transform(in.texts(), out.begin(),
                               [](std::string_view v) { return LeadingDouble(v) != 0 ? 1 : 0; });
        break;
      case ValueClass::kJson:
        std::ranges::transform(in.texts(), out.begin(),
                               [](std::string_view v) { return JsonView(v).AsDouble() != 0 ? 1 : 0; });
        break;
      default:
        std::ranges::transform(in.texts(), out.begin(), [](std::string_view v) { return v.empty() ? 0 : 1; });
        break;
    }
  }

  SharedExpr operand_;
};

class CutTextExpr : public Expr {
 public:
  CutTextExpr(SharedExpr operand, uint64_t characters)
      : Expr(ValueType::kString), operand_(std::move(operand)), characters_(characters) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    for (size_t row = 0; row < in->size(); ++row) {
      out.texts()[row] = KeepText(*operand_, Cut(in->texts()[row]), out);
    }
    CopyNulls(*in, out);
    return Status::Ok();
  }

 private:
  std::string_view Cut(std::string_view text) const {
    uint64_t seen = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      const bool starts = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
      if (starts && seen++ == characters_) {
        return text.substr(0, at);
      }
    }
    return text;
  }

  SharedExpr operand_;
  uint64_t characters_;
};

class RoundExpr : public Expr {
 public:
  RoundExpr(SharedExpr operand, uint64_t digits)
      : Expr(ValueType::kDouble),
        operand_(std::move(operand)),
        scale_(std::pow(10.0, std::min<double>(static_cast<double>(digits), 30))) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*operand_, batch, scratch));
    out.Reset(type(), in->size());
    std::ranges::transform(in->reals(), out.reals().begin(), [this](double v) {
      const double scaled = std::round(v * scale_);
      return std::isfinite(scaled) ? scaled / scale_ : v;
    });
    CopyNulls(*in, out);
    return Status::Ok();
  }

 private:
  SharedExpr operand_;
  double scale_;
};

SharedExpr Convert(SharedExpr expr, ValueType target, bool absent_is_null) {
  const bool is_json = expr->type() == ValueType::kJson;
  if (expr->type() == target && (absent_is_null || !is_json)) {
    return expr;
  }
  const bool is_constant = expr->is_constant();
  SharedExpr converted = std::make_shared<ConvertExpr>(std::move(expr), target, absent_is_null);
  Result<SharedExpr> folded = Fold(converted, is_constant);
  return folded.ok() ? std::move(folded).value() : converted;
}

}  // namespace

SharedExpr ConvertTo(SharedExpr expr, ValueType target) { return Convert(std::move(expr), target, true); }

SharedExpr CastTo(SharedExpr expr, ValueType target) { return Convert(std::move(expr), target, false); }

SharedExpr ToBigint(SharedExpr expr) { return CastTo(std::move(expr), ValueType::kBigint); }

SharedExpr ToDouble(SharedExpr expr) { return CastTo(std::move(expr), ValueType::kDouble); }

SharedExpr ToText(SharedExpr expr) { return CastTo(std::move(expr), ValueType::kString); }

SharedExpr ToSigned(SharedExpr expr) {
  if (expr->type() != ValueType::kInt) {
    return ToBigint(std::move(expr));
  }
  return std::make_shared<SignedExpr>(std::move(expr));
}

SharedExpr ToTruth(SharedExpr expr) { return std::make_shared<TruthExpr>(std::move(expr)); }

SharedExpr CutText(SharedExpr text, uint64_t characters) {
  return std::make_shared<CutTextExpr>(std::move(text), characters);
}

SharedExpr RoundTo(SharedExpr real, uint64_t digits) {
  return std::make_shared<RoundExpr>(ConvertTo(std::move(real), ValueType::kDouble), digits);
}

Result<ValueType> CommonType(ValueType a, ValueType b) {
  const ValueClass class_a = ClassOf(a);
  const ValueClass class_b = ClassOf(b);
  if (class_a == ValueClass::kNull || class_b == ValueClass::kNull || a == b) {
    const ValueType type = class_a == ValueClass::kNull ? b : a;
    return type == ValueType::kText ? ValueType::kString : type;
  }
  if (IsNumber(class_a) && IsNumber(class_b)) {
    return class_a == ValueClass::kReal || class_b == ValueClass::kReal ? ValueType::kDouble
                                                                        : ValueType::kBigint;
  }
  if (class_a == ValueClass::kSet && class_b == ValueClass::kSet) {
    return InvalidError("sets of 32-bit and 64-bit values do not mix");
  }
  if (class_a == ValueClass::kVector || class_b == ValueClass::kVector) {
    return InvalidError("vectors do not mix with other values");
  }
  const bool json_number = (class_a == ValueClass::kJson && IsNumber(class_b)) ||
                           (class_b == ValueClass::kJson && IsNumber(class_a));
  return json_number ? ValueType::kDouble : ValueType::kString;
}

}  // namespace stoa::sql
