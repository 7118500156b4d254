#include "sql/statements/row_converter.h"

#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/display_order.h"

namespace stoa::sql {

using storage::ColumnDefinition;
using storage::ColumnType;

RowConverter::RowConverter(std::vector<const ColumnDefinition*> columns, bool named,
                           const ValueConverter::Context& context)
    : columns_(std::move(columns)), named_(named), statement_(context.statement) {
  converters_.reserve(columns_.size());
  for (const ColumnDefinition* column : columns_) {
    converters_.emplace_back(*column, context);
  }
}

Result<RowConverter> RowConverter::Make(const std::vector<std::string>& names,
                                        const storage::TableDefinition& definition,
                                        const ValueConverter::Context& context) {
  if (names.empty()) {
    return RowConverter(DisplayOrder(definition), false, context);
  }
  std::vector<const ColumnDefinition*> columns;
  for (const std::string& name : names) {
    const ColumnDefinition* column = definition.Find(name);
    if (column == nullptr) {
      return InvalidError("unknown column: '{}'", name);
    }
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
      return ColumnTwice(name);
    }
    columns.push_back(column);
  }
  return RowConverter(std::move(columns), true, context);
}

storage::RowBatch RowConverter::EmptyBatch(size_t rows) const {
  storage::RowBatch batch;
  batch.ids.reserve(rows);
  for (const ColumnDefinition* column : columns_) {
    if (column->type == ColumnType::kId) {
      continue;
    }
    storage::ColumnValues& values = batch.columns.emplace_back();
    values.column = column->id;
    values.type = column->type;
    switch (storage::LaneOf(column->type)) {
      case storage::Lane::kInt:
        values.ints.reserve(rows);
        break;
      case storage::Lane::kFloat:
        values.floats.reserve(rows);
        break;
      case storage::Lane::kBytes:
        values.offsets.reserve(rows + 1);
        break;
    }
  }
  return batch;
}

Result<storage::RowBatch> RowConverter::Convert(const std::vector<std::vector<ParsedExprPtr>>& rows) {
  storage::RowBatch batch = EmptyBatch(rows.size());
  for (const std::vector<ParsedExprPtr>& row : rows) {
    if (row.size() != columns_.size()) {
      return InvalidError("column count does not match {} (expected {}, got {})",
                          named_ ? "value count" : "schema", columns_.size(), row.size());
    }
    RETURN_IF_ERROR(AppendRow(row, batch));
  }
  return batch;
}

Status RowConverter::AppendRow(const std::vector<ParsedExprPtr>& row, storage::RowBatch& batch) {
  uint64_t id = 0;
  size_t target = 0;  // in batch.columns, which leave out the id
  for (size_t i = 0; i < row.size(); ++i) {
    Status status;
    if (columns_[i]->type == ColumnType::kId) {
      const Result<uint64_t> given = ReadDocumentId(*row[i], statement_);
      status = given.status();
      id = given.ok() ? *given : 0;
    } else {
      status = converters_[i].Append(*row[i], batch.columns[target++]);
    }
    if (!status.ok()) {
      return status.number() != 0
                 ? status
                 : status.WithContext(fmt::format("row {}, column {}", batch.ids.size() + 1, i + 1));
    }
  }
  batch.ids.emplace_back(id);
  return Status::Ok();
}

}  // namespace stoa::sql
