#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"
#include "storage/base/result.h"
#include "storage/column/column_reader.h"
#include "storage/column/file_column.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// Values of any length, in blocks of 1,024; the place of a value is found by arithmetic and one look at its
// block's ends. Two sections under one key: the directory of the blocks, and the blocks.
// docs/format/spc-texts-sets-vectors.md, "Byte blocks".
struct ByteBlocksSections {
  SpcSection directory = SpcSection::kTextOffsets;
  SpcSection blocks = SpcSection::kTextBytes;
  uint32_t key = 0;
};

// The bytes of a small section, in memory.
Result<std::string> ReadWholeSection(const OpenSectionFile& file, SpcSection kind, uint32_t key);

// Keeps one entry a block in memory. One thread at a time.
class ByteBlocksWriter {
 public:
  ByteBlocksWriter(SectionFileWriter& file, const ByteBlocksSections& sections)
      : file_(file), sections_(sections) {}

  Status Begin();
  // offsets.size() - 1 values, value i is bytes [offsets[i], offsets[i + 1]). A multiple of 1,024 values but
  // in the last call.
  Status Append(std::span<const uint64_t> offsets, std::string_view bytes);
  Status Finish();

 private:
  Status AppendBlock(std::span<const uint64_t> offsets, std::string_view bytes);

  SectionFileWriter& file_;
  ByteBlocksSections sections_;
  uint64_t size_ = 0;
  std::vector<uint64_t> entries_;
};

// Immutable, safe to share; keeps the directory in memory, 8 bytes a block.
class ByteBlocks {
 public:
  ByteBlocks() = default;
  static Result<ByteBlocks> Open(const OpenSectionFile& file, const ByteBlocksSections& sections);

  uint32_t size() const { return size_; }
  uint64_t ram_bytes() const { return entries_.capacity() * sizeof(uint64_t); }
  bool mapped() const { return bytes_.address() != nullptr; }
  const std::string& path() const { return bytes_.path(); }
  uint64_t stored_bytes() const { return bytes_.length(); }
  // Mapped: addresses in the map; else in `buffer`. A value is aligned to 8 as long as the values before it
  // in its block have lengths that are multiples of 8, likewise to 4. `items` ascend, equal ones are allowed.
  Status Read(std::span<const RowId> items, std::span<std::string_view> values, ReadBuffer& buffer) const;

  // All values, block by block: number of the first one, values.
  using Visitor = std::function<Status(uint32_t first, std::span<const std::string_view> values)>;
  Status Visit(const Visitor& visitor) const;
  // As SectionBytes::CheckReadable: for who has looked at values.
  Status CheckReadable() const { return bytes_.CheckReadable(); }
  // kCorrupt, with file, section and number of the value.
  Status Corrupt(uint32_t item, std::string_view what) const;

 private:
  // Where a block lies, by its directory entry.
  struct Block {
    uint64_t head = 0;      // offset of its ends, or of the length of all of its values
    uint64_t bytes = 0;     // offset of its values
    uint64_t capacity = 0;  // up to the next block
    uint32_t shape = 0;     // 0: values of one length; else log2 of the width of an end
    uint32_t count = 0;
  };
  Status CheckDirectory() const;
  Block BlockAt(uint32_t block) const;
  Status Locate(std::span<const RowId> items, std::span<ByteRange> places) const;
  Status LocateInBlock(const Block& block, std::string_view head, std::span<const RowId> items,
                       std::span<ByteRange> places) const;

  SectionBytes bytes_;
  ByteBlocksSections sections_;
  uint32_t size_ = 0;
  std::vector<uint64_t> entries_;  // offset of the block, its shape in the low bits; one more for the end
};

}  // namespace stoa::storage
