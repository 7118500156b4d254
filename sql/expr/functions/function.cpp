#include "sql/expr/functions/function.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <unordered_map>

#include "sql/expr/convert.h"
#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

using FunctionMap = std::unordered_map<std::string_view, const FunctionEntry*>;

FunctionMap CollectFunctions() {
  FunctionMap map;
  for (auto family :
       {MathFunctions(), NumberFunctions(), ConditionFunctions(), ExtremeFunctions(), LoopFunctions(),
        BucketFunctions(), ClockFunctions(), DatePartFunctions(), DateTextFunctions(), GeoFunctions(),
        PolygonFunctions(), StringFunctions(), TextSearchFunctions(), HashFunctions(), SessionFunctions()}) {
    for (const FunctionEntry& entry : family) {
      map.emplace(entry.name, &entry);
    }
  }
  return map;
}

Status CheckCount(const ParsedExpr& call, const FunctionEntry& entry, const NameScope& scope) {
  size_t count = call.args.size();
  if (count >= entry.min_args && count <= entry.max_args) {
    return Status::Ok();
  }
  const char* bound = entry.min_args == entry.max_args ? ""
                      : count < entry.min_args         ? "at least "
                                                       : "at most ";
  size_t expected = count < entry.min_args ? entry.min_args : entry.max_args;
  return FunctionError(
      scope, fmt::format("{}() called with {} args, {}{} args expected", call.name, count, bound, expected));
}

}  // namespace

Result<SharedExpr> BindFunction(const ParsedExpr& call, NameScope& scope) {
  if (call.kind == ParsedKind::kLoop) {
    return BindLoop(call, scope);
  }
  static const FunctionMap functions = CollectFunctions();
  auto found = functions.find(call.name);
  if (found == functions.end()) {
    return NotFoundError("unknown function: {}", call.name);
  }
  RETURN_IF_ERROR(CheckCount(call, *found->second, scope));
  return found->second->bind(call, scope);
}

Status FunctionError(const NameScope& scope, std::string_view text) {
  const std::string& table = scope.context().table_name;
  std::string message = fmt::format("parse error: {}", text);
  return table.empty() ? SyntaxError(std::move(message)) : TableError(table, message);
}

SharedExpr AsReal(SharedExpr expr) { return ConvertTo(std::move(expr), ValueType::kDouble); }
SharedExpr AsBigint(SharedExpr expr) { return ConvertTo(std::move(expr), ValueType::kBigint); }
SharedExpr AsText(SharedExpr expr) {
  return IsText(expr->type()) ? expr : ConvertTo(std::move(expr), ValueType::kString);
}

Result<std::vector<SharedExpr>> BindScalars(const ParsedExpr& call, NameScope& scope, size_t count) {
  std::vector<SharedExpr> args;
  for (size_t i = 0; i < call.args.size() && i < count; ++i) {
    ASSIGN_OR_RETURN(SharedExpr arg, BindExpr(*call.args[i], scope));
    if (IsSet(arg->type()) || IsVector(arg->type())) {
      return FunctionError(scope,
                           fmt::format("argument {} of {}() must be a single value", i + 1, call.name));
    }
    args.push_back(std::move(arg));
  }
  return args;
}

Result<std::vector<SharedExpr>> BindReals(const ParsedExpr& call, NameScope& scope, size_t count) {
  ASSIGN_OR_RETURN(std::vector<SharedExpr> args, BindScalars(call, scope, count));
  for (SharedExpr& arg : args) {
    arg = AsReal(std::move(arg));
  }
  return args;
}

Result<std::vector<SharedExpr>> BindBigints(const ParsedExpr& call, NameScope& scope, size_t count) {
  ASSIGN_OR_RETURN(std::vector<SharedExpr> args, BindScalars(call, scope, count));
  for (SharedExpr& arg : args) {
    arg = AsBigint(std::move(arg));
  }
  return args;
}

Result<std::vector<SharedExpr>> BindTexts(const ParsedExpr& call, NameScope& scope, size_t count) {
  ASSIGN_OR_RETURN(std::vector<SharedExpr> args, BindScalars(call, scope, count));
  for (SharedExpr& arg : args) {
    arg = AsText(std::move(arg));
  }
  return args;
}

Result<Value> ConstantArgument(const ParsedExpr& call, size_t index, NameScope& scope) {
  ASSIGN_OR_RETURN(SharedExpr arg, BindExpr(*call.args[index], scope));
  if (!arg->is_constant()) {
    return FunctionError(scope, fmt::format("argument {} of {}() must be a constant", index + 1, call.name));
  }
  return EvaluateConstant(*arg);
}

