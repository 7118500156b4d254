#include "storage/chunk/stored_value.h"

#include <cstring>

#include "storage/json/json_value.h"

namespace stoa::storage {
namespace {

template <typename T>
T ItemAt(std::string_view bytes, size_t index) {
  T item;
  std::memcpy(&item, bytes.data() + index * sizeof(T), sizeof(T));
  return item;
}

template <typename T>
Status CheckAscending(std::string_view bytes) {
  for (size_t i = 1; i < bytes.size() / sizeof(T); ++i) {
    if (ItemAt<T>(bytes, i - 1) >= ItemAt<T>(bytes, i)) {
      return CorruptError("item {} of a set is not above the one before", i);
    }
  }
  return Status::Ok();
}

// Unsigned 32 bits, the same set as kInt values.
bool IsNarrowInt(ColumnType type) {
  return type == ColumnType::kInt || type == ColumnType::kBool || type == ColumnType::kTimestamp;
}

bool IsText(ColumnType type) { return type == ColumnType::kText || type == ColumnType::kString; }

}  // namespace

uint32_t AlignmentOf(ColumnType type) {
  switch (type) {
    case ColumnType::kMulti64:
      return sizeof(int64_t);
    case ColumnType::kMulti:
    case ColumnType::kFloatVector:
    case ColumnType::kFloatVectorArray:
      return sizeof(uint32_t);
    default:
      return 1;
  }
}

bool IsLengthOf(ColumnType type, uint64_t length) { return length % AlignmentOf(type) == 0; }

Status CheckStoredValue(ColumnType type, std::string_view bytes) {
  if (!IsLengthOf(type, bytes.size())) {
    return CorruptError("a value has {} bytes, not a multiple of {}", bytes.size(), AlignmentOf(type));
  }
  if (bytes.empty()) {
    return Status::Ok();
  }
  switch (type) {
    case ColumnType::kMulti:
      return CheckAscending<uint32_t>(bytes);
    case ColumnType::kMulti64:
      return CheckAscending<int64_t>(bytes);
    case ColumnType::kFloatVectorArray: {
      const uint64_t dims = ItemAt<uint32_t>(bytes, 0);
      const uint64_t floats = bytes.size() / sizeof(float) - 1;
      return dims > 0 && floats % dims == 0
                 ? Status::Ok()
                 : CorruptError("{} floats are no whole vectors of {}", floats, dims);
    }
    case ColumnType::kJson:
      return JsonView(bytes).exists() ? Status::Ok() : CorruptError("a value is no stored JSON");
    default:
      return Status::Ok();
  }
}

bool CanReadAs(ColumnType stored, ColumnType wanted) {
  if (stored == wanted) {
    return true;
  }
  return (IsNarrowInt(stored) && (IsNarrowInt(wanted) || wanted == ColumnType::kBigint)) ||
         (IsText(stored) && IsText(wanted));
}

}  // namespace stoa::storage
