#include "sql/statements/virtual_rows.h"

#include <algorithm>

namespace stoa::sql {

VirtualRows::VirtualRows(std::string_view columns) {
  while (!columns.empty()) {
    const size_t comma = std::min(columns.find(','), columns.size());
    std::string_view name = columns.substr(0, comma);
    ResultColumn& column = table_.columns.emplace_back();
    if (name.starts_with('#')) {
      column.type = ValueType::kBigint;
      name.remove_prefix(1);
    }
    column.name = name;
    columns.remove_prefix(std::min(comma + 1, columns.size()));
  }
}

void VirtualRows::Add(std::vector<Value> row) {
  row.resize(table_.columns.size());
  table_.rows.push_back(std::move(row));
}

}  // namespace stoa::sql
