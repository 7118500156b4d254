#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/schema.h"

namespace stoa::storage {

// One table as the manifest knows it.
struct ManifestTable {
  TableDefinition definition;
  std::string folder;           // below the data folder
  Lsn flushed;                  // the RAM part file holds every log record of the table up to here
  uint64_t ram_generation = 0;  // of the RAM part file ram.N; 0: there is none
  friend bool operator==(const ManifestTable&, const ManifestTable&) = default;
};

// What the data folder holds; the one file that decides. docs/format/manifest.md.
struct Manifest {
  uint64_t next_table_id = 1;
  uint64_t next_document_id = 0;  // automatic ids start here or later
  Lsn log_start;                  // no table needs log records up to here
  std::vector<ManifestTable> tables;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

inline constexpr char kManifestName[] = "catalog.manifest";

// Written to a temporary name, synced, renamed, folder synced. After an error the old or the new one is on
// disk.
Status WriteManifest(Env& env, const std::string& data_dir, const Manifest& manifest);
// An empty one when the folder has none.
Result<Manifest> ReadManifest(Env& env, const std::string& data_dir);

// The payload alone, for tests.
std::string EncodeManifest(const Manifest& manifest);
Result<Manifest> DecodeManifest(std::string_view bytes);

}  // namespace stoa::storage
