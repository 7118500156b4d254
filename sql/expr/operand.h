#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sql/expr/expr.h"

// What the nodes of expressions share: kinds of values, and reading an operand for a batch.
namespace stoa::sql {

enum class ValueClass : uint8_t { kNull, kInteger, kReal, kText, kJson, kSet, kVector };
ValueClass ClassOf(ValueType type);
inline bool IsNumber(ValueClass kind) { return kind == ValueClass::kInteger || kind == ValueClass::kReal; }

// The values of `expr` for the batch: a slot's own vector, else `scratch` after evaluation. Checked: as many
// values as the batch has rows, in the lane of the expression's type.
Result<const Vector*> ReadOperand(const Expr& expr, Batch& batch, Vector& scratch);

// The values of several expressions for one batch after another, read as by ReadOperand(): columns are not
// copied. Values are valid until the batch or the same operand is read again. One thread at a time.
class Operands {
 public:
  explicit Operands(size_t count) : values_(count), scratch_(count) {}

  size_t size() const { return values_.size(); }
  Status Read(size_t operand, const Expr& expr, Batch& batch) {
    ASSIGN_OR_RETURN(values_[operand], ReadOperand(expr, batch, scratch_[operand]));
    return Status::Ok();
  }
  const Vector& operator[](size_t operand) const { return *values_[operand]; }

 private:
  std::vector<const Vector*> values_;
  std::vector<Vector> scratch_;
};

// Makes the value NULL, with the lane value NULLs have.
void SetNullValue(Vector& out, size_t row);
// NULL in `out` where `in` is.
void CopyNulls(const Vector& in, Vector& out);

// `text`, a value of `source`, for a result that outlives the vector it was read from: copied into `out`
// unless a column or a constant holds it.
std::string_view KeepText(const Expr& source, std::string_view text, Vector& out);

// The number a text is: as a whole, blanks around it aside.
std::optional<double> ParseNumber(std::string_view text);
// MySQL's view of a text as a number: its longest numeric beginning, else 0.
double LeadingDouble(std::string_view text);
int64_t LeadingInteger(std::string_view text);
// Toward zero; what does not fit becomes the nearest int64, NaN 0.
int64_t TruncateToInteger(double value);

}  // namespace stoa::sql
