#pragma once

#include <memory>
#include <span>
#include <string>

#include "storage/base/env.h"
#include "storage/base/result.h"
#include "storage/chunk/rowwise_file.h"
#include "storage/column/column_reader.h"
#include "storage/format/open_section_file.h"

namespace stoa::storage {

// features.md 3.6: docstore_block_size, docstore_compression, docstore_compression_level.
struct DocstoreOptions {
  enum class Codec : uint8_t { kNone, kLz4, kLz4hc, kZstd };
  uint32_t block_size = 16384;  // bytes of texts before compression; a longer row is a block of its own
  Codec codec = Codec::kLz4;
  int level = 9;  // kLz4hc 1 … 12, kZstd 1 … 19
};

// Uncompressed blocks of all docstores of the server, most recently used kept, at most `capacity` bytes
// (docstore_cache_size). Safe to share.
class DocstoreCache {
 public:
  explicit DocstoreCache(uint64_t capacity);
  ~DocstoreCache();
  DocstoreCache(const DocstoreCache&) = delete;
  DocstoreCache& operator=(const DocstoreCache&) = delete;

  // A number for an open docstore that no other one has.
  uint64_t NewFile();
  // nullptr when absent.
  std::shared_ptr<const std::string> Find(uint64_t file, uint64_t block) const;
  void Add(uint64_t file, uint64_t block, std::shared_ptr<const std::string> bytes);
  void Forget(uint64_t file);
  uint64_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The stored texts of one chunk (.spds): rows in compressed blocks, read by position. Immutable and safe to
// share. docs/format/spds.md.
class Docstore {
 public:
  static Status Write(std::span<const ColumnToWrite> columns, const DocstoreOptions& options,
                      WritableFile& file, ChunkId chunk);
  static Result<std::shared_ptr<const Docstore>> Open(Env& env, const std::string& path, ChunkId chunk,
                                                      std::shared_ptr<DocstoreCache> cache);
  virtual ~Docstore() = default;

  virtual uint32_t row_count() const = 0;
  virtual uint64_t text_bytes() const = 0;  // before compression; looks at every block
  virtual bool Has(ColumnId column) const = 0;
  virtual Result<std::unique_ptr<ColumnReader>> NewReader(std::shared_ptr<const Docstore> self,
                                                          ColumnId column, ColumnType type) const = 0;
  virtual const OpenSectionFile& file() const = 0;
  virtual Status Check() const = 0;
};

}  // namespace stoa::storage
