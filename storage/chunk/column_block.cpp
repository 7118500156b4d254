#include "storage/chunk/column_block.h"

#include <algorithm>

namespace stoa::storage {

Cell CellOf(ColumnType type) {
  switch (LaneOf(type)) {
    case Lane::kInt:
      return type == ColumnType::kBigint || type == ColumnType::kId ? Cell::kInt64 : Cell::kUint32;
    case Lane::kFloat:
      return Cell::kFloat;
    case Lane::kBytes:
      break;
  }
  return Cell::kBytes;
}

size_t CellWidth(Cell cell) {
  switch (cell) {
    case Cell::kUint32:
    case Cell::kFloat:
      return 4;
    case Cell::kInt64:
      return 8;
    case Cell::kBytes:
      break;
  }
  return sizeof(BytesCell);
}

std::shared_ptr<const StoredColumn> ColumnDirectory::Share(ColumnId id) const {
  const auto place = std::lower_bound(entries.begin(), entries.end(), id,
                                      [](const Entry& entry, ColumnId wanted) { return entry.id < wanted; });
  return place != entries.end() && place->id == id ? place->column : nullptr;
}

const StoredColumn* ColumnDirectory::Find(ColumnId id) const {
  return Share(id).get();  // the directory keeps it
}

}  // namespace stoa::storage
