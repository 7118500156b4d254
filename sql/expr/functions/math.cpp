#include <cmath>
#include <limits>
#include <numbers>

#include "sql/expr/functions/function.h"

// Functions of real numbers. What has no value (the root or logarithm of a negative number, an overflow) is
// 0.
namespace stoa::sql {
namespace {

template <auto kFunction>
Result<SharedExpr> BindReal1(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindReals(call, scope));
  return MakeKernel(ValueType::kDouble, std::move(args), [](const KernelInputs& in, Vector& out) {
    std::span<const double> x = in[0].reals();
    std::span<double> y = out.reals();
    for (size_t row = 0; row < y.size(); ++row) {
      y[row] = FiniteOrZero(kFunction(x[row]));
    }
  });
}

template <auto kFunction>
Result<SharedExpr> BindReal2(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindReals(call, scope));
  return MakeKernel(ValueType::kDouble, std::move(args), [](const KernelInputs& in, Vector& out) {
    std::span<const double> a = in[0].reals();
    std::span<const double> b = in[1].reals();
    std::span<double> y = out.reals();
    for (size_t row = 0; row < y.size(); ++row) {
      y[row] = FiniteOrZero(kFunction(a[row], b[row]));
    }
  });
}

double LogToBase(double base, double x) { return base <= 0 || base == 1 ? 0 : std::log(x) / std::log(base); }
double Log(double x) { return std::log(x); }

Result<SharedExpr> BindLog(const ParsedExpr& call, NameScope& scope) {
  return call.args.size() == 1 ? BindReal1<Log>(call, scope) : BindReal2<LogToBase>(call, scope);
}

Result<SharedExpr> BindPi(const ParsedExpr&, NameScope&) {
  return MakeConstant(Value::Double(std::numbers::pi));
}

// Reals as 64-bit integers, the ends standing for what lies outside.
int64_t ToInteger(double x) {
  constexpr double kLimit = 9223372036854775808.0;
  if (std::isnan(x)) {
    return 0;
  }
  if (x >= kLimit) {
    return std::numeric_limits<int64_t>::max();
  }
  return x < -kLimit ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(x);
}

template <auto kRound>
Result<SharedExpr> BindRoundToInteger(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  if (IsInteger(args[0]->type())) {
    return AsBigint(std::move(args[0]));
  }
  args[0] = AsReal(std::move(args[0]));
  return MakeKernel(ValueType::kBigint, std::move(args), [](const KernelInputs& in, Vector& out) {
    std::span<const double> x = in[0].reals();
    for (size_t row = 0; row < out.size(); ++row) {
      out.ints()[row] = ToInteger(kRound(x[row]));
    }
  });
}

void AbsoluteIntegers(const KernelInputs& in, Vector& out) {
  std::span<const int64_t> x = in[0].ints();
  for (size_t row = 0; row < out.size(); ++row) {
    int64_t value = x[row];
    bool lowest = value == std::numeric_limits<int64_t>::min();
    out.ints()[row] = lowest ? std::numeric_limits<int64_t>::max() : value < 0 ? -value : value;
  }
}

void AbsoluteReals(const KernelInputs& in, Vector& out) {
  std::span<const double> x = in[0].reals();
  for (size_t row = 0; row < out.size(); ++row) {
    out.reals()[row] = std::fabs(x[row]);
  }
}

// The distance from zero of 32-bit arithmetic such as 0-5, whose negative results are held as 2^32-5.
void AbsoluteDifferences(const KernelInputs& in, Vector& out) {
  std::span<const int64_t> x = in[0].ints();
  for (size_t row = 0; row < out.size(); ++row) {
    int64_t value = static_cast<int32_t>(static_cast<uint32_t>(x[row]));
    out.ints()[row] = value < 0 ? -value : value;
  }
}

bool IsArithmetic(const ParsedExpr& expr) {
  return expr.kind == ParsedKind::kBinary || expr.kind == ParsedKind::kUnary;
}

Result<SharedExpr> BindAbs(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  ValueType type = args[0]->type();
  if (type == ValueType::kBigint) {
    return MakeKernel(type, std::move(args), AbsoluteIntegers);
  }
  if (type == ValueType::kInt && IsArithmetic(*call.args[0])) {
    return MakeKernel(type, std::move(args), AbsoluteDifferences);
  }
  if (IsInteger(type)) {
    return args[0];  // has no sign
  }
  if (type != ValueType::kFloat) {
    type = ValueType::kDouble;
    args[0] = AsReal(std::move(args[0]));
  }
  return MakeKernel(type, std::move(args), AbsoluteReals);
}

constexpr double kDegree = std::numbers::pi / 180;

constexpr FunctionEntry kFunctions[] = {
    {"abs", 1, 1, BindAbs},
    {"ceil", 1, 1, BindRoundToInteger<[](double x) { return std::ceil(x); }>},
    {"ceiling", 1, 1, BindRoundToInteger<[](double x) { return std::ceil(x); }>},
    {"floor", 1, 1, BindRoundToInteger<[](double x) { return std::floor(x); }>},
    {"sqrt", 1, 1, BindReal1<[](double x) { return std::sqrt(x); }>},
    {"exp", 1, 1, BindReal1<[](double x) { return std::exp(x); }>},
    {"ln", 1, 1, BindReal1<Log>},
    {"log", 1, 2, BindLog},
    {"log2", 1, 1, BindReal1<[](double x) { return std::log2(x); }>},
    {"log10", 1, 1, BindReal1<[](double x) { return std::log10(x); }>},
    {"pow", 2, 2, BindReal2<[](double x, double y) { return std::pow(x, y); }>},
    {"power", 2, 2, BindReal2<[](double x, double y) { return std::pow(x, y); }>},
    {"sin", 1, 1, BindReal1<[](double x) { return std::sin(x); }>},
    {"cos", 1, 1, BindReal1<[](double x) { return std::cos(x); }>},
    {"tan", 1, 1, BindReal1<[](double x) { return std::tan(x); }>},
    {"cot", 1, 1, BindReal1<[](double x) { return 1 / std::tan(x); }>},
    {"asin", 1, 1, BindReal1<[](double x) { return std::asin(x); }>},
    {"acos", 1, 1, BindReal1<[](double x) { return std::acos(x); }>},
    {"atan", 1, 1, BindReal1<[](double x) { return std::atan(x); }>},
    {"atan2", 2, 2, BindReal2<[](double y, double x) { return std::atan2(y, x); }>},
    {"degrees", 1, 1, BindReal1<[](double x) { return x / kDegree; }>},
    {"radians", 1, 1, BindReal1<[](double x) { return x * kDegree; }>},
    {"pi", 0, 0, BindPi},
};

}  // namespace

std::span<const FunctionEntry> MathFunctions() { return kFunctions; }

}  // namespace stoa::sql
