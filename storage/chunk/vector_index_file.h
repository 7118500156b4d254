#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/chunk/disk_chunk.h"
#include "storage/format/open_section_file.h"
#include "storage/vector/vector_index.h"

namespace stoa::storage {

inline constexpr char kVectorIndexSuffix[] = "spknn";

// The columns of a definition whose chunks have vector indexes.
std::vector<const ColumnDefinition*> VectorIndexColumns(const TableDefinition& definition);

// The open .spknn of a chunk: the indexes of all its vector columns. Immutable and safe to share.
// docs/format/spknn.md.
class VectorIndexFile {
 public:
  // Mapped. Errors name the file; kUnsupported: it is of an older or newer version.
  static Result<std::shared_ptr<const VectorIndexFile>> Open(Env& env, const std::string& folder,
                                                             const ChunkHeader& header,
                                                             const VectorIndexFormat& format);

  const VectorIndex* Find(ColumnId column) const;  // nullptr: none
  const OpenSectionFile& file() const { return *file_; }
  uint64_t ram_bytes() const;
  Status Check() const;  // cross-references; checksums are checked by the file

 private:
  struct Entry {
    ColumnId column;
    std::shared_ptr<const VectorIndex> index;
  };
  VectorIndexFile() = default;

  std::shared_ptr<const OpenSectionFile> file_;
  std::vector<Entry> indexes_;
};

}  // namespace stoa::storage
