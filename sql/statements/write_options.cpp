#include "sql/statements/write_options.h"

#include <algorithm>

#include "sql/statements/literal.h"

namespace stoa::sql {
namespace {

constexpr std::string_view kSearchOptions[] = {"boolean_simplify",
                                               "comment",
                                               "cutoff",
                                               "expand_keywords",
                                               "expand_blended",
                                               "expansion_limit",
                                               "field_weights",
                                               "global_idf",
                                               "idf",
                                               "index_weights",
                                               "max_matches",
                                               "max_query_time",
                                               "morphology",
                                               "not_terms_only_allowed",
                                               "ranker",
                                               "threads",
                                               "token_filter",
                                               "boolean_mode"};

Result<bool> ReadSwitch(const ParsedOption& option) {
  Number number;
  if (option.value == nullptr || !ReadNumberOrText(*option.value, number) || !number.integer ||
      number.magnitude > 1 || number.negative) {
    return InvalidError("option '{}' must be 0 or 1", option.name);
  }
  return number.magnitude == 1;
}

}  // namespace

Result<WriteOptions> ReadWriteOptions(const std::vector<ParsedOption>& options) {
  WriteOptions read;
  for (const ParsedOption& option : options) {
    if (option.name == "strict") {
      ASSIGN_OR_RETURN(read.strict, ReadSwitch(option));
    } else if (option.name == "ignore_nonexistent_columns") {
      ASSIGN_OR_RETURN(read.ignore_nonexistent_columns, ReadSwitch(option));
    } else if (option.name == "store") {
      ASSIGN_OR_RETURN(read.store, OptionText(option));
    } else if (std::find(std::begin(kSearchOptions), std::end(kSearchOptions), option.name) ==
               std::end(kSearchOptions)) {
      return InvalidError("unknown option '{}'", option.name);
    }
  }
  return read;
}

}  // namespace stoa::sql
