#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/format/versions.h"
#include "storage/schema.h"

namespace stoa::storage {

// A disk chunk of a table. Generation 0: there is no such file, nothing was deleted or updated.
struct ManifestChunk {
  ChunkId id;
  uint64_t delete_generation = 0;  // of .spm.N
  uint64_t patch_generation = 0;   // of .spu.N
  friend bool operator==(const ManifestChunk&, const ManifestChunk&) = default;
};

// One table as the manifest knows it.
struct ManifestTable {
  TableDefinition definition;
  std::string folder;           // below the data folder
  Lsn flushed;                  // chunks and RAM part file hold every log record of the table up to here
  uint64_t ram_generation = 0;  // of the RAM part file ram.N; 0: there is none
  std::vector<ManifestChunk> chunks;  // in the order of their rows
  uint64_t next_chunk_id = 1;
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
Result<Manifest> DecodeManifest(std::string_view bytes, uint32_t version = kManifestFormat.current);

}  // namespace stoa::storage
