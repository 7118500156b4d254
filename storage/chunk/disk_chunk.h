#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/base/cancel_token.h"
#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/chunk/docstore.h"
#include "storage/chunk/document_index.h"
#include "storage/chunk/rowwise_file.h"
#include "storage/column/file_column.h"
#include "storage/format/open_section_file.h"
#include "storage/schema.h"
#include "storage/table/table_snapshot.h"
#include "storage/vector/vector_index.h"

namespace stoa::storage {

// Size and residency of one file of a chunk, for `t.@files`, SHOW TABLE STATUS.
struct ChunkFileInfo {
  std::string name;  // "chunk.7.spc"
  uint64_t bytes = 0;
  uint64_t mapped_bytes = 0;    // 0: not mapped
  uint64_t resident_bytes = 0;  // of the mapping
};

// What the chunk's header says. docs/format/sph.md.
struct ChunkHeader {
  ChunkId id;
  uint32_t row_count = 0;
  TableDefinition definition;  // when it was written: which columns, and where they lie
  int64_t created = 0;         // Unix seconds
  uint64_t merged_from = 0;    // number of chunks; 0: from the RAM part
};

// The immutable files of one disk chunk, open. What changes (deleted rows, patches) is in ChunkView. Safe to
// share. The files stay readable after they were removed by name.
class DiskChunk {
 public:
  struct Options {
    AccessMode columnar_access = AccessMode::kMmap;
    std::shared_ptr<DocstoreCache> docstore_cache;
    std::shared_ptr<const VectorIndexFormat> vector_index_format;  // nullptr: without vector indexes
    // The same chunk, open: its vector indexes are taken over.
    std::shared_ptr<const DiskChunk> reopened;
  };
  // Every file's header, table and size is checked; contents when they are first read. kCorrupt names the
  // file. A .spknn that cannot be opened is warned of and left out.
  static Result<std::shared_ptr<const DiskChunk>> Open(Env& env, const std::string& folder, ChunkId id,
                                                       const Options& options);
  virtual ~DiskChunk() = default;

  virtual const ChunkHeader& header() const = 0;
  virtual const std::string& folder() const = 0;
  virtual uint32_t row_count() const = 0;
  virtual const DocumentIndex& documents() const = 0;
  // A column of the table's newest definition. Rows of a chunk that is older than the column read as its
  // default.
  virtual Result<std::unique_ptr<ColumnReader>> NewReader(std::shared_ptr<const DiskChunk> self,
                                                          const ColumnDefinition& column) const = 0;
  // nullptr: the chunk is older than the column, or its index could not be opened.
  virtual const VectorIndex* vector_index(ColumnId) const { return nullptr; }
  virtual AccessMode columnar_access() const = 0;
  virtual uint64_t disk_bytes() const = 0;
  virtual uint64_t ram_bytes() const = 0;
  virtual uint64_t text_bytes() const { return 0; }  // of stored texts, before compression
  // A part of a mapping could not be read, so that it is of no use any more: the chunk is to be opened again.
  virtual bool has_failed() const { return false; }
  virtual std::vector<ChunkFileInfo> Files() const = 0;
  // The files that stay open, with their suffixes.
  virtual void VisitFiles(const std::function<void(const std::string&, const OpenSectionFile&)>&) const {}
  // Every checksum and cross-reference; the first fault with file and offset.
  virtual Status Check() const = 0;
};

// "chunk.7.spc"
std::string ChunkFileName(ChunkId id, std::string_view suffix);
// The chunk a file name belongs to, also of a temporary file; nullopt: none.
std::optional<ChunkId> ChunkOfFileName(std::string_view name);

// What a new chunk's vector indexes are made with.
struct VectorIndexInput {
  std::shared_ptr<const VectorIndexFormat> format;  // nullptr: none are made
  std::shared_ptr<const TableQuantizers> quantizers;
  uint32_t threads = 1;
  bool anew = false;  // nothing is taken from the indexes of the parts
};

// Rows of a part that go into a new chunk: those that are not deleted in this view.
struct ChunkWriteInput {
  std::vector<std::shared_ptr<const TablePart>> parts;  // rows keep this order
  std::shared_ptr<const TableDefinition> definition;
  ChunkId id;
  int64_t created = 0;
  uint64_t merged_from = 0;
  DocstoreOptions docstore;
  VectorIndexInput vector_indexes;
  CancelToken* cancel = nullptr;                                  // polled between blocks
  std::function<void(uint64_t done_rows, uint64_t of)> progress;  // rows × columns
};

// Writes the files of a chunk to `folder` under their names (temporary name, sync, rename, sync of the folder
// at the end). After an error no file of the chunk is left, unless removing failed too. Memory: some blocks
// of one column, its dictionary, and 12 bytes a row.
Status WriteChunk(Env& env, const std::string& folder, const ChunkWriteInput& input);
Status RemoveChunkFiles(Env& env, const std::string& folder, ChunkId id);

}  // namespace stoa::storage
