#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql/expr/vector.h"
#include "sql/session/system_variables.h"
#include "storage/table/table_snapshot.h"

namespace stoa::sql {

ValueType ValueTypeOf(storage::ColumnType type);

struct SourceColumn {
  std::string name;
  ValueType type = ValueType::kNull;
  storage::ColumnType column_type = storage::ColumnType::kString;
  bool is_attribute = true;
  bool stored = true;
};

// Where a row stands in a RowSource. `kNoRow`: no row at all (the one result row of COUNT(*) over nothing).
struct RowRef {
  static constexpr uint32_t kNoRow = ~uint32_t{0};
  uint32_t part = 0;
  RowId row{kNoRow};

  bool exists() const { return row.value != kNoRow; }
};

// The rows a SELECT reads, in numbered parts with numbered columns: one or several table snapshots, or rows
// in memory. Immutable and safe to share.
class RowSource {
 public:
  virtual ~RowSource() = default;

  const std::vector<SourceColumn>& columns() const { return columns_; }
  int FindColumn(std::string_view name) const;  // -1 when absent

  virtual size_t part_count() const = 0;
  virtual uint32_t row_count(size_t part) const = 0;
  virtual const storage::DeleteMap& deleted(size_t part) const = 0;
  virtual uint64_t live_count() const = 0;
  // Values of `column` for ascending `rows` of a part.
  virtual Status Read(size_t part, size_t column, std::span<const RowId> rows, Vector& out) const = 0;
  // The document ids of rows, by which ties are broken; rows without ids count from 0.
  virtual Status ReadIds(size_t part, std::span<const RowId> rows, std::span<uint64_t> ids) const = 0;
  // Live rows of a document; false when this source has no index of ids.
  virtual Result<bool> FindDocument(DocId id, std::vector<RowRef>& found) const = 0;

 protected:
  std::vector<SourceColumn> columns_;
};

// The union of table snapshots, first table first; the columns that all of them have, with the same type.
std::shared_ptr<const RowSource> MakeTableSource(
    std::vector<std::shared_ptr<const storage::TableSnapshot>> tables);
// Rows in memory: information_schema, sub-selects.
std::shared_ptr<const RowSource> MakeMemorySource(VirtualTable table);

}  // namespace stoa::sql
