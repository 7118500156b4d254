#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "storage/base/result.h"
#include "storage/column/byte_blocks.h"
#include "storage/column/column_input.h"
#include "storage/column/file_column.h"
#include "storage/column/presence_map.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// How a column of vectors lies in its file. docs/format/spc-texts-sets-vectors.md, "Vectors".
struct VectorInfo {
  bool slots = false;     // all vectors have `dims`; else byte blocks
  bool arrays = false;    // kFloatVectorArray
  bool presence = false;  // some rows have no vector
  uint32_t rows = 0;
  uint32_t slot_count = 0;
  uint32_t dims = 0;
  uint32_t stride = 0;  // bytes from slot to slot

  std::string Encode() const;
  static Result<VectorInfo> Decode(std::string_view bytes);
};

// Columns of type kFloatVector and kFloatVectorArray. Reads `input` once, or twice when a later vector has
// other dims than the first.
Status WriteVectorColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file);
Result<std::shared_ptr<const FileColumn>> OpenVectorColumn(std::shared_ptr<const OpenSectionFile> file,
                                                           ColumnId column);

// An open column of vectors; every FileColumn of the two types is one. Immutable and safe to share.
class VectorColumn : public FileColumn {
 public:
  static Result<std::shared_ptr<const VectorColumn>> Open(std::shared_ptr<const OpenSectionFile> file,
                                                          ColumnId column);

  ColumnType type() const override;
  uint32_t row_count() const override { return info_.rows; }
  uint64_t ram_bytes() const override { return values_.ram_bytes() + presence_.ram_bytes(); }
  std::unique_ptr<ColumnReader> NewReader(std::shared_ptr<const FileColumn> self,
                                          ColumnType type) const override;
  Status Check() const override;

  // Of all vectors; 0 when there is none, when they differ or when the column holds arrays of vectors.
  uint32_t dims() const { return info_.dims; }
  // Vectors of dims() floats, aligned to 64 bytes; nullptr for rows without one. Rows ascend, equal ones are
  // allowed. What is not in memory is asked of the disk together, 256 rows at a time. kUnsupported when the
  // vectors have no common dims.
  Status ReadVectors(std::span<const RowId> rows, std::span<const float*> vectors, ReadBuffer& buffer) const;
  // ReadBytes of a ColumnReader.
  Status Read(std::span<const RowId> rows, std::span<std::string_view> values, ReadBuffer& buffer) const;

  // Mapped, and dims() > 0: the vector of slot s is at base() + s × stride(). Nothing of it has been checked
  // against its checksum; ReadVectors does that. Else nullptr.
  const float* base() const;
  uint32_t stride() const { return info_.stride / static_cast<uint32_t>(sizeof(float)); }  // in floats
  // Slots are in row order: the slot of a row that has a vector is its rank.
  const PresenceMap& presence() const { return presence_; }

 private:
  Status OpenSlots(const OpenSectionFile& file);
  Status OpenBlocks(const OpenSectionFile& file);
  Status ReadSlots(std::span<const RowId> rows, std::span<std::string_view> values, ReadBuffer& buffer) const;
  Status CheckSlots() const;
  Status CheckValue(uint32_t row, std::string_view value) const;

  VectorInfo info_;
  uint32_t key_ = 0;
  SectionBytes slots_;
  PresenceMap presence_;
  ByteBlocks values_;
};

}  // namespace stoa::storage
