#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/base/cancel_token.h"
#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/table/table_files.h"

namespace stoa::storage {

// A file of a table, open: it can be copied after it was removed by name.
struct PinnedFile {
  std::string name;
  std::shared_ptr<const RandomAccessFile> file;
};

// Opens the files of the table's folder that the manifest names.
Result<std::vector<PinnedFile>> PinFiles(Env& env, const std::string& folder, const TableFiles& files);

// Copies them to `folder`, which is made and synced, and leaves the page cache as it was. `cancel` may be
// nullptr.
Status CopyFiles(Env& env, const std::vector<PinnedFile>& files, const std::string& folder,
                 const CancelToken* cancel);

}  // namespace stoa::storage
