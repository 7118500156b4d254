#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "knn/metric.h"
#include "storage/column/column_reader.h"
#include "storage/table/table_snapshot.h"

namespace stoa::knn {

// Exact distances between one query and the stored vectors of rows of one part. Vectors are gathered in
// batches: the reader asks the disk for all that is missing of a batch at once, and several vectors are
// worked on at a time. One thread at a time.
class ExactDistances {
 public:
  static constexpr size_t kBatchRows = 256;

  static Result<ExactDistances> Open(const storage::TablePart& part, const storage::ColumnDefinition& column);

  // distances[i] of rows[i] (ascending): the nearest vector's when a row has several, +infinity when it has
  // none. `query` has column.knn->dims floats.
  Status Of(std::span<const RowId> rows, const float* query, std::span<float> distances);

 private:
  ExactDistances(std::unique_ptr<storage::ColumnReader> reader, const storage::ColumnDefinition& column);
  Status Batch(std::span<const RowId> rows, const float* query, std::span<float> distances);
  Status AppendVectors(std::string_view value, uint32_t row);

  std::unique_ptr<storage::ColumnReader> reader_;
  Metric metric_;
  size_t dims_;
  bool arrays_;
  storage::ReadBuffer buffer_;
  std::vector<std::string_view> values_;
  std::vector<const float*> vectors_;
  std::vector<uint32_t> owners_;  // by vector: its row's place in the batch
  std::vector<float> found_;
};

}  // namespace stoa::knn
