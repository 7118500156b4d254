#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sql/expr/expr.h"
#include "sql/parser/ast.h"
#include "storage/schema.h"

namespace stoa::sql {

// The collation that strings compare by (SO-08).
enum class Collation : uint8_t { kLibcCi, kLibcCs, kUtf8GeneralCi, kBinary };
Result<Collation> ParseCollation(std::string_view name);

// What binding an expression needs to know of its statement's session. Values, so that binding is repeatable.
struct BindContext {
  std::string table_name;  // for "table t: unknown column: x"
  Collation collation = Collation::kLibcCi;
  std::string timezone = "UTC";  // IANA name
  int64_t now_seconds = 0;       // NOW(): one value a statement
  int64_t now_micros = 0;
  uint64_t connection_id = 0;
  std::string user = "Usual";
  std::string last_insert_id;  // comma list
  std::string version;
  uint64_t uuid_short_seed = 0;
  uint64_t rand_seed = 0;
};

// What a name means where an expression stands. The select executor implements it: table columns and item
// aliases for the scan, result columns for HAVING and ORDER BY.
class NameScope {
 public:
  struct Column {
    size_t slot = 0;
    ValueType type = ValueType::kNull;
    storage::ColumnType column_type = storage::ColumnType::kInt;
    bool is_attribute = true;
    bool stored = true;  // text
  };

  virtual ~NameScope() = default;

  // A column of the table(s) by its lower-case name; the slot is added to what the scan reads.
  virtual std::optional<Column> FindColumn(std::string_view name) = 0;
  // The expression of an earlier select item with this alias; nullptr when there is none.
  virtual SharedExpr FindAlias(std::string_view alias) = 0;
  // Whether `name` is the table (or its alias), as in t.column.
  virtual bool IsTableName(std::string_view name) const = 0;
  // Values of @@variables inside expressions: nullopt when unknown.
  virtual std::optional<Value> SystemVariable(std::string_view scope, std::string_view name) = 0;
  virtual std::optional<Value> UserVariable(std::string_view name) = 0;
  // weight(), knn_dist(), groupby(), count(*) and other names with a meaning of their own where they stand:
  // an expression, nullptr when this scope does not know it, or an error that says why it cannot stand here.
  virtual Result<SharedExpr> FindSpecial(const ParsedExpr& call) = 0;
  // Warnings of the statement (SHOW WARNINGS).
  virtual void AddWarning(std::string text) = 0;

  virtual const BindContext& context() const = 0;
};

}  // namespace stoa::sql
