#pragma once

#include <cstdint>

#include "storage/chunk/docstore.h"
#include "storage/format/open_section_file.h"
#include "storage/schema.h"
#include "storage/table/catalog.h"
#include "storage/table/merge_policy.h"

namespace stoa::storage {

// What holds for a table: its own setting, else the server's. Settings were checked when they were given; one
// that cannot be read counts as not given.
AccessMode AccessModeOf(const TableDefinition& definition, const StorageOptions& options);
uint64_t MemLimitOf(const TableDefinition& definition, const StorageOptions& options);  // bytes
uint32_t CutoffOf(const TableDefinition& definition, const MergeSettings& settings);    // chunks, at least 1
MergeSettings MergeSettingsOf(const StorageOptions& options);
DocstoreOptions DocstoreOptionsOf(const TableDefinition& definition);
// Idle times after which the RAM part becomes a chunk, in seconds; negative: never (features ST-05).
struct IdleFlush {
  int64_t without_write = 1;
  int64_t since_search = 30;
};
IdleFlush IdleFlushOf(const TableDefinition& definition);
bool OptedOutOfLog(const TableDefinition& definition);  // binlog='0'

}  // namespace stoa::storage