bool IsSet(ValueType type) { return type == ValueType::kMulti || type == ValueType::kMulti64; }
bool IsVector(ValueType type) {
  return type == ValueType::kFloatVector || type == ValueType::kFloatVectorArray;
}
bool IsText(ValueType type) { return type == ValueType::kString || type == ValueType::kText; }
bool IsInteger(ValueType type) {
  return type == ValueType::kNull || type == ValueType::kInt || type == ValueType::kBigint ||
         type == ValueType::kUint64;
}

ValueType CommonNumericType(std::span<const SharedExpr> args) {
  bool has_signed = false;
  bool has_uint64 = false;
  for (const SharedExpr& arg : args) {
    if (!IsInteger(arg->type())) {
      return ValueType::kDouble;
    }
    has_signed |= arg->type() == ValueType::kBigint;
    has_uint64 |= arg->type() == ValueType::kUint64;
  }
  return has_signed ? ValueType::kBigint : has_uint64 ? ValueType::kUint64 : ValueType::kInt;
}

ValueType ToCommonNumeric(std::vector<SharedExpr>& args) {
  ValueType type = CommonNumericType(args);
  if (type == ValueType::kDouble) {
    for (SharedExpr& arg : args) {
      arg = AsReal(std::move(arg));
    }
  }
  return type;
}

double RealOf(const Value& value) {
  switch (value.type) {
    case ValueType::kInt:
    case ValueType::kBigint:
      return static_cast<double>(value.integer);
    case ValueType::kUint64:
      return static_cast<double>(static_cast<uint64_t>(value.integer));
    case ValueType::kFloat:
    case ValueType::kDouble:
      return value.real;
    case ValueType::kString:
    case ValueType::kText:
      return FiniteOrZero(std::strtod(value.bytes.c_str(), nullptr));
    case ValueType::kJson:
      return storage::JsonView(value.bytes).AsDouble();
    default:
      return 0;
  }
}

int64_t IntegerOf(const Value& value) {
  switch (value.type) {
    case ValueType::kInt:
    case ValueType::kBigint:
    case ValueType::kUint64:
      return value.integer;
    case ValueType::kString:
    case ValueType::kText:
      return std::strtoll(value.bytes.c_str(), nullptr, 10);
    case ValueType::kJson:
      return storage::JsonView(value.bytes).AsInt();
    default:
      break;
  }
  constexpr double kLimit = 9223372036854775808.0;
  double real = RealOf(value);
  if (!(real > -kLimit)) {
    return std::isnan(real) ? 0 : std::numeric_limits<int64_t>::min();
  }
  return real >= kLimit ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(real);
}

std::string TextOf(const Value& value) {
  switch (value.type) {
    case ValueType::kInt:
    case ValueType::kBigint:
      return std::to_string(value.integer);
    case ValueType::kUint64:
      return std::to_string(static_cast<uint64_t>(value.integer));
    case ValueType::kFloat:
    case ValueType::kDouble: {
      std::string text;
      AppendDoubleText(value.real, text);
      return text;
    }
    default:
      return value.bytes;
  }
}

double FiniteOrZero(double value) { return std::isfinite(value) ? value + 0.0 : 0; }

Status KernelInputs::Evaluate(std::span<const SharedExpr> args, Batch& batch) {
  owned_.resize(args.size());
  vectors_.resize(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (int slot = args[i]->slot(); slot >= 0) {
      ASSIGN_OR_RETURN(vectors_[i], batch.Slot(static_cast<size_t>(slot)));
      continue;
    }
    RETURN_IF_ERROR(args[i]->Evaluate(batch, owned_[i]));
    vectors_[i] = &owned_[i];
  }
  return Status::Ok();
}

bool KernelInputs::IsNull(size_t row) const {
  for (const Vector* vector : vectors_) {
    if (vector->IsNull(row)) {
      return true;
    }
  }
  return false;
}

void PropagateNulls(const KernelInputs& in, Vector& out) {
  VectorLane lane = LaneOf(out.type());
  for (size_t arg = 0; arg < in.size(); ++arg) {
    if (!in[arg].has_nulls()) {
      continue;
    }
    for (size_t row = 0; row < out.size(); ++row) {
      if (!in[arg].IsNull(row)) {
        continue;
      }
      out.SetNull(row);
      if (lane == VectorLane::kInt) {
        out.ints()[row] = 0;
      } else if (lane == VectorLane::kReal) {
        out.reals()[row] = 0;
      } else {
        out.texts()[row] = {};
      }
    }
  }
}

Result<SharedExpr> FoldConstant(SharedExpr expr) {
  if (!expr->is_constant()) {
    return expr;
  }
  ASSIGN_OR_RETURN(Value value, EvaluateConstant(*expr));
  return MakeConstant(std::move(value));
}

}  // namespace stoa::sql
