#include "knn/search/exact_distances.h"

#include <algorithm>
#include <limits>

#include "knn/kernels/float_distance.h"

namespace stoa::knn {

using storage::ColumnDefinition;

Result<ExactDistances> ExactDistances::Open(const storage::TablePart& part, const ColumnDefinition& column) {
  ASSIGN_OR_RETURN(std::unique_ptr<storage::ColumnReader> reader, part.Column(column));
  return ExactDistances(std::move(reader), column);
}

ExactDistances::ExactDistances(std::unique_ptr<storage::ColumnReader> reader, const ColumnDefinition& column)
    : reader_(std::move(reader)),
      metric_(MetricOf(column.knn->similarity).value_or(Metric::kL2)),
      dims_(column.knn->dims),
      arrays_(column.type == storage::ColumnType::kFloatVectorArray) {}

Status ExactDistances::Of(std::span<const RowId> rows, const float* query, std::span<float> distances) {
  for (size_t first = 0; first < rows.size(); first += kBatchRows) {
    const size_t count = std::min(kBatchRows, rows.size() - first);
    RETURN_IF_ERROR(Batch(rows.subspan(first, count), query, distances.subspan(first, count)));
  }
  return Status::Ok();
}

Status ExactDistances::Batch(std::span<const RowId> rows, const float* query, std::span<float> distances) {
  buffer_.Clear();
  vectors_.clear();
  owners_.clear();
  values_.resize(rows.size());
  RETURN_IF_ERROR(reader_->ReadBytes(rows, values_, buffer_));
  for (uint32_t i = 0; i < rows.size(); ++i) {
    RETURN_IF_ERROR(AppendVectors(values_[i], i));
  }
  found_.resize(vectors_.size());
  if (metric_ == Metric::kL2) {
    SquaredDistances(query, vectors_.data(), vectors_.size(), dims_, found_.data());
  } else {
    DotProducts(query, vectors_.data(), vectors_.size(), dims_, found_.data());
  }
  std::fill(distances.begin(), distances.end(), std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < found_.size(); ++i) {
    float& distance = distances[owners_[i]];
    distance = std::min(distance, metric_ == Metric::kL2 ? found_[i] : 1 - found_[i]);
  }
  return Status::Ok();
}

Status ExactDistances::AppendVectors(std::string_view value, uint32_t row) {
  if (value.empty()) {
    return Status::Ok();
  }
  const size_t vector_bytes = dims_ * sizeof(float);
  if (arrays_) {
    value.remove_prefix(std::min(value.size(), sizeof(uint32_t)));  // dims of the vectors
  }
  if (value.size() % vector_bytes != 0 || (!arrays_ && value.size() != vector_bytes)) {
    return CorruptError("a stored vector has {} bytes, not {}", value.size(), vector_bytes);
  }
  for (size_t offset = 0; offset < value.size(); offset += vector_bytes) {
    vectors_.push_back(reinterpret_cast<const float*>(value.data() + offset));
    owners_.push_back(row);
  }
  return Status::Ok();
}

}  // namespace stoa::knn
