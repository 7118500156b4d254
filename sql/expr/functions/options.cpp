#include "sql/expr/functions/options.h"

#include <algorithm>

#include "sql/expr/functions/function.h"

namespace stoa::sql {
namespace {

Result<Value> OptionValue(const ParsedExpr& call, const ParsedOption& option, NameScope& scope) {
  if (option.value->kind == ParsedKind::kColumn && option.value->path.empty()) {
    return Value::String(option.value->name);
  }
  ASSIGN_OR_RETURN(SharedExpr bound, BindExpr(*option.value, scope));
  if (!bound->is_constant()) {
    return FunctionError(scope,
                         fmt::format("option '{}' of {}() must be a constant", option.name, call.name));
  }
  return EvaluateConstant(*bound);
}

}  // namespace

Result<FunctionOptions> FunctionOptions::Read(const ParsedExpr& call, size_t arg,
                                              std::initializer_list<std::string_view> allowed,
                                              NameScope& scope) {
  const ParsedExpr& map = *call.args[arg];
  if (map.kind != ParsedKind::kOptionMap) {
    return FunctionError(scope, fmt::format("argument {} of {}() must be options, {{{}=…}}", arg + 1,
                                            call.name, *allowed.begin()));
  }
  FunctionOptions options;
  for (const ParsedOption& option : map.options) {
    if (std::find(allowed.begin(), allowed.end(), option.name) == allowed.end() || option.value == nullptr) {
      return FunctionError(scope, fmt::format("unknown option '{}' of {}()", option.name, call.name));
    }
    ASSIGN_OR_RETURN(Value value, OptionValue(call, option, scope));
    options.options_.emplace_back(option.name, std::move(value));
  }
  return options;
}

Result<FunctionOptions> FunctionOptions::ReadOptional(const ParsedExpr& call, size_t index,
                                                      std::initializer_list<std::string_view> allowed,
                                                      NameScope& scope) {
  return call.args.size() > index ? Read(call, index, allowed, scope) : FunctionOptions();
}

const Value* FunctionOptions::Find(std::string_view name) const {
  for (const auto& [option, value] : options_) {
    if (option == name) {
      return &value;
    }
  }
  return nullptr;
}

std::optional<std::string> FunctionOptions::Text(std::string_view name) const {
  const Value* value = Find(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(TextOf(*value));
}

}  // namespace stoa::sql
