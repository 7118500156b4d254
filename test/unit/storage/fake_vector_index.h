#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/crc32c.h"
#include "storage/vector/vector_index.h"

namespace stoa::storage::testing {

// Of the bytes of a vector; 0: the row has none.
inline uint32_t SumOf(std::string_view vector) { return vector.empty() ? 0 : (Crc32c(vector) | 1); }

// A code is the sum of the vector and the number of the quantiser.
class FakeQuantizer : public VectorQuantizer {
 public:
  FakeQuantizer(uint64_t id, uint32_t dims) : id_(id), dims_(dims) {}

  uint64_t id() const override { return id_; }
  uint32_t code_bytes() const override { return 16; }
  void EncodeVectors(std::span<const float* const> vectors, uint8_t* codes, size_t stride) const override {
    for (size_t i = 0; i < vectors.size(); ++i) {
      const std::string_view bytes(reinterpret_cast<const char*>(vectors[i]), dims_ * sizeof(float));
      const uint64_t code[2] = {SumOf(bytes), id_};
      std::memcpy(codes + i * stride, code, sizeof(code));
    }
    encoded += vectors.size();
  }

  mutable std::atomic<uint64_t> encoded{0};

 private:
  uint64_t id_;
  uint32_t dims_;
};

// Knows the sum of each row's vector when the index was built.
class FakeVectorIndex : public VectorIndex {
 public:
  std::shared_ptr<const VectorQuantizer> quantizer() const override { return trained; }
  uint64_t ram_bytes() const override { return sums.size() * sizeof(sums[0]); }
  Status Check() const override { return Status::Ok(); }

  std::shared_ptr<const FakeQuantizer> trained;
  std::vector<uint32_t> sums;
};

// Builds indexes that say exactly which vectors they were built of; holds what it is told against what it
// reads.
class FakeVectorIndexFormat : public VectorIndexFormat {
 public:
  SectionFileKind kind() const override {
    return {{'T', 'E', 'S', 'T'},
            {.kind = "vector index", .oldest_readable = oldest_version, .current = version}};
  }

  Status Build(const VectorIndexBuild& build, SectionFileWriter& file) const override {
    ++builds;
    threads = build.threads;
    if (during_build) {
      during_build(build);
    }
    RETURN_IF_ERROR(failure);
    FakeVectorIndex index;
    ASSIGN_OR_RETURN(index.sums, ReadSums(build));
    CheckSources(build, index.sums);
    uint64_t quantizer = build.quantizer != nullptr ? build.quantizer->id() : 0;
    if (quantizer == 0 && index.sums.size() >= kRowsToTrain) {
      quantizer = ++trained;
    }
    std::string bytes;
    ByteWriter writer(bytes);
    writer.Write<uint64_t>(quantizer);
    for (const uint32_t sum : index.sums) {
      writer.Write<uint32_t>(sum);
    }
    build.progress(build.row_count, build.row_count);
    return file.AddSection(1, build.column->id.value, bytes);
  }

  Result<std::shared_ptr<const VectorIndex>> Open(std::shared_ptr<const OpenSectionFile> file,
                                                  const ColumnDefinition& column,
                                                  uint32_t row_count) const override {
    ++opens;
    ASSIGN_OR_RETURN(const SectionBytes section, file->Section(1, column.id.value));
    ReadBuffer buffer;
    ASSIGN_OR_RETURN(const std::string_view bytes, section.Read(0, section.length(), buffer));
    ByteReader reader(bytes, 0);
    auto index = std::make_shared<FakeVectorIndex>();
    ASSIGN_OR_RETURN(const uint64_t quantizer, reader.Read<uint64_t>());
    if (quantizer != 0) {
      index->trained = std::make_shared<const FakeQuantizer>(quantizer, column.knn->dims);
    }
    for (uint32_t row = 0; row < row_count; ++row) {
      ASSIGN_OR_RETURN(const uint32_t sum, reader.Read<uint32_t>());
      index->sums.push_back(sum);
    }
    return std::shared_ptr<const VectorIndex>(std::move(index));
  }

  static constexpr size_t kRowsToTrain = 10;

  uint32_t version = 1;
  uint32_t oldest_version = 1;
  Status failure;
  std::function<void(const VectorIndexBuild&)> during_build;
  // What it saw.
  mutable std::atomic<int> builds{0};
  mutable std::atomic<int> opens{0};
  mutable std::atomic<uint32_t> threads{0};
  mutable std::atomic<uint64_t> trained{0};
  mutable std::atomic<int> reused{0};  // rows that a source mapped
  mutable std::atomic<int> wrong{0};   // of them those whose vector is another one

 private:
  static Result<std::vector<uint32_t>> ReadSums(const VectorIndexBuild& build) {
    std::vector<uint32_t> sums;
    ASSIGN_OR_RETURN(const std::unique_ptr<ColumnReader> reader, build.new_reader());
    for (uint32_t row = 0; row < build.row_count; ++row) {
      ReadBuffer buffer;
      const RowId rows[] = {RowId(row)};
      std::string_view values[1];
      RETURN_IF_ERROR(reader->ReadBytes(rows, values, buffer));
      sums.push_back(SumOf(values[0]));
    }
    return sums;
  }

  void CheckSources(const VectorIndexBuild& build, const std::vector<uint32_t>& sums) const {
    std::vector<bool> named(sums.size());
    for (const VectorIndexSource& source : build.sources) {
      if (source.index == nullptr) {
        continue;
      }
      const auto& old = static_cast<const FakeVectorIndex&>(*source.index);
      for (size_t row = 0; row < source.new_rows.size(); ++row) {
        const uint32_t next = source.new_rows[row];
        if (next == kNoRow) {
          continue;
        }
        ++reused;
        wrong += next >= sums.size() || named[next] || old.sums[row] != sums[next] ? 1 : 0;
        named[next] = true;
      }
    }
  }
};

}  // namespace stoa::storage::testing
