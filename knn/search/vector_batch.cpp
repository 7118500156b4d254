#include "knn/search/vector_batch.h"

namespace stoa::knn {

VectorBatch::VectorBatch(const storage::ColumnDefinition& column)
    : vector_bytes_(column.knn->dims * sizeof(float)),
      arrays_(column.type == storage::ColumnType::kFloatVectorArray) {}

Status VectorBatch::Read(storage::ColumnReader& reader, std::span<const RowId> rows) {
  buffer_.Clear();
  vectors_.clear();
  owners_.clear();
  values_.resize(rows.size());
  RETURN_IF_ERROR(reader.ReadBytes(rows, values_, buffer_));
  for (uint32_t i = 0; i < rows.size(); ++i) {
    RETURN_IF_ERROR(Append(values_[i], i, rows[i]));
  }
  return Status::Ok();
}

Status VectorBatch::Append(std::string_view value, uint32_t place, RowId row) {
  if (value.empty()) {
    return Status::Ok();
  }
  if (arrays_) {
    value.remove_prefix(std::min(value.size(), sizeof(uint32_t)));  // dims of the vectors
  }
  if (value.size() % vector_bytes_ != 0 || (!arrays_ && value.size() != vector_bytes_)) {
    return CorruptError("row {}: a vector of {} bytes, not {}", row.value, value.size(), vector_bytes_);
  }
  for (size_t offset = 0; offset < value.size(); offset += vector_bytes_) {
    vectors_.push_back(reinterpret_cast<const float*>(value.data() + offset));
    owners_.push_back(place);
  }
  return Status::Ok();
}

}  // namespace stoa::knn
