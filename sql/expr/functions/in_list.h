#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/name_scope.h"
#include "sql/value.h"
#include "storage/json/json_value.h"

namespace stoa::sql {

// The constants of in(): sorted by kind once, then only searched. Immutable after Seal(), safe to share.
class InList {
 public:
  explicit InList(Collation collation) : collation_(collation) {}

  // A number, a text, or all items of a set.
  void Add(const Value& value);
  void RoundToFloat();  // constants that are compared with 32-bit floats
  void Seal();

  bool has_texts() const { return !texts_.empty(); }
  bool has_numbers() const { return !integers_.empty() || !reals_.empty(); }

  bool Contains(int64_t value) const;
  bool Contains(double value) const;
  bool Contains(std::string_view value) const;
  // By the value's own type; of an array any item.
  bool Contains(storage::JsonView value) const;

 private:
  bool ContainsScalar(storage::JsonView value) const;

  Collation collation_;
  std::vector<int64_t> integers_;
  std::vector<double> reals_;  // all numbers
  std::vector<std::string> texts_;
};

}  // namespace stoa::sql
