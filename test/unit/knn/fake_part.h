#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "knn/index/hnsw_format.h"
#include "knn/index/hnsw_index.h"
#include "storage/base/memory_env.h"
#include "storage/table/table_snapshot.h"

namespace stoa::knn {

// Values of one column in memory: vectors (empty: none) or document ids.
class FakeReader : public storage::ColumnReader {
 public:
  FakeReader(storage::ColumnType type, const std::vector<std::string>* values,
             const std::vector<int64_t>* ids)
      : type_(type), values_(values), ids_(ids) {}

  storage::ColumnType type() const override { return type_; }
  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      values[i] = (*ids_)[rows[i].value];
    }
    return Status::Ok();
  }
  Status ReadFloats(std::span<const RowId>, std::span<float>) override { return InternalError("no floats"); }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   storage::ReadBuffer&) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      values[i] = (*values_)[rows[i].value];
    }
    return Status::Ok();
  }

 private:
  storage::ColumnType type_;
  const std::vector<std::string>* values_;
  const std::vector<int64_t>* ids_;
};

// A disk chunk as a search sees it: vectors, ids, deleted rows, an index.
class FakePart : public storage::TablePart {
 public:
  std::vector<std::string> vectors;
  std::vector<int64_t> ids;
  std::shared_ptr<const storage::DeleteMap> deletes = std::make_shared<const storage::DeleteMap>();
  std::shared_ptr<const storage::VectorIndex> index;
  std::vector<RowId> patched;

  uint32_t row_count() const override { return static_cast<uint32_t>(vectors.size()); }
  const storage::DeleteMap& deleted() const override { return *deletes; }
  Result<std::optional<RowId>> FindDocument(DocId) const override { return std::optional<RowId>(); }
  Result<std::unique_ptr<storage::ColumnReader>> Column(
      const storage::ColumnDefinition& column) const override {
    return std::unique_ptr<storage::ColumnReader>(std::make_unique<FakeReader>(column.type, &vectors, &ids));
  }
  bool is_disk_chunk() const override { return true; }
  uint64_t ram_bytes() const override { return 0; }
  const storage::VectorIndex* vector_index(const storage::ColumnDefinition&) const override {
    return index.get();
  }
  std::vector<RowId> PatchedRows(ColumnId) const override { return patched; }
};

inline storage::ColumnDefinition VectorColumnOf(
    uint32_t dims, const std::string& similarity, const std::string& quantization,
    storage::ColumnType type = storage::ColumnType::kFloatVector) {
  storage::ColumnDefinition column;
  column.id = ColumnId(1);
  column.name.assign(1, 'v');
  column.type = type;
  column.knn = storage::KnnOptions{.dims = dims, .similarity = similarity, .quantization = quantization};
  return column;
}

// Vectors as embeddings are: they vary in few directions, and a little in all. Normalised for cosine.
class VectorSource {
 public:
  VectorSource(const storage::ColumnDefinition& column, uint32_t seed) : column_(column), random_(seed) {
    for (int i = 0; i < 12; ++i) {
      directions_.push_back(Gauss(1));
    }
  }
  std::vector<float> Next() {
    std::vector<float> vector = Gauss(0.2f);
    for (const std::vector<float>& direction : directions_) {
      const float length = normal_(random_);
      for (size_t d = 0; d < vector.size(); ++d) {
        vector[d] += length * direction[d];
      }
    }
    if (column_.knn->similarity == "cosine") {
      double square = 0;
      for (const float value : vector) {
        square += double{value} * value;
      }
      for (float& value : vector) {
        value = static_cast<float>(value / std::sqrt(square));
      }
    }
    return vector;
  }
  std::string NextBytes() {
    const std::vector<float> vector = Next();
    return {reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)};
  }

 private:
  std::vector<float> Gauss(float width) {
    std::vector<float> vector(column_.knn->dims);
    std::generate(vector.begin(), vector.end(), [&] { return width * normal_(random_); });
    return vector;
  }

  const storage::ColumnDefinition column_;
  std::mt19937 random_;
  std::normal_distribution<float> normal_;
  std::vector<std::vector<float>> directions_;
};

}  // namespace stoa::knn
