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
  friend auto operator<=>(const RowRef&, const RowRef&) = default;
};

// Reads one column of one part of a source. One thread at a time; valid while the source is.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  // Values for ascending `rows` of the part.
  virtual Status Read(std::span<const RowId> rows, Vector& out) = 0;
  // As storage::ColumnReader::Select(); kUnsupported when this column does not test its values.
  virtual Status Select(uint32_t block, const storage::ColumnPredicate& predicate,
                        storage::BlockBits& bits) = 0;
};

// The rows a SELECT reads, in numbered parts with numbered columns: one or several table snapshots, or rows
// in memory. Immutable and safe to share.
class RowSource {
 public:
  static constexpr size_t kIdColumn = 0;

  virtual ~RowSource() = default;

  const std::vector<SourceColumn>& columns() const { return columns_; }
  int FindColumn(std::string_view name) const;  // -1 when absent

  virtual size_t part_count() const = 0;
  virtual uint32_t row_count(size_t part) const = 0;
  virtual const storage::DeleteMap& deleted(size_t part) const = 0;
  virtual uint64_t live_count() const = 0;
  virtual Result<std::unique_ptr<SourceReader>> OpenColumn(size_t part, size_t column) const = 0;
  // Whether rows have document ids, in the column kIdColumn.
  virtual bool has_ids() const = 0;
  // The table snapshots it is the union of, their parts in this order; none for rows in memory.
  virtual std::span<const std::shared_ptr<const storage::TableSnapshot>> tables() const { return {}; }
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
