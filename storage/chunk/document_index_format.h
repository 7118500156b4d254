#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "storage/base/result.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// How a .spt lies in its file, for its writer and its reader. docs/format/spt.md.
inline constexpr SectionFileKind kDocumentIndexKind{{'S', 'P', 'T', ' '}, kDocumentIndexFormat};

enum class SptSection : uint32_t {
  kInfo = 1,    // rows u64, least id u64, greatest id u64
  kBlocks = 2,  // one IdBlock for each kIdBlockRows ids, in id order
  kIds = 3,     // packed ids and rows
  kFilter = 4,  // block_filter.h; absent when the ids have no gap
};

inline constexpr uint32_t kIdBlockRows = 256;
inline constexpr size_t kIdBlockSize = 24;     // of an IdBlock in the file
inline constexpr uint32_t kWidestPacked = 56;  // then 64: any value is within 8 bytes from its first

// Where the ids of a block are and how they are packed. Value i of a packed list of width w is the w bits
// from bit i × w, least first. Width 0: value i is i, and takes no bytes.
struct IdBlock {
  uint64_t first = 0;     // the least id; the list of ids holds differences to it
  uint64_t offset = 0;    // of the list of ids in kIds; the list of rows follows
  uint32_t row = 0;       // the least row; the list of rows holds differences to it
  uint8_t id_width = 0;   // 0 … 56, 64
  uint8_t row_width = 0;  // 0 … 32
};

inline uint64_t PackedBytes(uint64_t count, uint32_t width) { return (count * width + 7) / 8; }

// `packed` may be read 8 bytes past the value's first byte.
inline uint64_t PackedAt(const char* packed, uint32_t width, uint32_t index) {
  if (width == 0) {
    return index;
  }
  const uint64_t bit = uint64_t{index} * width;
  uint64_t word;
  std::memcpy(&word, packed + bit / 8, sizeof(word));
  return width == 64 ? word : (word >> (bit % 8)) & ((uint64_t{1} << width) - 1);
}

}  // namespace stoa::storage
