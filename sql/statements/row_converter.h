#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/parser/ast.h"
#include "sql/statements/value_converter.h"
#include "storage/row_batch.h"
#include "storage/schema.h"

namespace stoa::sql {

// The columns an INSERT names (or all, in DESC order), and its rows turned into a batch. One thread at a
// time.
class RowConverter {
 public:
  // `definition` must outlive the converter. Unknown names and names given twice are errors.
  static Result<RowConverter> Make(const std::vector<std::string>& names,
                                   const storage::TableDefinition& definition,
                                   const ValueConverter::Context& context);

  // Ids that are left out or 0 stay 0 in the batch. The first bad value ends it: "row 2, column 3: …".
  Result<storage::RowBatch> Convert(const std::vector<std::vector<ParsedExprPtr>>& rows);

  // In the order of the values; the id is among them when it is given.
  const std::vector<const storage::ColumnDefinition*>& columns() const { return columns_; }

 private:
  RowConverter(std::vector<const storage::ColumnDefinition*> columns, bool named,
               const ValueConverter::Context& context);

  Status AppendRow(const std::vector<ParsedExprPtr>& row, storage::RowBatch& batch);
  storage::RowBatch EmptyBatch(size_t rows) const;

  std::vector<const storage::ColumnDefinition*> columns_;
  std::vector<ValueConverter> converters_;  // by position; the one of the id is not used
  bool named_;
  std::string_view statement_;
};

}  // namespace stoa::sql
