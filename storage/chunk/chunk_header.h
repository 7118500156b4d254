#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/chunk/disk_chunk.h"
#include "storage/format/section_file.h"
#include "storage/schema.h"

namespace stoa::storage {

inline constexpr SectionFileKind kColumnarFileKind{{'S', 'P', 'C', 'F'}, kColumnarFormat};

// Where the values of a column lie in a chunk that was written under a definition.
enum class ColumnPlace : uint8_t {
  kColumnar,  // .spc
  kRowwise,   // .spa, .spb
  kDocstore,  // .spds
  kNowhere,   // a text that is not stored: reads as empty
};
ColumnPlace PlaceOf(const TableDefinition& definition, const ColumnDefinition& column);

// Suffixes of the files that a chunk of this definition consists of, beside the header and the .spknn that
// may follow, in the order in which they are written.
std::vector<std::string> ChunkSuffixes(const TableDefinition& definition);

// The header as it lies on disk: what it says of the chunk, and the files that belong to it.
struct ChunkHeaderFile {
  struct File {
    std::string suffix;
    uint64_t bytes = 0;
    friend bool operator==(const File&, const File&) = default;
  };
  ChunkHeader header;
  std::vector<File> files;
};

// The whole file, for `file`; syncing is the caller's. docs/format/sph.md.
Status WriteChunkHeader(const ChunkHeaderFile& header, WritableFile& file);
// kCorrupt names the file.
Result<ChunkHeaderFile> ReadChunkHeader(Env& env, const std::string& folder, ChunkId id);
// Every file of the header is there and has its size; kCorrupt names the one that has not.
Status CheckChunkFiles(Env& env, const std::string& folder, const ChunkHeaderFile& header);

}  // namespace stoa::storage
