#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/value.h"
#include "storage/column/column_reader.h"

namespace stoa::sql {

inline constexpr size_t kBatchRows = 1024;  // most rows of a batch

enum class VectorLane : uint8_t { kInt, kReal, kBytes };
VectorLane LaneOf(ValueType type);

// The values of one expression or column for the rows of a batch, of one type. By lane:
//   kInt   ints    kNull, kInt (0 … 2^32-1), kBigint, kUint64 (as bits)
//   kReal  reals   kFloat (each value is a float exactly), kDouble
//   kBytes texts   the rest; a text points into a snapshot, a constant, or this vector's own strings
// A value may be SQL NULL (JSON, LEFT JOIN); its lane value is then 0, 0.0 or empty. One thread at a time.
class Vector {
 public:
  explicit Vector(ValueType type = ValueType::kNull) : type_(type) {}

  ValueType type() const { return type_; }
  size_t size() const { return size_; }
  // Makes it `size` values of `type`, none of them NULL, values unspecified. Old contents and own strings go.
  void Reset(ValueType type, size_t size);

  std::span<int64_t> ints() { return ints_; }
  std::span<const int64_t> ints() const { return ints_; }
  std::span<double> reals() { return reals_; }
  std::span<const double> reals() const { return reals_; }
  std::span<std::string_view> texts() { return texts_; }
  std::span<const std::string_view> texts() const { return texts_; }

  bool has_nulls() const { return !nulls_.empty(); }
  bool IsNull(size_t row) const { return !nulls_.empty() && nulls_[row] != 0; }
  void SetNull(size_t row);
  // Puts `value`, of this type or NULL, at `row`; its bytes stay the caller's.
  void Set(size_t row, const Value& value);

  // Keeps the values at `rows`, which ascend, and drops the others.
  void Keep(std::span<const uint32_t> rows);

  // Keeps `text` as long as this vector holds its contents.
  std::string_view Own(std::string text);
  storage::ReadBuffer& buffer() { return buffer_; }

  // The value at `row`, with its own bytes.
  Value At(size_t row) const;

 private:
  ValueType type_;
  size_t size_ = 0;
  std::vector<int64_t> ints_;
  std::vector<double> reals_;
  std::vector<std::string_view> texts_;
  std::vector<uint8_t> nulls_;
  std::deque<std::string> owned_;
  storage::ReadBuffer buffer_;
};

}  // namespace stoa::sql
