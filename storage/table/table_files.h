#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/chunk/chunk_view.h"
#include "storage/table/manifest.h"
#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// What is on disk of one table: what the manifest names, and which versions of the delete maps and overlays
// these files hold.
struct TableFiles {
  struct Chunk {
    ManifestChunk named;
    std::shared_ptr<const DeleteMap> deletes;     // nullptr: none were deleted
    std::shared_ptr<const PatchOverlay> patches;  // nullptr: none
  };
  std::string folder;  // below the data folder
  Lsn flushed;
  uint64_t ram_generation = 0;
  std::vector<Chunk> chunks;
  uint64_t next_chunk_id = 1;
};

// The disk chunks and the RAM segments of a snapshot, each in order.
std::vector<std::shared_ptr<const ChunkView>> ChunksOf(const TableSnapshot& snapshot);
std::vector<std::shared_ptr<const TablePart>> SegmentsOf(const TableSnapshot& snapshot);
uint64_t RamBytesOf(const TableSnapshot& snapshot);  // of the RAM segments

// Of the vector columns of a snapshot: the quantisers of their newest indexes. nullptr: there is none.
std::shared_ptr<const TableQuantizers> QuantizersOf(const TableSnapshot& snapshot);

// Opens the files that the manifest names: the table as it was saved, and what is on disk of it. kCorrupt,
// kIo and kNotFound name the file.
struct OpenedTable {
  std::shared_ptr<const TableSnapshot> snapshot;
  TableFiles files;
};
Result<OpenedTable> OpenTableFiles(Env& env, const std::string& data_dir, const ManifestTable& table,
                                   const DiskChunk::Options& options);

// What a save does about the RAM part.
enum class RamSave : uint8_t {
  kKeep,   // the RAM part file, if any, stays what it is
  kWrite,  // the RAM segments are written
  kDrop,   // rows up to `covered` are in disk chunks, later ones in the log: no file is needed
};

// Writes the delete maps and overlays of `snapshot` that are newer than those of `old`, and the RAM segments
// if asked to; the folder is made and synced. Returns what the manifest shall name next. On error nothing
// that `old` names has changed.
struct SaveRequest {
  const TableSnapshot& snapshot;
  const TableFiles& old;
  RamSave ram = RamSave::kKeep;
  Lsn covered;  // kWrite, kDrop: the log record up to which chunks and RAM part file go
};
Result<TableFiles> WriteTableFiles(Env& env, const std::string& data_dir, const SaveRequest& request);

// Removes what `old` names and `next` does not. What cannot be removed goes at the next start.
void RemoveObsoleteFiles(Env& env, const std::string& data_dir, const TableFiles& old,
                         const TableFiles& next);
// Removes files of the table's folder that `files` does not name (a crash left them).
void RemoveUnnamedFiles(Env& env, const std::string& data_dir, const TableFiles& files);

}  // namespace stoa::storage
