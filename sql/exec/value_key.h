#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "sql/bind/name_scope.h"
#include "sql/expr/collation.h"
#include "sql/expr/vector.h"
#include "storage/json/json_value.h"

namespace stoa::sql {

// Bytes by which values are told apart when grouped: equal bytes, equal value. Texts by their collation, JSON
// by its stored form; NULL is the empty key, which no value has.

// Sets and JSON arrays are grouped by their items.
inline bool IsExpandable(ValueType type) {
  return type == ValueType::kMulti || type == ValueType::kMulti64 || type == ValueType::kJson;
}

inline void AppendNumberKey(const void* value, size_t size, std::string& key) {
  key.push_back('n');
  key.append(static_cast<const char*>(value), size);
}

// SQL NULL, or a JSON null.
inline bool IsNullValue(const Vector& values, size_t row) {
  return values.IsNull(row) ||
         (values.type() == ValueType::kJson && storage::JsonView(values.texts()[row]).is_null());
}

// The key of the value at `row` as a whole.
inline void AppendKey(const Vector& values, size_t row, Collation collation, std::string& key) {
  if (IsNullValue(values, row)) {
    return;
  }
  switch (LaneOf(values.type())) {
    case VectorLane::kInt:
      AppendNumberKey(&values.ints()[row], sizeof(int64_t), key);
      return;
    case VectorLane::kReal: {
      const double value = values.reals()[row] == 0 ? 0.0 : values.reals()[row];  // -0 is 0
      AppendNumberKey(&value, sizeof(value), key);
      return;
    }
    case VectorLane::kBytes:
      break;
  }
  key.push_back('t');
  if (values.type() == ValueType::kString || values.type() == ValueType::kText) {
    AppendFoldKey(collation, values.texts()[row], key);
  } else {
    key.append(values.texts()[row]);
  }
}

// Calls `visit(std::string_view key)` for the value, or for each item of a set or JSON array (not at all when
// empty).
template <typename Visitor>
void ForEachKey(const Vector& values, size_t row, Collation collation, Visitor&& visit) {
  const ValueType type = values.type();
  std::string key;
  if (type == ValueType::kMulti || type == ValueType::kMulti64) {
    const size_t width = type == ValueType::kMulti ? 4 : 8;
    const std::string_view items = values.texts()[row];
    for (size_t at = 0; at + width <= items.size(); at += width) {
      int64_t item = 0;
      std::memcpy(&item, items.data() + at, width);
      key.clear();
      AppendNumberKey(&item, sizeof(item), key);
      visit(std::string_view(key));
    }
    return;
  }
  if (type == ValueType::kJson && !values.IsNull(row)) {
    const storage::JsonView json(values.texts()[row]);
    if (json.kind() == storage::JsonKind::kArray) {
      for (size_t i = 0; i < json.size(); ++i) {
        key.clear();
        key.push_back('t');
        key.append(json.At(i).bytes());
        visit(std::string_view(key));
      }
      return;
    }
  }
  AppendKey(values, row, collation, key);
  visit(std::string_view(key));
}

}  // namespace stoa::sql
