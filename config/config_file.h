#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "storage/base/result.h"

namespace stoa::config {

struct ConfigResult {
  SettingValues values;
  std::vector<std::string>
      warnings;  // "searchd.conf:12: unknown setting 'acess_columnar_attrs', did you mean …"
};

// Parses a config text (Sphinx/Manticore grammar, features CF-02, CF-03, CF-05). `file` is for messages.
// Errors name file and line: bad grammar, bad value (with value and allowed range), a `table`/`index` or
// `source` section
// ("… tables are made by CREATE TABLE; remove the section").
Result<ConfigResult> ParseConfig(std::string_view text, std::string_view file);

}  // namespace stoa::config
