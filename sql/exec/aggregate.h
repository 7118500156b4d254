#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sql/bind/name_scope.h"
#include "sql/expr/vector.h"

namespace stoa::sql {

// Which rows of a batch go to which groups: row rows[i] of the batch counts for group groups[i]. A row stands
// more than once when it was grouped by a set.
struct GroupedRows {
  std::span<const uint32_t> groups;
  std::span<const uint32_t> rows;
  bool whole = false;  // all rows of the batch, in order, to group 0
};

// The running values of one aggregate function for all groups of a query. Exact. One thread at a time.
class Aggregate {
 public:
  virtual ~Aggregate() = default;

  ValueType type() const { return type_; }
  // Makes room for groups 0 … count-1; new ones are empty.
  virtual void Resize(size_t count) = 0;
  // `argument` holds the batch's values; unused by COUNT(*).
  virtual void Update(const GroupedRows& input, const Vector& argument) = 0;
  // COUNT(*) alone: it needs no rows, only their number.
  virtual bool only_counts_rows() const { return false; }
  virtual void AddUnread(uint32_t /*group*/, uint64_t /*rows*/) {}
  virtual void Read(std::span<const uint32_t> groups, Vector& out) const = 0;

 protected:
  explicit Aggregate(ValueType type) : type_(type) {}

 private:
  ValueType type_;
};

// An aggregate call of a query: count, sum, avg, min, max, group_concat, stddev, variance; `argument` is
// empty for count(*).
struct AggregateCall {
  std::string function;
  bool distinct = false;
  SharedExpr argument;
  std::string separator = ",";
  std::unique_ptr<Aggregate> state;
};

bool IsAggregateName(std::string_view function);
// Makes the empty state that fits the function and the type of its argument; kInvalid when they do not fit.
Result<std::unique_ptr<Aggregate>> MakeAggregate(const AggregateCall& call, Collation collation);

}  // namespace stoa::sql
