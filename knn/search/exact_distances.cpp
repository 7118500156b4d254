#include "knn/search/exact_distances.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "knn/kernels/float_distance.h"
#include "storage/base/disk_reads.h"

namespace stoa::knn {

using storage::ColumnDefinition;

namespace {

constexpr float kNoVector = std::numeric_limits<float>::quiet_NaN();

}  // namespace

Result<ExactDistances> ExactDistances::Open(const storage::TablePart& part, const ColumnDefinition& column) {
  ASSIGN_OR_RETURN(std::unique_ptr<storage::ColumnReader> reader, part.Column(column));
  return ExactDistances(std::move(reader), column);
}

ExactDistances::ExactDistances(std::unique_ptr<storage::ColumnReader> reader, const ColumnDefinition& column)
    : reader_(std::move(reader)),
      metric_(MetricOf(column.knn->similarity).value_or(Metric::kL2)),
      dims_(column.knn->dims),
      batch_(column) {}

Status ExactDistances::Of(std::span<const RowId> rows, const float* query, const CancelToken* cancel,
                          std::span<float> distances) {
  for (size_t first = 0; first < rows.size();) {
    if (cancel != nullptr) {
      RETURN_IF_ERROR(cancel->Check());
    }
    const size_t count = std::min(batch_rows_, rows.size() - first);
    const DiskReads before = ThreadDiskReads();
    RETURN_IF_ERROR(Batch(rows.subspan(first, count), query, distances.subspan(first, count)));
    batch_rows_ = (ThreadDiskReads() - before).batches > 0 ? kBatchRows : kWarmBatchRows;
    first += count;
  }
  return Status::Ok();
}

Status ExactDistances::Batch(std::span<const RowId> rows, const float* query, std::span<float> distances) {
  RETURN_IF_ERROR(batch_.Read(*reader_, rows));
  const std::span<const float* const> vectors = batch_.vectors();
  found_.resize(vectors.size());
  if (metric_ == Metric::kL2) {
    SquaredDistances(query, vectors.data(), vectors.size(), dims_, found_.data());
  } else {
    DotProducts(query, vectors.data(), vectors.size(), dims_, found_.data());
  }
  std::fill(distances.begin(), distances.end(), kNoVector);
  for (size_t i = 0; i < found_.size(); ++i) {
    const float computed = metric_ == Metric::kL2 ? found_[i] : 1 - found_[i];
    // Sums of huge components may be no number: as far away as can be.
    const float value = std::isnan(computed) ? std::numeric_limits<float>::infinity() : computed;
    float& distance = distances[batch_.owners()[i]];
    distance = distance <= value ? distance : value;
  }
  return Status::Ok();
}

}  // namespace stoa::knn
