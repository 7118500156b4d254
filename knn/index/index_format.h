#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/result.h"
#include "storage/format/section_file.h"

namespace stoa::knn {

// The file `.spknn`: vector indexes of a chunk. docs/format/spknn.md.
inline constexpr storage::SectionFileKind kIndexFile{
    .code = {'k', 'n', 'n', '1'},
    .versions = {.kind = "vector index file", .oldest_readable = 1, .current = 1}};

// Kinds of its sections; the key is the column's id.
inline constexpr uint32_t kInfoSection = 1;
inline constexpr uint32_t kQuantizerSection = 2;
inline constexpr uint32_t kNodesSection = 3;
inline constexpr uint32_t kNodeRowsSection = 4;  // absent: node n is row n
inline constexpr uint32_t kUpperNodesSection = 5;
inline constexpr uint32_t kUpperStartsSection = 6;
inline constexpr uint32_t kUpperListsSection = 7;

enum class IndexContents : uint8_t {
  kNothing = 0,  // too few vectors for a quantiser: they are compared as they are
  kCodes = 1,    // codes without links: they are scanned
  kGraph = 2,
};

// The section kInfoSection.
struct IndexInfo {
  IndexContents contents = IndexContents::kNothing;
  uint32_t row_count = 0;   // of the chunk
  uint32_t node_count = 0;  // vectors
  uint32_t m = 0;           // kGraph only
  uint32_t link_bytes = 3;
  uint32_t code_bytes = 0;
  uint32_t entry_node = 0xffffffff;
  uint32_t upper_entry = 0xffffffff;

  std::string Encode() const;
  // kCorrupt, without a path.
  static Result<IndexInfo> Decode(std::string_view bytes);
};

}  // namespace stoa::knn
