#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/parser/ast.h"
#include "sql/statements/date_text.h"
#include "sql/statements/literal.h"
#include "storage/row_batch.h"
#include "storage/schema.h"

namespace stoa::sql {

// Turns the constants that INSERT, REPLACE and UPDATE give for one column into stored values, with every
// check of its type. Keeps scratch memory between values. One thread at a time.
//
// Errors without a number (Status::number() 0) describe the value only: the caller says where it stands (row
// and column, or table and attribute). Errors with a number are complete.
class ValueConverter {
 public:
  struct Context {
    std::string_view statement;  // its text, for errors that quote it
    TimeZone zone;               // of date texts that name none
  };

  // `column` must outlive the converter; it is not the id.
  ValueConverter(const storage::ColumnDefinition& column, const Context& context)
      : column_(column), context_(context) {}

  Status Append(const ParsedExpr& value, storage::ColumnValues& out);

 private:
  Status AppendUnsigned(const ParsedExpr& value, uint64_t most, storage::ColumnValues& out);
  Status AppendBigint(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendTimestamp(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendBool(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendFloat(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendText(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendJson(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendMulti(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendMulti64(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendVector(const ParsedExpr& value, storage::ColumnValues& out);
  Status AppendRead(storage::ColumnValues& out);
  Status AppendVectorArray(const ParsedExpr& value, storage::ColumnValues& out);

  Status ReadScalar(const ParsedExpr& value, Number& number) const;
  Result<uint64_t> ToUnsigned(const ParsedExpr& value, const Number& number, uint64_t most) const;
  Result<int64_t> ToBigint(const ParsedExpr& value, const Number& number) const;
  // Adds the items of a vector literal to floats_; the length is the caller's to check.
  Status ReadVector(const ParsedExpr& list);

  const storage::ColumnDefinition& column_;
  Context context_;
  std::vector<uint32_t> items_;
  std::vector<int64_t> wide_items_;
  std::vector<float> floats_;
};

// The id a constant gives; 0 asks for an automatic one.
Result<uint64_t> ReadDocumentId(const ParsedExpr& value, std::string_view statement);

}  // namespace stoa::sql
