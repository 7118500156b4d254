#include "storage/chunk/default_column.h"

#include <algorithm>

namespace stoa::storage {

Status DefaultColumnReader::CheckLane(Lane lane) const {
  return LaneOf(type_) == lane ? Status::Ok() : InternalError("column read through the wrong lane");
}

Status DefaultColumnReader::ReadInts(std::span<const RowId> rows, std::span<int64_t> values) {
  std::fill_n(values.begin(), rows.size(), 0);
  return CheckLane(Lane::kInt);
}

Status DefaultColumnReader::ReadFloats(std::span<const RowId> rows, std::span<float> values) {
  std::fill_n(values.begin(), rows.size(), 0.0f);
  return CheckLane(Lane::kFloat);
}

Status DefaultColumnReader::ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                                      ReadBuffer&) {
  std::fill_n(values.begin(), rows.size(), std::string_view());
  return CheckLane(Lane::kBytes);
}

Status DefaultColumnReader::Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) {
  BlockBits first{1};
  RETURN_IF_ERROR(ColumnReader::Select(block, predicate, first));
  if (first[0] == 0) {
    bits.fill(0);
  }
  return Status::Ok();
}

}  // namespace stoa::storage
