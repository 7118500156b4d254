#include <algorithm>
#include <cctype>
#include <cstring>

#include "sql/expr/functions/function.h"
#include "sql/expr/functions/in_list.h"

// in(), interval(), remap(), exist(). (if() and its kin are operators of the binder.)
namespace stoa::sql {
namespace {

Status AddConstant(const ParsedExpr& constant, InList& list, NameScope& scope) {
  if (constant.kind == ParsedKind::kUserVariable) {
    std::optional<Value> value = scope.UserVariable(constant.name);
    if (!value) {
      return FunctionError(scope, fmt::format("undefined user variable '@{}'", constant.name));
    }
    list.Add(*value);
    return Status::Ok();
  }
  if (constant.kind == ParsedKind::kList) {
    for (const ParsedExprPtr& item : constant.args) {
      RETURN_IF_ERROR(AddConstant(*item, list, scope));
    }
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(SharedExpr bound, BindExpr(constant, scope));
  if (!bound->is_constant()) {
    return FunctionError(scope, "in() compares with constants only");
  }
  ASSIGN_OR_RETURN(Value value, EvaluateConstant(*bound));
  list.Add(value);
  return Status::Ok();
}

template <typename T>
bool AnyItem(std::string_view set, const InList& list) {
  for (size_t at = 0; at + sizeof(T) <= set.size(); at += sizeof(T)) {
    T item{};
    std::memcpy(&item, set.data() + at, sizeof(T));
    if (list.Contains(static_cast<int64_t>(item))) {
      return true;
    }
  }
  return false;
}

bool BytesInList(std::string_view bytes, ValueType type, const InList& list) {
  switch (type) {
    case ValueType::kJson:
      return list.Contains(storage::JsonView(bytes));
    case ValueType::kMulti:
      return AnyItem<uint32_t>(bytes, list);
    case ValueType::kMulti64:
      return AnyItem<int64_t>(bytes, list);
    default:
      return list.Contains(bytes);
  }
}

void SearchList(const KernelInputs& in, const InList& list, Vector& out) {
  const Vector& x = in[0];
  VectorLane lane = LaneOf(x.type());
  for (size_t row = 0; row < out.size(); ++row) {
    if (x.IsNull(row)) {
      out.ints()[row] = 0;
    } else if (lane == VectorLane::kInt) {
      out.ints()[row] = list.Contains(x.ints()[row]) ? 1 : 0;
    } else if (lane == VectorLane::kReal) {
      out.ints()[row] = list.Contains(x.reals()[row]) ? 1 : 0;
    } else {
      out.ints()[row] = BytesInList(x.texts()[row], x.type(), list) ? 1 : 0;
    }
  }
}

Result<SharedExpr> BindIn(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(SharedExpr x, BindExpr(*call.args[0], scope));
  ValueType type = x->type();
  if (IsVector(type)) {
    return FunctionError(scope, "in() does not search vectors");
  }
  auto list = std::make_shared<InList>(scope.context().collation);
  for (size_t i = 1; i < call.args.size(); ++i) {
    RETURN_IF_ERROR(AddConstant(*call.args[i], *list, scope));
  }
  if (type == ValueType::kFloat) {
    list->RoundToFloat();
  }
  if (IsText(type) ? list->has_numbers() : type != ValueType::kJson && list->has_texts()) {
    return FunctionError(scope, "in() does not compare numbers with strings");
  }
  list->Seal();
  return MakeKernel(
      ValueType::kInt, {std::move(x)},
      [list = std::shared_ptr<const InList>(std::move(list))](const KernelInputs& in, Vector& out) {
        SearchList(in, *list, out);
      },
      NullRule::kKernelDecides);
}

// interval(x, p1, p2, …): how many of the points, from the first on, are not above x.
template <typename T, typename Lane>
void CountPoints(const KernelInputs& in, Vector& out, Lane lane) {
  std::span<const T> x = lane(in[0]);
  for (size_t row = 0; row < out.size(); ++row) {
    size_t point = 1;
    while (point < in.size() && lane(in[point])[row] <= x[row]) {
      ++point;
    }
    out.ints()[row] = static_cast<int64_t>(point - 1);
  }
}

Result<SharedExpr> BindInterval(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  if (ToCommonNumeric(args) == ValueType::kDouble) {
    return MakeKernel(ValueType::kInt, std::move(args), [](const KernelInputs& in, Vector& out) {
      CountPoints<double>(in, out, [](const Vector& v) { return v.reals(); });
    });
  }
  return MakeKernel(ValueType::kInt, std::move(args), [](const KernelInputs& in, Vector& out) {
    CountPoints<int64_t>(in, out, [](const Vector& v) { return v.ints(); });
  });
}

// One constant list of remap(): (1, 2, 3), or a single constant.
Result<std::vector<Value>> BindList(const ParsedExpr& call, size_t index, NameScope& scope) {
  std::vector<Value> values;
  const ParsedExpr& list = *call.args[index];
  size_t count = list.kind == ParsedKind::kList ? list.args.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const ParsedExpr& item = list.kind == ParsedKind::kList ? *list.args[i] : list;
    ASSIGN_OR_RETURN(SharedExpr bound, BindExpr(item, scope));
    if (!bound->is_constant()) {
      return FunctionError(scope, "remap() takes constant lists only");
    }
    ASSIGN_OR_RETURN(Value value, EvaluateConstant(*bound));
    values.push_back(std::move(value));
  }
  return values;
}

template <typename Key>
using Remapping = std::vector<std::pair<Key, Value>>;

// The first value of a key counts.
template <typename Key>
const Value* FindMapped(const Remapping<Key>& map, Key key) {
  auto below = [](const std::pair<Key, Value>& entry, Key k) { return entry.first < k; };
  auto at = std::lower_bound(map.begin(), map.end(), key, below);
  return at != map.end() && at->first == key ? &at->second : nullptr;
}

template <typename Key, typename Lane, typename KeyOf>
Result<SharedExpr> MakeRemap(std::vector<SharedExpr> args, ValueType type, std::vector<Value> keys,
                             std::vector<Value> values, Lane lane, KeyOf key_of) {
  Remapping<Key> map;
  for (size_t i = 0; i < keys.size(); ++i) {
    map.emplace_back(key_of(keys[i]), std::move(values[i]));
  }
  std::stable_sort(map.begin(), map.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return MakeKernel(type, std::move(args),
                    [type, lane, map = std::move(map)](const KernelInputs& in, Vector& out) {
                      std::span<const Key> conditions = lane(in[0]);
                      for (size_t row = 0; row < out.size(); ++row) {
                        const Value* mapped = FindMapped(map, conditions[row]);
                        if (type == ValueType::kDouble) {
                          out.reals()[row] = mapped != nullptr ? RealOf(*mapped) : in[1].reals()[row];
                        } else {
                          out.ints()[row] = mapped != nullptr ? mapped->integer : in[1].ints()[row];
                        }
                      }
                    });
}

// remap(condition, expression, (keys), (values)): the value of the key that equals the condition, else the
// expression.
Result<SharedExpr> BindRemap(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope, 2));
  ASSIGN_OR_RETURN(std::vector<Value> keys, BindList(call, 2, scope));
  ASSIGN_OR_RETURN(std::vector<Value> values, BindList(call, 3, scope));
  if (keys.size() != values.size()) {
    return FunctionError(
        scope, fmt::format("remap() has {} keys and {} values, both lists need the same length", keys.size(),
                           values.size()));
  }
  std::vector<SharedExpr> results{args[1]};
  for (const std::vector<Value>* list : {&keys, &values}) {
    for (const Value& value : *list) {
      if (IsText(value.type) || value.is_null()) {
        return FunctionError(scope, "remap() takes lists of numbers only");
      }
      if (list == &values) {
        results.push_back(MakeConstant(value));
      }
    }
  }
  ValueType type = CommonNumericType(results);
  if (type == ValueType::kDouble) {
    args[1] = AsReal(std::move(args[1]));
  }
  bool integer_keys =
      IsInteger(args[0]->type()) &&
      std::all_of(keys.begin(), keys.end(), [](const Value& key) { return IsInteger(key.type); });
  if (integer_keys) {
    return MakeRemap<int64_t>(
        std::move(args), type, std::move(keys), std::move(values), [](const Vector& v) { return v.ints(); },
        [](const Value& key) { return key.integer; });
  }
  bool is_float = args[0]->type() == ValueType::kFloat;
  args[0] = AsReal(std::move(args[0]));
  return MakeRemap<double>(
      std::move(args), type, std::move(keys), std::move(values), [](const Vector& v) { return v.reals(); },
      [is_float](const Value& key) {
        return is_float ? static_cast<double>(static_cast<float>(RealOf(key))) : RealOf(key);
      });
}

// exist('column', default): the column where the table has it, else the constant.
Result<SharedExpr> BindExist(const ParsedExpr& call, NameScope& scope) {
  const ParsedExpr& name = *call.args[0];
  if (name.kind != ParsedKind::kString) {
    return FunctionError(scope, "exist() needs the name of a column in quotes as its first argument");
  }
  std::string lower = name.text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  ASSIGN_OR_RETURN(Value fallback, ConstantArgument(call, 1, scope));
  if (IsText(fallback.type) || LaneOf(fallback.type) == VectorLane::kBytes) {
    return FunctionError(scope, "exist() needs a number as its second argument");
  }
  std::optional<NameScope::Column> column = scope.FindColumn(lower);
  if (!column) {
    return MakeConstant(std::move(fallback));
  }
  if (LaneOf(column->type) == VectorLane::kBytes) {
    return FunctionError(scope, fmt::format("exist() needs a numeric column, '{}' is not", lower));
  }
  return MakeSlot(column->slot, column->type);
}

constexpr FunctionEntry kFunctions[] = {
    {"in", 2, kAnyCount, BindIn},
    {"interval", 2, kAnyCount, BindInterval},
    {"remap", 4, 4, BindRemap},
    {"exist", 2, 2, BindExist},
};

}  // namespace

std::span<const FunctionEntry> ConditionFunctions() { return kFunctions; }

}  // namespace stoa::sql
