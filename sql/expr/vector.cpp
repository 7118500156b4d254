#include "sql/expr/vector.h"

namespace stoa::sql {

VectorLane LaneOf(ValueType type) {
  switch (type) {
    case ValueType::kNull:
    case ValueType::kInt:
    case ValueType::kBigint:
    case ValueType::kUint64:
      return VectorLane::kInt;
    case ValueType::kFloat:
    case ValueType::kDouble:
      return VectorLane::kReal;
    default:
      return VectorLane::kBytes;
  }
}

void Vector::Reset(ValueType type, size_t size) {
  type_ = type;
  size_ = size;
  nulls_.clear();
  owned_.clear();
  buffer_.Clear();
  ints_.clear();
  reals_.clear();
  texts_.clear();
  switch (LaneOf(type)) {
    case VectorLane::kInt:
      ints_.resize(size);
      break;
    case VectorLane::kReal:
      reals_.resize(size);
      break;
    case VectorLane::kBytes:
      texts_.resize(size);
      break;
  }
  if (type == ValueType::kNull) {
    nulls_.assign(size, 1);
  }
}

void Vector::SetNull(size_t row) {
  if (nulls_.empty()) {
    nulls_.assign(size_, 0);
  }
  nulls_[row] = 1;
  switch (LaneOf(type_)) {
    case VectorLane::kInt:
      ints_[row] = 0;
      break;
    case VectorLane::kReal:
      reals_[row] = 0;
      break;
    case VectorLane::kBytes:
      texts_[row] = {};
      break;
  }
}

void Vector::Set(size_t row, const Value& value) {
  if (value.is_null()) {
    SetNull(row);
    return;
  }
  switch (LaneOf(type_)) {
    case VectorLane::kInt:
      ints_[row] = value.integer;
      break;
    case VectorLane::kReal:
      reals_[row] = value.real;
      break;
    case VectorLane::kBytes:
      texts_[row] = value.bytes;
      break;
  }
}

void Vector::Keep(std::span<const uint32_t> rows) {
  const auto keep = [rows](auto& values) {
    if (!values.empty()) {
      for (size_t i = 0; i < rows.size(); ++i) {
        values[i] = values[rows[i]];
      }
      values.resize(rows.size());
    }
  };
  keep(ints_);
  keep(reals_);
  keep(texts_);
  keep(nulls_);
  size_ = rows.size();
}

std::string_view Vector::Own(std::string text) {
  owned_.push_back(std::move(text));
  return owned_.back();
}

Value Vector::At(size_t row) const {
  if (IsNull(row)) {
    return Value::Null();
  }
  Value value;
  value.type = type_;
  switch (LaneOf(type_)) {
    case VectorLane::kInt:
      value.integer = ints_[row];
      break;
    case VectorLane::kReal:
      value.real = reals_[row];
      break;
    case VectorLane::kBytes:
      value.bytes = texts_[row];
      break;
  }
  return value;
}

}  // namespace stoa::sql
