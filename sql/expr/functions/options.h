#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/name_scope.h"

namespace stoa::sql {

// The options of a function, {a=1, b='x', c=word}, evaluated at bind time. Names outside of the allowed ones
// and values that are no constants are errors.
class FunctionOptions {
 public:
  static Result<FunctionOptions> Read(const ParsedExpr& call, size_t arg,
                                      std::initializer_list<std::string_view> allowed, NameScope& scope);
  // The map in the last argument when the call has more than `index` arguments, else no options.
  static Result<FunctionOptions> ReadOptional(const ParsedExpr& call, size_t index,
                                              std::initializer_list<std::string_view> allowed,
                                              NameScope& scope);

  const Value* Find(std::string_view name) const;  // nullptr when not given
  std::optional<std::string> Text(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, Value>> options_;
};

}  // namespace stoa::sql
