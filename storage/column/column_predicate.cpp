#include "storage/column/column_predicate.h"

namespace stoa::storage {

Lane ColumnPredicate::lane() const {
  if (std::holds_alternative<FloatRange>(test)) {
    return Lane::kFloat;
  }
  const bool is_bytes = std::holds_alternative<BytesSet>(test) || std::holds_alternative<BytesTest>(test);
  return is_bytes ? Lane::kBytes : Lane::kInt;
}

}  // namespace stoa::storage
