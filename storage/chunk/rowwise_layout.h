#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"
#include "storage/format/section_file.h"
#include "storage/schema.h"

namespace stoa::storage {

// Kinds of the files and numbers of their sections. docs/format/spa.md, docs/format/spb.md.
inline constexpr SectionFileKind kRowwiseKind{{'S', 'P', 'A', ' '}, kRowwiseFormat};
inline constexpr uint32_t kRowwiseLayoutSection = 1;
inline constexpr uint32_t kRowwiseRowsSection = 2;
inline constexpr SectionFileKind kBlobKind{{'S', 'P', 'B', ' '}, kBlobFormat};
inline constexpr uint32_t kBlobSection = 1;

inline constexpr uint64_t kBlobAlignment = 8;  // of each value in the .spb

// Bytes of a column in a row: 4 or 8 for numbers, 12 for a BlobReference.
uint32_t CellSizeOf(ColumnType type);

// Where a value of lane kBytes lies in the .spb: u64 offset, u32 length.
struct BlobReference {
  uint64_t offset = 0;  // a multiple of kBlobAlignment; 0 when there are no bytes
  uint32_t length = 0;

  static BlobReference Load(const char* cell);
  void Store(char* cell) const;
};

struct RowwiseColumn {
  ColumnId id;
  ColumnType type = ColumnType::kInt;
  uint32_t offset = 0;  // of its cell in the row
};

// Where the columns of a row lie. A value.
struct RowwiseLayout {
  uint32_t row_count = 0;
  uint32_t stride = 0;                 // bytes of a row
  std::vector<RowwiseColumn> columns;  // by offset

  // Wide cells first, so that a cell begins at a multiple of 4, or 8 when it has 8 bytes.
  static RowwiseLayout Plan(std::span<const ColumnDefinition* const> columns, uint32_t row_count);
  // Every cell lies inside the row and no two overlap; ids are unique.
  static Result<RowwiseLayout> Decode(std::string_view bytes);
  std::string Encode() const;

  const RowwiseColumn* Find(ColumnId column) const;  // nullptr when absent
  bool HasBlobs() const;
};

}  // namespace stoa::storage
