#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "sql/expr/functions/function.h"

// Rounding, whole-number arithmetic and random numbers.
namespace stoa::sql {
namespace {

uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }
int64_t FromBits(uint64_t value) { return static_cast<int64_t>(value); }

// `x` with `digits` decimals; doubles that have no more decimals than that stay as they are.
template <auto kRound>
double RoundReal(double x, int64_t digits) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  digits = std::clamp<int64_t>(digits, -300, 300);
  if (digits <= 0) {
    double unit = std::pow(10.0, static_cast<double>(-digits));
    return FiniteOrZero(kRound(x / unit) * unit);
  }
  double scale = std::pow(10.0, static_cast<double>(digits));
  double scaled = x * scale;
  if (!(std::fabs(scaled) < kExact)) {
    return x;
  }
  // 1.005 * 100 is 100.49999999999999: what is a half within the precision of a double counts as one.
  double nudged = std::nextafter(scaled, scaled < 0 ? -kExact : kExact);
  return FiniteOrZero((scaled == 0 ? scaled : kRound(nudged)) / scale);
}

// Whole numbers to tens, hundreds…; half away from zero when `half_up`.
int64_t RoundInteger(int64_t x, int64_t digits, bool half_up) {
  if (digits >= 0) {
    return x;
  }
  if (digits < -18) {
    return 0;
  }
  int64_t scale = 1;
  for (int64_t i = 0; i > digits; --i) {
    scale *= 10;
  }
  int64_t rest = x % scale;
  int64_t down = x - rest;
  if (!half_up || std::abs(rest) < scale / 2) {
    return down;
  }
  int64_t up = 0;
  return __builtin_add_overflow(down, rest < 0 ? -scale : scale, &up) ? down : up;
}

template <auto kRound, bool kHalfUp>
Result<SharedExpr> BindRound(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  if (args.size() == 1) {
    args.push_back(MakeConstant(Value::Int(0)));
  }
  args[1] = AsBigint(std::move(args[1]));
  if (ValueType type = args[0]->type(); IsInteger(type) && type != ValueType::kNull) {
    return MakeKernel(type, std::move(args), [](const KernelInputs& in, Vector& out) {
      for (size_t row = 0; row < out.size(); ++row) {
        out.ints()[row] = RoundInteger(in[0].ints()[row], in[1].ints()[row], kHalfUp);
      }
    });
  }
  args[0] = AsReal(std::move(args[0]));
  return MakeKernel(ValueType::kDouble, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      out.reals()[row] = RoundReal<kRound>(in[0].reals()[row], in[1].ints()[row]);
    }
  });
}

Result<SharedExpr> BindSign(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindReals(call, scope));
  return MakeKernel(ValueType::kBigint, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      double x = in[0].reals()[row];
      out.ints()[row] = x > 0 ? 1 : x < 0 ? -1 : 0;
    }
  });
}

// Quotient and remainder; nothing divides by zero, and the lowest number by -1 wraps to itself.
int64_t Quotient(int64_t a, int64_t b) { return b == -1 ? FromBits(-Bits(a)) : a / b; }
int64_t Remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

template <auto kFunction>
void DivideIntegers(const KernelInputs& in, Vector& out) {
  std::span<const int64_t> a = in[0].ints();
  std::span<const int64_t> b = in[1].ints();
  for (size_t row = 0; row < out.size(); ++row) {
    bool by_zero = b[row] == 0;
    out.ints()[row] = by_zero ? 0 : kFunction(a[row], b[row]);
    if (by_zero) {
      out.SetNull(row);
    }
  }
}

Result<SharedExpr> BindIdiv(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindBigints(call, scope));
  return MakeKernel(ValueType::kBigint, std::move(args), DivideIntegers<Quotient>);
}

Result<SharedExpr> BindMod(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  if (CommonNumericType(args) != ValueType::kDouble) {
    ValueType type = CommonNumericType(args) == ValueType::kInt ? ValueType::kInt : ValueType::kBigint;
    return MakeKernel(type, std::move(args), DivideIntegers<Remainder>);
  }
  ToCommonNumeric(args);
  return MakeKernel(ValueType::kDouble, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      double b = in[1].reals()[row];
      out.reals()[row] = b == 0 ? 0 : FiniteOrZero(std::fmod(in[0].reals()[row], b));
      if (b == 0) {
        out.SetNull(row);
      }
    }
  });
}

// Sums and products of whole numbers wrap at the width of their type, as the operators do.
int64_t Wrap(uint64_t bits, ValueType type) {
  return FromBits(type == ValueType::kInt ? bits & 0xffffffffu : bits);
}

template <auto kIntegers, auto kReals>
Result<SharedExpr> BindOfThree(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  ValueType type = ToCommonNumeric(args);
  if (type == ValueType::kDouble) {
    return MakeKernel(type, std::move(args), [](const KernelInputs& in, Vector& out) {
      for (size_t row = 0; row < out.size(); ++row) {
        out.reals()[row] = FiniteOrZero(kReals(in[0].reals()[row], in[1].reals()[row], in[2].reals()[row]));
      }
    });
  }
  return MakeKernel(type, std::move(args), [type](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      out.ints()[row] =
          Wrap(kIntegers(Bits(in[0].ints()[row]), Bits(in[1].ints()[row]), Bits(in[2].ints()[row])), type);
    }
  });
}

