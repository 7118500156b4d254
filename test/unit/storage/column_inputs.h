#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/env.h"
#include "storage/column/column_input.h"
#include "storage/row_batch.h"

namespace stoa::storage::testing {

// A ColumnInput over values in memory, in pieces of `piece_rows`.
class ValuesInput : public ColumnInput {
 public:
  explicit ValuesInput(ColumnValues values, uint32_t piece_rows = 1024)
      : values_(std::move(values)), piece_rows_(piece_rows) {}

  uint32_t row_count() const override { return static_cast<uint32_t>(values_.size()); }
  const ColumnValues& values() const { return values_; }

  Status Rewind() override {
    next_ = 0;
    return Status::Ok();
  }

  Result<const ColumnValues*> Next() override {
    const size_t end = std::min<size_t>(next_ + piece_rows_, values_.size());
    if (next_ == end) {
      return static_cast<const ColumnValues*>(nullptr);
    }
    piece_ = ColumnValues{.column = values_.column, .type = values_.type};
    for (; next_ < end; ++next_) {
      Append(next_);
    }
    return &piece_;
  }

 private:
  void Append(size_t row) {
    switch (LaneOf(values_.type)) {
      case Lane::kInt:
        return piece_.AppendInt(values_.ints[row]);
      case Lane::kFloat:
        return piece_.AppendFloat(values_.floats[row]);
      case Lane::kBytes:
        return piece_.AppendBytes(values_.BytesAt(row));
    }
  }

  ColumnValues values_;
  uint32_t piece_rows_;
  size_t next_ = 0;
  ColumnValues piece_;
};

inline ColumnValues MakeInts(ColumnType type, std::vector<int64_t> ints, uint32_t id = 1) {
  ColumnValues values{.column = ColumnId(id), .type = type};
  values.ints = std::move(ints);
  return values;
}

inline ColumnValues MakeFloats(std::vector<float> floats, uint32_t id = 1) {
  ColumnValues values{.column = ColumnId(id), .type = ColumnType::kFloat};
  values.floats = std::move(floats);
  return values;
}

inline ColumnValues MakeBytes(ColumnType type, const std::vector<std::string>& all, uint32_t id = 1) {
  ColumnValues values{.column = ColumnId(id), .type = type};
  for (const std::string& one : all) {
    values.AppendBytes(one);
  }
  return values;
}

// Items of a set or vector as they are stored.
template <typename T>
std::string ItemBytes(const std::vector<T>& items) {
  return std::string(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
}

inline std::vector<RowId> RowsFrom(uint32_t first, uint32_t count, uint32_t step = 1) {
  std::vector<RowId> rows;
  for (uint32_t i = 0; i < count; ++i) {
    rows.emplace_back(first + i * step);
  }
  return rows;
}

// Writes `bytes` as a file.
inline Status PutFile(Env& env, const std::string& path, std::string_view bytes) {
  auto file = env.Create(path);
  if (!file.ok()) {
    return file.status();
  }
  const Status status = (*file)->Append(bytes);
  return status.ok() ? (*file)->Close() : status;
}

}  // namespace stoa::storage::testing
