#pragma once

#include <span>
#include <string_view>

namespace stoa::sql {

// A variable that SELECT @@x, SET and SHOW VARIABLES know: our own, and those of MySQL that clients ask for.
struct VariableDefinition {
  std::string_view name;
  std::string_view
      value;  // default; where the server has a setting of this name, that one's value comes first
  bool number = false;
  bool read_only = false;
  bool listed = true;  // in SHOW VARIABLES
};

// In the order of SHOW VARIABLES.
std::span<const VariableDefinition> AllVariables();
const VariableDefinition* FindVariable(std::string_view name);  // by lower-case name; nullptr when not known

}  // namespace stoa::sql
