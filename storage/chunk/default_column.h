#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "storage/column/column_reader.h"

namespace stoa::storage {

// A column whose every row has the default value: 0, 0.0 or no bytes. One thread at a time.
class DefaultColumnReader : public ColumnReader {
 public:
  explicit DefaultColumnReader(ColumnType type) : type_(type) {}

  ColumnType type() const override { return type_; }
  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override;
  Status ReadFloats(std::span<const RowId> rows, std::span<float> values) override;
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override;
  // One value is tested, whatever the block.
  Status Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) override;

 private:
  Status CheckLane(Lane lane) const;

  ColumnType type_;
};

}  // namespace stoa::storage
