#pragma once

#include <memory>
#include <span>
#include <vector>

#include "knn/metric.h"
#include "knn/search/vector_batch.h"
#include "storage/base/cancel_token.h"
#include "storage/column/column_reader.h"
#include "storage/table/table_snapshot.h"

namespace stoa::knn {

// Exact distances between one query and the stored vectors of rows of one part, gathered in batches; several
// vectors are worked on at a time. One thread at a time.
class ExactDistances {
 public:
  // Vectors that come from the disk are asked for so many at a time; of vectors in memory fewer are gathered,
  // which stay in the cache of the core where the column copies them.
  static constexpr size_t kBatchRows = 256;
  static constexpr size_t kWarmBatchRows = 64;

  static Result<ExactDistances> Open(const storage::TablePart& part, const storage::ColumnDefinition& column);

  // distances[i] of rows[i] (ascending): the nearest vector's when a row has several, not a number when it
  // has none; +infinity when the sums overflow. `query` has column.knn->dims floats.
  Status Of(std::span<const RowId> rows, const float* query, const CancelToken* cancel,
            std::span<float> distances);

 private:
  ExactDistances(std::unique_ptr<storage::ColumnReader> reader, const storage::ColumnDefinition& column);
  Status Batch(std::span<const RowId> rows, const float* query, std::span<float> distances);

  std::unique_ptr<storage::ColumnReader> reader_;
  Metric metric_;
  size_t dims_;
  VectorBatch batch_;
  size_t batch_rows_ = kWarmBatchRows;  // of the next batch
  std::vector<float> found_;
};

}  // namespace stoa::knn
