#include <algorithm>
#include <cstring>
#include <optional>

#include "sql/expr/functions/function.h"

// min() and max() of two and more arguments; greatest() and least() of the items of a set or JSON array, and
// of arguments. min() and max() of one argument are aggregates and never come here.
namespace stoa::sql {
namespace {

using storage::JsonKind;
using storage::JsonView;

// Which of two is taken.
template <bool kGreatest, typename T>
bool Better(const T& candidate, const T& best) {
  return kGreatest ? best < candidate : candidate < best;
}

template <bool kGreatest, typename T, auto kValues>
void PickLane(const KernelInputs& in, std::span<T> out) {
  std::span<const T> first = (in[0].*kValues)();
  std::copy(first.begin(), first.end(), out.begin());
  for (size_t arg = 1; arg < in.size(); ++arg) {
    std::span<const T> values = (in[arg].*kValues)();
    for (size_t row = 0; row < out.size(); ++row) {
      out[row] = Better<kGreatest>(values[row], out[row]) ? values[row] : out[row];
    }
  }
}

using ConstInts = std::span<const int64_t> (Vector::*)() const;
using ConstReals = std::span<const double> (Vector::*)() const;
constexpr ConstInts kInts = &Vector::ints;
constexpr ConstReals kReals = &Vector::reals;

template <bool kGreatest>
void PickUnsigned(const KernelInputs& in, Vector& out) {
  for (size_t row = 0; row < out.size(); ++row) {
    auto best = static_cast<uint64_t>(in[0].ints()[row]);
    for (size_t arg = 1; arg < in.size(); ++arg) {
      auto value = static_cast<uint64_t>(in[arg].ints()[row]);
      best = Better<kGreatest>(value, best) ? value : best;
    }
    out.ints()[row] = static_cast<int64_t>(best);
  }
}

template <bool kGreatest>
void PickText(const KernelInputs& in, Vector& out) {
  for (size_t row = 0; row < out.size(); ++row) {
    std::string_view best = in[0].texts()[row];
    for (size_t arg = 1; arg < in.size(); ++arg) {
      std::string_view value = in[arg].texts()[row];
      best = Better<kGreatest>(value, best) ? value : best;
    }
    out.texts()[row] = out.Own(std::string(best));
  }
}

template <bool kGreatest>
Result<SharedExpr> PickOfArguments(std::vector<SharedExpr> args) {
  if (std::all_of(args.begin(), args.end(), [](const SharedExpr& arg) { return IsText(arg->type()); })) {
    return MakeKernel(ValueType::kString, std::move(args), PickText<kGreatest>);
  }
  bool all_float = std::all_of(args.begin(), args.end(),
                               [](const SharedExpr& arg) { return arg->type() == ValueType::kFloat; });
  ValueType type = all_float ? ValueType::kFloat : ToCommonNumeric(args);
  if (type == ValueType::kUint64) {
    return MakeKernel(type, std::move(args), PickUnsigned<kGreatest>);
  }
  if (LaneOf(type) == VectorLane::kInt) {
    return MakeKernel(type, std::move(args), [](const KernelInputs& in, Vector& out) {
      PickLane<kGreatest, int64_t, kInts>(in, out.ints());
    });
  }
  return MakeKernel(type, std::move(args), [](const KernelInputs& in, Vector& out) {
    PickLane<kGreatest, double, kReals>(in, out.reals());
  });
}

template <bool kGreatest>
Result<SharedExpr> BindPick(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  return PickOfArguments<kGreatest>(std::move(args));
}

// The extreme item of an array: numbers before texts; nothing when it has neither.
template <bool kGreatest>
std::optional<JsonView> PickItem(JsonView array) {
  std::optional<JsonView> best;
  for (size_t i = 0; array.kind() == JsonKind::kArray && i < array.size(); ++i) {
    JsonView item = array.At(i);
    bool number = item.is_number();
    if (!number && item.kind() != JsonKind::kString) {
      continue;
    }
    if (!best) {
      best = item;
    } else if (number != best->is_number()) {
      best = number ? item : *best;
    } else if (number ? Better<kGreatest>(item.AsDouble(), best->AsDouble())
                      : Better<kGreatest>(item.AsString(), best->AsString())) {
      best = item;
    }
  }
  return best;
}

template <bool kGreatest>
void PickJson(const KernelInputs& in, Vector& out) {
  for (size_t row = 0; row < out.size(); ++row) {
    std::optional<JsonView> item = PickItem<kGreatest>(JsonView(in[0].texts()[row]));
    if (!item) {
      out.SetNull(row);
      out.texts()[row] = {};
    } else if (item->kind() == JsonKind::kString) {
      out.texts()[row] = out.Own(std::string(item->AsString()));
    } else {
      out.texts()[row] = out.Own(storage::JsonText(*item));
    }
  }
}

// Sets ascend, so the extremes are their ends.
template <bool kGreatest, typename T>
void PickOfSet(const KernelInputs& in, Vector& out) {
  for (size_t row = 0; row < out.size(); ++row) {
    std::string_view set = in[0].texts()[row];
    if (set.size() < sizeof(T)) {
      out.SetNull(row);
      out.texts()[row] = {};
      continue;
    }
    T value{};
    std::memcpy(&value, kGreatest ? set.data() + (set.size() / sizeof(T) - 1) * sizeof(T) : set.data(),
                sizeof(T));
    out.texts()[row] = out.Own(std::to_string(value));
  }
}

template <bool kGreatest>
Result<SharedExpr> BindExtreme(const ParsedExpr& call, NameScope& scope) {
  if (call.args.size() > 1) {
    return BindPick<kGreatest>(call, scope);
  }
  ASSIGN_OR_RETURN(auto args, BindArguments(call, scope));
  switch (args[0]->type()) {
    case ValueType::kMulti:
      return MakeKernel(ValueType::kString, std::move(args), PickOfSet<kGreatest, uint32_t>);
    case ValueType::kMulti64:
      return MakeKernel(ValueType::kString, std::move(args), PickOfSet<kGreatest, int64_t>);
    case ValueType::kJson:
      return MakeKernel(ValueType::kString, std::move(args), PickJson<kGreatest>);
    default:
      return FunctionError(
          scope, fmt::format("{}() of one argument needs a JSON array or a multi-value column", call.name));
  }
}

constexpr FunctionEntry kFunctions[] = {
    {"min", 2, kAnyCount, BindPick<false>},
    {"max", 2, kAnyCount, BindPick<true>},
    {"least", 1, kAnyCount, BindExtreme<false>},
    {"greatest", 1, kAnyCount, BindExtreme<true>},
};

}  // namespace

std::span<const FunctionEntry> ExtremeFunctions() { return kFunctions; }

}  // namespace stoa::sql
