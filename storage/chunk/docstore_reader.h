#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/chunk/docstore.h"
#include "storage/chunk/docstore_format.h"
#include "storage/column/column_reader.h"
#include "storage/format/open_section_file.h"

namespace stoa::storage {

// A block that a batch of rows needs.
struct BlockUse {
  size_t block = 0;
  size_t rows_end = 0;  // of the batch: its rows end here, and begin where the last one's end
  std::shared_ptr<const std::string> bytes;  // uncompressed; nullptr until loaded
};

// An open docstore as its readers see it. Immutable and safe to share.
class BlockStore {
 public:
  static Result<std::shared_ptr<const BlockStore>> Open(Env& env, const std::string& path, ChunkId chunk,
                                                        std::shared_ptr<DocstoreCache> cache);
  BlockStore() = default;
  ~BlockStore();  // forgets its blocks in the cache
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;

  const OpenSectionFile& file() const { return *file_; }
  const DocstoreInfo& info() const { return info_; }
  const DocstoreDirectory& directory() const { return directory_; }
  const DocstoreColumn* Find(ColumnId column) const;  // nullptr when absent

  // Fills in the bytes of blocks that have none: from the cache, or all from the file at once.
  Status Load(std::span<BlockUse> uses) const;
  DocstoreBlockView View(const BlockUse& use) const;  // of a loaded block
  Status BlockError(size_t block, const Status& status) const;
  Status Check() const;

 private:
  Status ReadDirectory();
  Result<std::shared_ptr<const std::string>> Decompress(size_t block, std::string_view stored) const;
  Status CheckTexts(const BlockUse& use) const;

  std::shared_ptr<const OpenSectionFile> file_;
  SectionBytes blocks_;
  DocstoreInfo info_;
  DocstoreDirectory directory_;
  std::shared_ptr<DocstoreCache> cache_;  // nullptr: none
  uint64_t cache_number_ = 0;
};

// Reads one column of a docstore. Keeps the block it read last, so that rows in order are decompressed once
// even without a cache. One thread at a time.
class DocstoreReader : public ColumnReader {
 public:
  DocstoreReader(std::shared_ptr<const BlockStore> store, size_t column, ColumnType type)
      : store_(std::move(store)), column_(column), type_(type) {}

  ColumnType type() const override { return type_; }
  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override;
  Status ReadFloats(std::span<const RowId> rows, std::span<float> values) override;
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override;

 private:
  // Sets `uses_` to the blocks of the first rows, as many as are held in memory at a time; returns the number
  // of these rows.
  size_t PlanGroup(std::span<const RowId> rows);
  Status FindTexts(std::span<const RowId> rows, std::span<std::string_view> values) const;
  void KeepLast();

  std::shared_ptr<const BlockStore> store_;
  size_t column_;
  ColumnType type_;
  std::vector<BlockUse> uses_;
  BlockUse last_;
};

}  // namespace stoa::storage
