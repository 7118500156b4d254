#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "storage/column/column_reader.h"
#include "storage/column/file_column.h"
#include "storage/column/number_format.h"
#include "storage/column/number_select.h"
#include "storage/format/open_section_file.h"

namespace stoa::storage {

// What the readers of a number column share. Immutable.
struct NumberColumnData {
  NumberInfo info;
  std::vector<NumberBlock> blocks;
  SectionBytes payloads;  // section kBlocks

  uint32_t RowsOf(uint32_t block) const { return RowsOfBlock(block, info.rows); }
};

// Rows of one block among those that are asked for together: rows[first, last).
struct RowGroup {
  uint32_t block = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

// Where the bytes of a group are: its block's payload, from the values of `first_row` on (BeginsAnywhere).
struct GroupBytes {
  const char* payload = nullptr;
  uint32_t first_row = 0;
};

// Reads a number column. One thread at a time; holds the column.
//
// Few rows of a block are found one by one, by arithmetic; many by unpacking the block. Rows that go on where
// the last ones ended are read through a cursor, whose window of the file moves along. Others, mapped: all
// addresses are known before the first is touched, so that they are asked of the disk together and
// prefetched. In file mode one ReadBatch gets the bytes of all blocks.
class NumberReader : public ColumnReader {
 public:
  NumberReader(std::shared_ptr<const FileColumn> self, const NumberColumnData& column, ColumnType type);

  ColumnType type() const override { return type_; }
  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override;
  Status ReadFloats(std::span<const RowId> rows, std::span<float> values) override;
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override;
  Status Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) override;

 private:
  enum class Verdict { kNone, kAll, kSome };

  Status CheckLane(Lane lane) const;
  template <typename AsValue, typename Value>
  Status Read(std::span<const RowId> rows, Value* values);
  template <typename AsValue, typename Value>
  Status ReadMapped(std::span<const RowId> rows, Value* values);
  template <typename AsValue, typename Value>
  Status ReadFromFile(std::span<const RowId> rows, Value* values);
  template <typename AsValue, typename Value>
  Status ReadOn(std::span<const RowId> rows, Value* values);
  Status LoadWords(std::span<const RowId> rows, const RowGroup& group, uint64_t* words);
  template <typename AsValue, typename Value>
  void ReadGroup(std::span<const RowId> rows, const RowGroup& group, const GroupBytes& bytes, Value* values);

  void SplitIntoGroups(std::span<const RowId> rows);
  bool IsDense(const RowGroup& group) const;
  bool IsScattered(const RowGroup& group) const;
  ByteRange RangeOf(std::span<const RowId> rows, const RowGroup& group, GroupBytes& bytes) const;
  Status FetchMapped(std::span<const RowId> rows);
  const char** AddressesOf(std::span<const RowId> rows, const RowGroup& group, const char** addresses) const;
  bool GoesOn() const;
  Result<std::string_view> Payload(uint32_t block);
  Result<Verdict> Test(uint32_t block, const ColumnPredicate& predicate, BlockBits& passing);

  std::shared_ptr<const FileColumn> self_;
  const NumberColumnData& column_;
  ColumnType type_;
  SectionCursor cursor_;
  std::optional<uint32_t> last_block_;  // that was read
  // Of the call that runs; members so that their memory is kept.
  std::vector<RowGroup> groups_;
  std::vector<ByteRange> ranges_;
  std::vector<GroupBytes> group_bytes_;
  std::vector<std::string_view> views_;
};

}  // namespace stoa::storage
