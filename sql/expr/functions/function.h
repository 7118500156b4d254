#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/bind/expr_binder.h"

// What the families of functions share: their tables, argument checks, and the one kind of node they make.
namespace stoa::sql {

inline constexpr size_t kAnyCount = SIZE_MAX;

// One function by its lower-case name. `bind` is called only with an argument count inside the bounds.
struct FunctionEntry {
  std::string_view name;
  size_t min_args;
  size_t max_args;
  Result<SharedExpr> (*bind)(const ParsedExpr& call, NameScope& scope);
};

std::span<const FunctionEntry> MathFunctions();
std::span<const FunctionEntry> NumberFunctions();
std::span<const FunctionEntry> ConditionFunctions();
std::span<const FunctionEntry> ExtremeFunctions();
std::span<const FunctionEntry> LoopFunctions();
std::span<const FunctionEntry> BucketFunctions();
std::span<const FunctionEntry> ClockFunctions();
std::span<const FunctionEntry> DatePartFunctions();
std::span<const FunctionEntry> DateTextFunctions();
std::span<const FunctionEntry> GeoFunctions();
std::span<const FunctionEntry> PolygonFunctions();
std::span<const FunctionEntry> StringFunctions();
std::span<const FunctionEntry> TextSearchFunctions();
std::span<const FunctionEntry> HashFunctions();
std::span<const FunctionEntry> SessionFunctions();

// any, all, indexof (… FOR v IN array): a node of kind kLoop.
Result<SharedExpr> BindLoop(const ParsedExpr& call, NameScope& scope);

// "table t: parse error: <text>"; without a table "parse error: <text>".
Status FunctionError(const NameScope& scope, std::string_view text);

// The expression as real, 64-bit integer or text. NULL stays NULL, absent JSON values among it.
SharedExpr AsReal(SharedExpr expr);
SharedExpr AsBigint(SharedExpr expr);
SharedExpr AsText(SharedExpr expr);

// The first `count` arguments bound, each a single value: neither sets nor vectors.
Result<std::vector<SharedExpr>> BindScalars(const ParsedExpr& call, NameScope& scope,
                                            size_t count = kAnyCount);
// The same, converted.
Result<std::vector<SharedExpr>> BindReals(const ParsedExpr& call, NameScope& scope, size_t count = kAnyCount);
Result<std::vector<SharedExpr>> BindBigints(const ParsedExpr& call, NameScope& scope,
                                            size_t count = kAnyCount);
Result<std::vector<SharedExpr>> BindTexts(const ParsedExpr& call, NameScope& scope, size_t count = kAnyCount);
// The value of argument `index`, which must be constant.
Result<Value> ConstantArgument(const ParsedExpr& call, size_t index, NameScope& scope);

bool IsSet(ValueType type);      // kMulti, kMulti64
bool IsVector(ValueType type);   // float vectors
bool IsText(ValueType type);     // kString, kText
bool IsInteger(ValueType type);  // lane kInt
// kInt, kUint64, kBigint, or kDouble as soon as one of them is not an integer.
ValueType CommonNumericType(std::span<const SharedExpr> args);
// Converts all to the lane of the common type, which is returned.
ValueType ToCommonNumeric(std::vector<SharedExpr>& args);

// Constants as plain C++ values; texts are parsed, what is no number is 0.
double RealOf(const Value& value);
int64_t IntegerOf(const Value& value);
std::string TextOf(const Value& value);
// NaN and infinity become 0 (what has no value is 0), as does the negative zero.
double FiniteOrZero(double value);

// The arguments of one evaluation. Plain slots are borrowed from the batch, the rest is evaluated into own
// vectors.
class KernelInputs {
 public:
  Status Evaluate(std::span<const SharedExpr> args, Batch& batch);

  size_t size() const { return vectors_.size(); }
  const Vector& operator[](size_t arg) const { return *vectors_[arg]; }
  bool IsNull(size_t row) const;

 private:
  std::vector<Vector> owned_;
  std::vector<const Vector*> vectors_;
};

enum class NullRule : uint8_t { kPropagate, kKernelDecides };

// Makes every row NULL in which an argument is.
void PropagateNulls(const KernelInputs& in, Vector& out);

// A function whose kernel fills `out`, already of the right type and size, from the arguments.
template <typename Kernel>
  requires std::invocable<const Kernel&, const KernelInputs&, Vector&>
class KernelExpr final : public Expr {
 public:
  KernelExpr(ValueType type, std::vector<SharedExpr> args, Kernel kernel, NullRule null_rule)
      : Expr(type), args_(std::move(args)), kernel_(std::move(kernel)), null_rule_(null_rule) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    KernelInputs in;
    RETURN_IF_ERROR(in.Evaluate(args_, batch));
    out.Reset(type(), batch.size());
    kernel_(in, out);
    if (null_rule_ == NullRule::kPropagate) {
      PropagateNulls(in, out);
    }
    return Status::Ok();
  }
  bool is_constant() const override {
    for (const SharedExpr& arg : args_) {
      if (!arg->is_constant()) {
        return false;
      }
    }
    return true;
  }

 private:
  std::vector<SharedExpr> args_;
  Kernel kernel_;
  NullRule null_rule_;
};

// The constant value of a constant expression, else the expression itself.
Result<SharedExpr> FoldConstant(SharedExpr expr);

template <typename Kernel>
Result<SharedExpr> MakeKernel(ValueType type, std::vector<SharedExpr> args, Kernel kernel,
                              NullRule null_rule = NullRule::kPropagate) {
  return FoldConstant(
      std::make_shared<const KernelExpr<Kernel>>(type, std::move(args), std::move(kernel), null_rule));
}

}  // namespace stoa::sql
