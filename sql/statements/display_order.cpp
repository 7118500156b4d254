#include "sql/statements/display_order.h"

#include <algorithm>

namespace stoa::sql {

int DisplayRank(const storage::ColumnDefinition& column) {
  switch (column.type) {
    case storage::ColumnType::kId:
      return 0;
    case storage::ColumnType::kText:
      return 1;
    default:
      return column.indexed ? 2 : 3;
  }
}

std::vector<const storage::ColumnDefinition*> DisplayOrder(const storage::TableDefinition& definition) {
  std::vector<const storage::ColumnDefinition*> columns;
  columns.reserve(definition.columns.size());
  for (const storage::ColumnDefinition& column : definition.columns) {
    columns.push_back(&column);
  }
  std::stable_sort(columns.begin(), columns.end(),
                   [](const auto* a, const auto* b) { return DisplayRank(*a) < DisplayRank(*b); });
  return columns;
}

void InsertInDisplayOrder(storage::ColumnDefinition column, std::vector<storage::ColumnDefinition>& columns) {
  const int rank = DisplayRank(column);
  const auto place = std::find_if(columns.begin(), columns.end(),
                                  [rank](const auto& other) { return DisplayRank(other) > rank; });
  columns.insert(place, std::move(column));
}

}  // namespace stoa::sql