// bitdot(mask, w0, w1, …): the sum of the weights whose bit is set.
Result<SharedExpr> BindBitdot(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  if (args.size() > 65) {
    return FunctionError(scope, "bitdot() takes at most 64 weights");
  }
  SharedExpr mask = AsBigint(std::move(args[0]));
  args.erase(args.begin());
  ValueType type = ToCommonNumeric(args);
  args.push_back(std::move(mask));
  return MakeKernel(type, std::move(args), [type](const KernelInputs& in, Vector& out) {
    size_t weights = in.size() - 1;
    for (size_t row = 0; row < out.size(); ++row) {
      uint64_t bits = Bits(in[weights].ints()[row]);
      double real = 0;
      uint64_t integer = 0;
      for (size_t w = 0; w < weights; ++w) {
        if ((bits >> w & 1) == 0) {
          continue;
        }
        if (type == ValueType::kDouble) {
          real += in[w].reals()[row];
        } else {
          integer += Bits(in[w].ints()[row]);
        }
      }
      if (type == ValueType::kDouble) {
        out.reals()[row] = FiniteOrZero(real);
      } else {
        out.ints()[row] = Wrap(integer, type);
      }
    }
  });
}

// The n-th Fibonacci number modulo 2^32, by doubling: F(2k) = F(k) (2 F(k+1) - F(k)), F(2k+1) = F(k)^2 +
// F(k+1)^2.
uint32_t Fibonacci(uint64_t n) {
  uint32_t a = 0;
  uint32_t b = 1;
  for (int bit = 63; bit >= 0; --bit) {
    uint32_t doubled = a * (2 * b - a);
    uint32_t next = a * a + b * b;
    bool odd = (n >> bit & 1) != 0;
    a = odd ? next : doubled;
    b = odd ? doubled + next : next;
  }
  return a;
}

Result<SharedExpr> BindFibonacci(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindBigints(call, scope));
  return MakeKernel(ValueType::kInt, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      int64_t n = in[0].ints()[row];
      out.ints()[row] = n < 0 ? 0 : Fibonacci(Bits(n));
    }
  });
}

// Mixes 64 bits (splitmix64) and keeps 53 of them as a number in [0, 1).
double UnitReal(uint64_t seed) {
  uint64_t z = seed + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// rand() and rand(constant): the next number of a sequence for each row. The position in the sequence is
// shared by all threads that evaluate the expression, so no two rows get the same one.
class RandomExpr final : public Expr {
 public:
  explicit RandomExpr(uint64_t seed) : Expr(ValueType::kDouble), seed_(seed) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    out.Reset(type(), batch.size());
    uint64_t position = position_.fetch_add(batch.size(), std::memory_order_relaxed);
    for (double& value : out.reals()) {
      value = UnitReal(seed_ + 0x9e3779b97f4a7c15u * ++position);
    }
    return Status::Ok();
  }

 private:
  uint64_t seed_;
  mutable std::atomic<uint64_t> position_{0};
};

Result<SharedExpr> BindRand(const ParsedExpr& call, NameScope& scope) {
  if (call.args.empty()) {
    return SharedExpr(std::make_shared<const RandomExpr>(scope.context().rand_seed + call.range.begin));
  }
  ASSIGN_OR_RETURN(auto args, BindBigints(call, scope));
  if (args[0]->is_constant()) {
    ASSIGN_OR_RETURN(Value seed, EvaluateConstant(*args[0]));
    return SharedExpr(std::make_shared<const RandomExpr>(Bits(seed.integer) * 0x2545f4914f6cdd1du));
  }
  return MakeKernel(ValueType::kDouble, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      out.reals()[row] = UnitReal(Bits(in[0].ints()[row]) * 0x2545f4914f6cdd1du);
    }
  });
}

double HalfAway(double x) { return std::round(x); }
double TowardZero(double x) { return std::trunc(x); }

constexpr FunctionEntry kFunctions[] = {
    {"round", 1, 2, BindRound<HalfAway, true>},
    {"truncate", 2, 2, BindRound<TowardZero, false>},
    {"sign", 1, 1, BindSign},
    {"idiv", 2, 2, BindIdiv},
    {"mod", 2, 2, BindMod},
    {"madd", 3, 3,
     BindOfThree<[](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; },
                 [](double a, double b, double c) { return a * b + c; }>},
    {"mul3", 3, 3,
     BindOfThree<[](uint64_t a, uint64_t b, uint64_t c) { return a * b * c; },
                 [](double a, double b, double c) { return a * b * c; }>},
    {"bitdot", 2, kAnyCount, BindBitdot},
    {"fibonacci", 1, 1, BindFibonacci},
    {"rand", 0, 1, BindRand},
};

}  // namespace

std::span<const FunctionEntry> NumberFunctions() { return kFunctions; }

}  // namespace stoa::sql
