#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/json/json_value.h"

namespace stoa::sql {

// The syntax tree: what the text says, before any name is looked up. Names are lower case unless said;
// literals are unescaped. `SourceRange` are byte offsets into the statement's text.
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

enum class ParsedKind : uint8_t {
  kInteger,  // digits in `text` (no sign), value in `integer`; `out_of_range` when it does not fit 64 bits
  kFloat,    // `text` as written, value in `real`
  kString,   // `text`
  kNull,
  kBool,     // TRUE, FALSE: `integer`
  kColumn,   // `name`, perhaps `path` ("a.b[0]": name a, path .b [0]; the binder decides whether a is a table
             // alias); names in the path are as written, since JSON members differ by case
  kStar,     // * or t.*: `name` is the qualifier
  kUnary,    // `op` of args[0]: kNegate, kNot, kBitNot
  kBinary,   // args[0] `op` args[1]
  kBetween,  // args[0] BETWEEN args[1] AND args[2], `negated`
  kIn,       // args[0] IN (args[1] …), `negated`; one kUserVariable or kSubquery may stand for the list
  kIsNull,   // args[0] IS NULL, `negated` for IS NOT NULL
  kLike,     // args[0] LIKE args[1], `negated`
  kCase,     // args: [operand,] then WHEN, THEN pairs, then ELSE; `has_operand`, `has_else`
  kCast,     // CAST(args[0] AS `name`)
  kFunction,  // `name`(args), `distinct`; count(*) has one kStar argument
  kLoop,   // any/all/indexof(args[0] FOR `text` IN args[1]): `name` is the function, `text` the loop variable
  kList,   // (c1, c2, …) as an argument: MVA, vector, remap lists
  kArray,  // [..] as a value, may nest
  kNumbers,         // a list or array of nothing but numbers, as a value: `numbers`
  kOptionMap,       // {a=1, b='x'}: `options`
  kInterval,        // INTERVAL args[0] `name` (second … year)
  kSystemVariable,  // @@[scope.]name: `qualifier` is global, session or empty
  kUserVariable,    // @name
  kParameter,       // ? or ?VEC? while preparing; `is_vector_parameter`
  kMatch,           // MATCH(`text` [, table `name`]); `alias` of MATCH(...) AS a
  kKnn,             // knn(`name` [, args…]); `options`; `alias`
  kSubquery,        // (SELECT …): `subquery`
};

enum class Operator : uint8_t {
  kNone,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kIntegerDivide,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kNot,
  kNegate,
  kBitAnd,
  kBitOr,
  kBitXor,
  kBitNot,
  kShiftLeft,
  kShiftRight,
};

struct ParsedExpr;
struct SelectStatement;
using ParsedExprPtr = std::unique_ptr<ParsedExpr>;

struct ParsedOption {
  std::string name;
  ParsedExprPtr
      value;  // literal, name (kColumn), kList, kOptionMap for (a=1, b=2) or function call, e.g. expr('...')
  SourceRange range;
};

// The numbers of (1, -2.5, 3e7) or [1, -2.5, 3e7], read in one go, as floats. Whoever needs them as something
// else reads `text`, what stands between the brackets: part of the statement's text or of a parameter.
struct NumberList {
  std::string_view text;
  bool is_array = false;  // [..]
  std::vector<float> floats;
};

struct ParsedExpr {
  ParsedKind kind = ParsedKind::kNull;
  Operator op = Operator::kNone;
  SourceRange range;
  std::string name;
  std::string qualifier;
  std::string text;
  std::string alias;
  int64_t integer = 0;
  uint64_t unsigned_integer = 0;  // kInteger: the value when it fits 64 bits without sign
  double real = 0;
  bool negated = false;
  bool distinct = false;
  bool has_operand = false;
  bool has_else = false;
  bool out_of_range = false;
  bool is_vector_parameter = false;
  bool is_bound = false;  // kString: the value of a parameter
  uint16_t depth = 1;     // of this subtree, bounded by the parser: recursion over it is safe
  std::vector<ParsedExprPtr> args;
  std::vector<storage::JsonStep> path;
  std::vector<ParsedOption> options;
  std::unique_ptr<SelectStatement> subquery;
  std::unique_ptr<NumberList> numbers;
  // GROUP_CONCAT(x ORDER BY y DESC SEPARATOR ';' LIMIT n)
  struct ConcatOptions;
  std::unique_ptr<ConcatOptions> concat;

