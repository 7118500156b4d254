#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// Where a RAM part file belongs.
struct RamFileIdentity {
  TableId table;
  uint64_t generation = 0;
  Lsn covered;  // newest log record of the table in it
  friend bool operator==(const RamFileIdentity&, const RamFileIdentity&) = default;
};

std::string RamFileName(uint64_t generation);  // "ram.7"

// Writes the live rows of the snapshot to `folder`/ram.N: temporary name, sync, rename, sync of the folder.
// docs/format/ram.md.
Status WriteRamFile(Env& env, const std::string& folder, const TableSnapshot& snapshot,
                    const RamFileIdentity& identity);

// The table as written, in the columns of `definition`, which may be newer than the file. kCorrupt names the
// file.
Result<std::shared_ptr<const TableSnapshot>> LoadRamFile(Env& env, const std::string& folder,
                                                         const RamFileIdentity& identity,
                                                         std::shared_ptr<const TableDefinition> definition);

}  // namespace stoa::storage
