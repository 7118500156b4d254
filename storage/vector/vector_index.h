#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/base/cancel_token.h"
#include "storage/base/result.h"
#include "storage/column/column_reader.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"
#include "storage/schema.h"

namespace stoa::storage {

// Turns vectors of one column into small codes from which distances can be estimated. Frozen once trained;
// all parts of a table share one a column, so that estimates are comparable. Immutable and safe to share.
class VectorQuantizer {
 public:
  virtual ~VectorQuantizer() = default;

  virtual uint64_t id() const = 0;          // of its contents: equal ids, equal codes
  virtual uint32_t code_bytes() const = 0;  // a multiple of 16
  // Code i goes to codes + i × stride. `vectors` have the column's dims; rows of a cosine column are
  // normalised.
  virtual void EncodeVectors(std::span<const float* const> vectors, uint8_t* codes, size_t stride) const = 0;
};

// The open index of one vector column of one chunk. What is in it, and how it is searched, is known to the
// VectorIndexFormat that opened it (the knn layer). Immutable and safe to share.
class VectorIndex {
 public:
  virtual ~VectorIndex() = default;

  // What the index was built with; nullptr: too few vectors, rows are compared exactly.
  virtual std::shared_ptr<const VectorQuantizer> quantizer() const = 0;
  virtual uint64_t ram_bytes() const = 0;
  // Every cross-reference; checksums are the file's business. Errors name the file.
  virtual Status Check() const = 0;
};

inline constexpr uint32_t kNoRow = 0xffffffff;

// A part that goes into a merge.
struct VectorIndexSource {
  std::shared_ptr<const VectorIndex> index;  // nullptr: it has none, and `new_rows` is empty
  // By row of the part: its row in the new chunk; kNoRow: dead, or its vector was updated since the part was
  // written. Rows of the new chunk that no source names are in no index yet.
  std::vector<uint32_t> new_rows;
};

struct VectorIndexBuild {
  const ColumnDefinition* column = nullptr;  // with knn
  uint32_t row_count = 0;
  // Readers of the new chunk's vectors, one a thread; may be called from any thread. ReadBytes gives the
  // floats of a row; empty: the row has no vector. kFloatVectorArray: as ColumnValues lays arrays out.
  std::function<Result<std::unique_ptr<ColumnReader>>()> new_reader;
  std::shared_ptr<const VectorQuantizer> quantizer;  // the table's; nullptr: none yet
  std::vector<VectorIndexSource> sources;  // what was merged, in row order; empty: no index is to be reused
  uint32_t threads = 1;
  CancelToken* cancel = nullptr;
  // Called by one thread at a time, some times a second: KILL of the statement that waits is looked for here,
  // and then sets `cancel`.
  std::function<void(uint64_t done, uint64_t of)> progress;  // rows
};

// Builds and opens vector indexes. Implemented by the knn layer, handed to Catalog::Open. Safe to share.
//
// One file `.spknn` a chunk holds the indexes of all its vector columns; sections have the column's id as
// key.
class VectorIndexFormat {
 public:
  virtual ~VectorIndexFormat() = default;

  // The file's kind and the versions that Open reads. A chunk whose file is older does without until the next
  // merge.
  virtual SectionFileKind kind() const = 0;
  // Adds the sections of one column to the chunk's file. kCancelled, kIo and kCorrupt end the writing
  // of the chunk; after any other error it is written without indexes.
  virtual Status Build(const VectorIndexBuild& build, SectionFileWriter& file) const = 0;
  // `file` is mapped, for reading here and there. Errors name it.
  virtual Result<std::shared_ptr<const VectorIndex>> Open(std::shared_ptr<const OpenSectionFile> file,
                                                          const ColumnDefinition& column,
                                                          uint32_t row_count) const = 0;
};

}  // namespace stoa::storage
