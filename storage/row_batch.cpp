#include "storage/row_batch.h"

namespace stoa::storage {

size_t ColumnValues::size() const {
  switch (LaneOf(type)) {
    case Lane::kInt:
      return ints.size();
    case Lane::kFloat:
      return floats.size();
    case Lane::kBytes:
      break;
  }
  return offsets.size() - 1;
}

void ColumnValues::AppendDefault() {
  switch (LaneOf(type)) {
    case Lane::kInt:
      AppendInt(0);
      break;
    case Lane::kFloat:
      AppendFloat(0);
      break;
    case Lane::kBytes:
      AppendBytes({});
      break;
  }
}

}  // namespace stoa::storage
