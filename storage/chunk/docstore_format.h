#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"
#include "storage/base/result.h"
#include "storage/chunk/docstore_codec.h"
#include "storage/format/section_file.h"
#include "storage/schema.h"

namespace stoa::storage {

// Kind of the file and numbers of its sections. docs/format/spds.md.
inline constexpr SectionFileKind kDocstoreKind{{'S', 'P', 'D', 'S'}, kDocstoreFormat};
inline constexpr uint32_t kDocstoreInfoSection = 1;
inline constexpr uint32_t kDocstoreBlockSection = 2;
inline constexpr uint32_t kDocstoreDirectorySection = 3;

inline constexpr uint32_t kDocstorePage = 4096;  // of the blocks: one block is read, not its neighbours

struct DocstoreColumn {
  ColumnId id;
  ColumnType type = ColumnType::kText;
};

// What a docstore says of itself. A value.
struct DocstoreInfo {
  uint32_t row_count = 0;
  BlockCodec codec = BlockCodec::kNone;
  std::vector<DocstoreColumn> columns;

  static Result<DocstoreInfo> Decode(std::string_view bytes);
  std::string Encode() const;
};

struct DocstoreBlock {
  uint32_t first_row = 0;
  uint32_t raw_size = 0;  // before compression
  uint64_t offset = 0;    // in the section of blocks; it ends where the next one starts
};

// One entry a block, and one behind the last: row count, 0, length of the section of blocks. A value.
struct DocstoreDirectory {
  std::vector<DocstoreBlock> entries;

  // Blocks follow each other without gaps in rows and bytes, none is larger than what its bytes can be of,
  // and each has room for its ends of texts.
  static Result<DocstoreDirectory> Decode(std::string_view bytes, const DocstoreInfo& info,
                                          uint64_t block_bytes);
  std::string Encode() const;

  size_t block_count() const { return entries.size() - 1; }
  uint64_t StoredSize(size_t block) const { return entries[block + 1].offset - entries[block].offset; }
  uint32_t RowsOf(size_t block) const { return entries[block + 1].first_row - entries[block].first_row; }
  // The block of a row that is not before the block `from`.
  size_t BlockOf(RowId row, size_t from) const;
};

// An uncompressed block: u32 ends of the texts, row by row, then the texts. Valid while the bytes are.
// Nothing of the bytes is trusted.
class DocstoreBlockView {
 public:
  DocstoreBlockView(std::string_view bytes, uint32_t rows, size_t columns)
      : bytes_(bytes), text_count_(uint64_t{rows} * columns), columns_(columns) {}

  // kCorrupt when the ends fall or leave the block; kInternal when it has no such row.
  Result<std::string_view> TextAt(uint32_t row, size_t column) const;
  // All ends ascend and the last one is the block's.
  Status Check() const;

 private:
  uint64_t EndAt(uint64_t text) const;
  std::string_view texts() const { return bytes_.substr(text_count_ * sizeof(uint32_t)); }

  std::string_view bytes_;  // at least all the ends: DocstoreDirectory::Decode
  uint64_t text_count_;
  size_t columns_;
};

}  // namespace stoa::storage
