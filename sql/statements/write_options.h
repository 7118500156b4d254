#pragma once

#include <string>
#include <vector>

#include "sql/parser/ast.h"
#include "storage/base/result.h"

namespace stoa::sql {

// OPTION of UPDATE and DELETE (features DM-09, DM-11). The options of full-text search are accepted.
struct WriteOptions {
  bool strict = false;
  bool ignore_nonexistent_columns = false;
  std::string store;  // DELETE only
};

Result<WriteOptions> ReadWriteOptions(const std::vector<ParsedOption>& options);

}  // namespace stoa::sql