  ParsedExpr();
  ~ParsedExpr();
  // A big INSERT makes hundreds of thousands of nodes; each thread keeps some of their memory for the next
  // statement.
  static void* operator new(size_t size);
  static void operator delete(void* node);
  ParsedExpr(const ParsedExpr&) = delete;
  ParsedExpr& operator=(const ParsedExpr&) = delete;
};

struct OrderKey {
  ParsedExprPtr expr;  // kColumn (column or alias) or any expression; kFunction "rand", "facet", "count", ...
  bool descending = false;
};

struct ParsedExpr::ConcatOptions {
  std::vector<OrderKey> order;
  std::string separator = ",";
  std::optional<uint64_t> limit;
};

struct SelectItem {
  ParsedExprPtr expr;
  std::string alias;  // lower case; empty: none
  std::string
      source_text;  // the item's text, lower-cased outside quotes: its column name when it has no alias
};

struct TableReference {
  std::string database;  // empty, "manticore", "information_schema", "system", ...
  std::string name;
  std::string alias;
  std::string suffix;  // FROM t.@table, t.@files, t.@status: "@table"; t.0 / t CHUNK 0: "0"
  std::unique_ptr<SelectStatement> subquery;  // FROM (SELECT …)
};

struct JoinClause {
  bool left = false;
  TableReference table;
  ParsedExprPtr condition;
};

struct LimitClause {
  std::optional<uint64_t> limit;  // none: the default of 20
  uint64_t offset = 0;
  bool unlimited = false;  // LIMIT -1
};

struct FacetClause {
  std::vector<SelectItem> items;
  std::vector<ParsedExprPtr> by;  // empty: the items
  std::string distinct;           // DISTINCT f
  std::vector<OrderKey> order;
  LimitClause limit;
  std::string mode;  // strict, auto, max
  bool zeroes = false;
  std::string filters;  // "", "all", "filters", "exclude"
  std::vector<std::string> filter_names;
};

struct IndexHint {
  std::string name;  // secondaryindex, no_columnarscan, ...
  std::vector<std::string> columns;
};

struct SelectStatement {
  bool distinct = false;
  bool no_cache_hint = false;  // /*!40001 SQL_NO_CACHE */: mysqldump; no implicit LIMIT
  std::vector<SelectItem> items;
  std::vector<TableReference> from;  // empty: SELECT of constants
  std::vector<JoinClause> joins;
  ParsedExprPtr where;
  std::vector<ParsedExprPtr> group_by;
  uint64_t group_limit = 1;  // GROUP n BY
  std::vector<OrderKey> within_group_order;
  ParsedExprPtr having;
  std::vector<OrderKey> order_by;
  LimitClause limit;
  std::vector<ParsedOption> options;
  std::vector<std::pair<std::string, std::vector<ParsedOption>>> table_options;  // OPTION(t) (…)
  std::vector<IndexHint> hints;
  std::vector<FacetClause> facets;
};

// INSERT and REPLACE.
struct InsertStatement {
  bool replace = false;
  TableReference table;
  std::vector<std::string> columns;  // empty: all, in DESC order
  std::vector<SourceRange> column_ranges;
  std::vector<std::vector<ParsedExprPtr>> rows;  // VALUES
  std::unique_ptr<SelectStatement> select;       // … SELECT …
  // REPLACE INTO t SET c = v, … WHERE id = n: `columns` and one row; `where`.
  bool is_partial = false;
  ParsedExprPtr where;
  std::vector<ParsedOption> options;
};

struct Assignment {
  std::string column;
  std::vector<storage::JsonStep> path;
  ParsedExprPtr value;
  SourceRange range;
};

struct UpdateStatement {
  TableReference table;
  std::vector<Assignment> assignments;
  ParsedExprPtr where;
  std::vector<ParsedOption> options;
  std::vector<IndexHint> hints;
};

struct DeleteStatement {
  TableReference table;
  ParsedExprPtr where;
  std::vector<ParsedOption> options;
};

// A column of CREATE TABLE or ALTER … ADD COLUMN as written; sql/statements/table_ddl checks it.
struct ParsedColumn {
  std::string name;
  std::string type;                       // lower case as written: "int", "bit", "float_vector", "varchar"
  std::optional<uint64_t> type_argument;  // bit(4), varchar(20)
  std::vector<std::string> flags;         // indexed, stored, attribute
  std::vector<ParsedOption> options;      // engine='columnar', knn_dims='3', …
  SourceRange range;
};

struct CreateTableStatement {
  TableReference table;
  bool if_not_exists = false;
  std::vector<ParsedColumn> columns;
  std::vector<ParsedOption> settings;  // name='value', repeated names in order
  std::string like;                    // CREATE TABLE … LIKE x
  bool with_data = false;
};

struct DropTableStatement {
  std::vector<TableReference> tables;
  bool if_exists = false;
};

struct TruncateStatement {
  TableReference table;
  bool with_reconfigure = false;
};

struct AlterTableStatement {
  enum class Action : uint8_t {
    kAddColumn,
    kDropColumn,
    kModifyColumn,
    kRenameTable,
    kRenameColumn,
    kSettings,
    kRebuildSecondary,
    kRebuildKnn,
    kRebuildEmbeddings,
    kReconfigure,
  };
  TableReference table;
  Action action = Action::kSettings;
  ParsedColumn column;   // add, drop (name only), modify
  std::string new_name;  // rename
  std::vector<ParsedOption> settings;
};

// SHOW … and DESCRIBE. `what` is the canonical spelling in lower case: "tables", "full tables", "create
// table", "columns", "full columns", "index", "variables", "status", "meta", "warnings", "errors",
// "databases", "engines", "collation", "character set", "processlist", "full processlist", "threads",
// "queries", "table status", "table t status"
// ("table_status_of"), "table_settings", "table_indexes", "plugins", "settings", "version", "profile",
// "plan", "scroll", "agent status", "locks", "triggers", "function status", "procedure status", "events",
// "grants", "privileges", "storage engines", "open tables", "master status", "binary logs", "count warnings",
// "describe", ...
struct ShowStatement {
  std::string what;
  TableReference table;
  std::string scope;                  // global, session, or empty
  std::optional<std::string> like;    // unescaped pattern
  ParsedExprPtr where;                // SHOW … WHERE
  std::vector<ParsedOption> options;  // OPTION format=…
  std::optional<uint64_t> chunk;      // SHOW TABLE t CHUNK n STATUS
  std::string argument;               // SHOW AGENT 'x' STATUS, …
};

struct VariableAssignment {
  std::string scope;  // "", global, session, local, persist, "user" (@x)
  std::string name;
  ParsedExprPtr value;  // kColumn for bare words (SET x = DEFAULT, utf8, ON)
};

// SET a = 1, NAMES utf8 COLLATE x, CHARACTER SET y, TRANSACTION ISOLATION LEVEL … (the last three: scope
// "names", "character set", "transaction" with the words in value).
struct SetStatement {
  std::vector<VariableAssignment> assignments;
};

struct TransactionStatement {
  enum class Action : uint8_t {
    kBegin,
    kCommit,
    kRollback,
    kSavepoint,
    kRollbackToSavepoint,
    kReleaseSavepoint
  };
  Action action = Action::kBegin;
};

// FLUSH ramchunk t | table t | tables [with read lock] | attributes | logs | hostnames | privileges | status.
struct FlushStatement {
  std::string what;
  std::vector<TableReference> tables;
};

struct OptimizeStatement {
  TableReference table;
  std::vector<ParsedOption> options;
};

// FREEZE t, … and UNFREEZE t, ….
struct FreezeStatement {
  std::vector<TableReference> tables;
  bool unfreeze = false;
};

struct BackupStatement {
  std::vector<TableReference> tables;  // none: all
  std::string folder;
  std::vector<ParsedOption> options;
};

struct ImportTableStatement {
  TableReference table;
  std::string path;
};

// DEBUG EVICT VECTORS t: drops the vectors of a table from memory, for measurements.
struct EvictStatement {
  TableReference table;
};

struct LockTablesStatement {
  struct Lock {
    TableReference table;
    bool write = false;
  };
  std::vector<Lock> locks;
  bool unlock = false;
};

struct KillStatement {
  uint64_t id = 0;
  bool query_only = false;
};

struct UseStatement {
  std::string database;  // as written
};

// EXPLAIN QUERY t 'ft' and EXPLAIN SELECT …
struct ExplainStatement {
  TableReference table;
  std::string query;
  std::unique_ptr<SelectStatement> select;
  std::vector<ParsedOption> options;
};

struct CallStatement {
  std::string procedure;
  std::vector<ParsedExprPtr> args;
  std::vector<ParsedOption> options;  // 1 AS stats, …
};

// Statements that are OK and do nothing: empty text, comments, CREATE DATABASE, ANALYZE TABLE, …
struct NoOpStatement {
  std::string what;
};

// Statements of the dialect that later work builds: answered with 1235. `what` names it: "RESTORE", "ATTACH
// TABLE", …
struct UnbuiltStatement {
  std::string what;
  std::vector<TableReference> tables;
};

using Statement =
    std::variant<SelectStatement, InsertStatement, UpdateStatement, DeleteStatement, CreateTableStatement,
                 DropTableStatement, TruncateStatement, AlterTableStatement, ShowStatement, SetStatement,
                 TransactionStatement, FlushStatement, OptimizeStatement, FreezeStatement, BackupStatement,
                 ImportTableStatement, EvictStatement, LockTablesStatement, KillStatement, UseStatement,
                 ExplainStatement, CallStatement, NoOpStatement, UnbuiltStatement>;

}  // namespace stoa::sql
