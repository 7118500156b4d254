#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/vector/vector_index.h"

namespace stoa::storage {

// A table whose files are as they should be.
struct TableCheckReport {
  uint64_t chunks = 0;
  uint64_t rows = 0;  // live ones, in chunks and in the RAM part file; what only the log has is not counted
  std::string note;   // why the data folder could not be locked; empty: it was, nothing changed meanwhile
};

// Reads every file of a table that the manifest names and what the files say of each other: checksums, every
// column, document ids, delete maps, patches, the RAM part file; no document may be there twice. Changes
// nothing and may run beside a server, whose newer manifest is then followed. The error is the first fault,
// with file and offset; kNotFound: there is no such table. Without `format` only the sizes of vector indexes
// are checked.
Result<TableCheckReport> CheckTable(Env& env, const std::string& data_dir, std::string_view table,
                                    std::shared_ptr<const VectorIndexFormat> format = nullptr);

}  // namespace stoa::storage
