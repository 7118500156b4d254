#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"

namespace stoa::storage {

enum class ColumnType : uint8_t {
  kId,  // the document id, always the first column
  kText,
  kString,
  kInt,  // 32 bits without sign; `bits` < 32 makes it a bit field
  kBigint,
  kBool,
  kTimestamp,  // seconds since 1970, 32 bits without sign
  kFloat,
  kJson,
  kMulti,    // set of kInt values, sorted, unique
  kMulti64,  // set of kBigint values, sorted, unique
  kFloatVector,
  kFloatVectorArray,
};

enum class Engine : uint8_t { kRowwise, kColumnar };

// How the values of a column are held while they travel (ColumnReader, RowBatch).
enum class Lane : uint8_t { kInt, kFloat, kBytes };
Lane LaneOf(ColumnType type);

// knn_type and its options as declared (features.md 2.1).
struct KnnOptions {
  uint32_t dims = 0;
  std::string similarity = "l2";  // l2, ip, cosine
  uint32_t hnsw_m = 16;
  uint32_t hnsw_ef_construction = 200;
  std::string quantization = "none";  // none, 8bit, 4bit, 1bit, 1bitsimple
  friend bool operator==(const KnnOptions&, const KnnOptions&) = default;
};

struct ColumnDefinition {
  ColumnId id;
  std::string name;  // lower case
  ColumnType type = ColumnType::kInt;
  uint8_t bits = 32;              // kInt: 1 … 32
  bool indexed = false;           // full-text field (text; string indexed)
  bool stored = false;            // text: original is kept and can be read back
  bool attribute = false;         // string declared with the word attribute
  std::optional<Engine> engine;   // as declared on the column; none: the table's
  bool fast_fetch = true;         // columnar only
  bool hash = true;               // columnar strings only
  bool secondary_index = false;   // json only
  std::optional<KnnOptions> knn;  // float_vector(_array) with knn_type='hnsw'
  friend bool operator==(const ColumnDefinition&, const ColumnDefinition&) = default;

  bool is_field() const { return indexed || type == ColumnType::kText; }
  // Full-text fields that are not attributes can be neither filtered nor sorted.
  bool is_attribute() const { return type != ColumnType::kText; }
};

enum class TableKind : uint8_t { kRealTime, kPercolate, kDistributed };

// What CREATE TABLE said, changed by ALTER. Immutable once published in a snapshot.
struct TableDefinition {
  TableId id;
  std::string name;  // lower case
  TableKind kind = TableKind::kRealTime;
  std::vector<ColumnDefinition> columns;        // columns[0] is the id
  std::map<std::string, std::string> settings;  // normalised: sizes in bytes; only what was given
  std::vector<std::string> setting_order;       // keys of `settings` as first given
  std::vector<std::string> local_tables;        // kDistributed
  uint32_t next_column_id = 1;
  friend bool operator==(const TableDefinition&, const TableDefinition&) = default;

  const ColumnDefinition* Find(
      std::string_view column_name) const;                // nullptr when absent; name in lower case
  int IndexOf(ColumnId column) const;                     // -1 when absent
  bool IsColumnar(const ColumnDefinition& column) const;  // column over table engine; never json or text
};

// "uint", "mva64", ... as DESC prints, with ":4" for a bit field.
std::string DescribeType(const ColumnDefinition& column);
// "integer", "multi64", ... as SHOW CREATE TABLE prints.
std::string CreateType(const ColumnDefinition& column);

}  // namespace stoa::storage
