#include "sql/exec/row_source.h"

#include <algorithm>
#include <numeric>

#include "sql/statements/display_order.h"

namespace stoa::sql {

ValueType ValueTypeOf(storage::ColumnType type) {
  using storage::ColumnType;
  switch (type) {
    case ColumnType::kId:
      return ValueType::kUint64;
    case ColumnType::kText:
      return ValueType::kText;
    case ColumnType::kString:
      return ValueType::kString;
    case ColumnType::kInt:
    case ColumnType::kBool:
    case ColumnType::kTimestamp:
      return ValueType::kInt;
    case ColumnType::kBigint:
      return ValueType::kBigint;
    case ColumnType::kFloat:
      return ValueType::kFloat;
    case ColumnType::kJson:
      return ValueType::kJson;
    case ColumnType::kMulti:
      return ValueType::kMulti;
    case ColumnType::kMulti64:
      return ValueType::kMulti64;
    case ColumnType::kFloatVector:
      return ValueType::kFloatVector;
    case ColumnType::kFloatVectorArray:
      return ValueType::kFloatVectorArray;
  }
  return ValueType::kNull;
}

int RowSource::FindColumn(std::string_view name) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

namespace {

class TableColumn : public SourceReader {
 public:
  TableColumn(const SourceColumn& column, std::unique_ptr<storage::ColumnReader> reader)
      : type_(column.type), lane_(storage::LaneOf(column.column_type)), reader_(std::move(reader)) {}

  Status Read(std::span<const RowId> rows, Vector& out) override {
    out.Reset(type_, rows.size());
    switch (lane_) {
      case storage::Lane::kInt:
        return reader_->ReadInts(rows, out.ints());
      case storage::Lane::kFloat:
        return ReadFloats(rows, out);
      case storage::Lane::kBytes:
        return ReadTexts(rows, out);
    }
    return InternalError("column of no lane");
  }

  Status Select(uint32_t block, const storage::ColumnPredicate& predicate,
                storage::BlockBits& bits) override {
    return reader_->Select(block, predicate, bits);
  }

 private:
  Status ReadFloats(std::span<const RowId> rows, Vector& out) {
    floats_.resize(rows.size());
    RETURN_IF_ERROR(reader_->ReadFloats(rows, floats_));
    std::copy(floats_.begin(), floats_.end(), out.reals().begin());
    return Status::Ok();
  }

  Status ReadTexts(std::span<const RowId> rows, Vector& out) {
    RETURN_IF_ERROR(reader_->ReadBytes(rows, out.texts(), out.buffer()));
    for (size_t i = 0; type_ == ValueType::kJson && i < rows.size(); ++i) {
      if (out.texts()[i].empty()) {  // the row has no JSON
        out.SetNull(i);
      }
    }
    return Status::Ok();
  }

  ValueType type_;
  storage::Lane lane_;
  std::unique_ptr<storage::ColumnReader> reader_;
  std::vector<float> floats_;
};

class TableSource : public RowSource {
 public:
  explicit TableSource(std::vector<std::shared_ptr<const storage::TableSnapshot>> tables)
      : tables_(std::move(tables)) {
    CollectColumns();
    for (size_t table = 0; table < tables_.size(); ++table) {
      for (const auto& part : tables_[table]->parts) {
        parts_.push_back({table, part.get()});
      }
    }
  }

  size_t part_count() const override { return parts_.size(); }
  uint32_t row_count(size_t part) const override { return parts_[part].part->row_count(); }
  const storage::DeleteMap& deleted(size_t part) const override { return parts_[part].part->deleted(); }
  uint64_t live_count() const override {
    return std::accumulate(tables_.begin(), tables_.end(), uint64_t{0},
                           [](uint64_t sum, const auto& table) { return sum + table->live_count(); });
  }

  bool has_ids() const override { return true; }
  std::span<const std::shared_ptr<const storage::TableSnapshot>> tables() const override { return tables_; }

  Result<std::unique_ptr<SourceReader>> OpenColumn(size_t part, size_t column) const override {
    const Part& from = parts_[part];
    ASSIGN_OR_RETURN(std::unique_ptr<storage::ColumnReader> reader,
                     from.part->Column(*definitions_[from.table][column]));
    return std::unique_ptr<SourceReader>(std::make_unique<TableColumn>(columns_[column], std::move(reader)));
  }

  Result<bool> FindDocument(DocId id, std::vector<RowRef>& found) const override {
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      ASSIGN_OR_RETURN(const std::optional<RowId> row, parts_[part].part->FindDocument(id));
      if (row.has_value()) {
        found.push_back({part, *row});
      }
    }
    return true;
  }

 private:
  struct Part {
    size_t table;
    const storage::TablePart* part;
  };

  void CollectColumns() {
    definitions_.resize(tables_.size());
    for (const storage::ColumnDefinition* column : DisplayOrder(*tables_[0]->definition)) {
      std::vector<const storage::ColumnDefinition*> same(tables_.size());
      const bool everywhere = std::all_of(tables_.begin(), tables_.end(), [&](const auto& table) {
        const storage::ColumnDefinition* other = table->definition->Find(column->name);
        same[static_cast<size_t>(&table - tables_.data())] = other;
        return other != nullptr && other->type == column->type;
      });
      if (!everywhere) {
        continue;
      }
      columns_.push_back({column->name, ValueTypeOf(column->type), column->type, column->is_attribute(),
                          column->type != storage::ColumnType::kText || column->stored});
      for (size_t table = 0; table < tables_.size(); ++table) {
        definitions_[table].push_back(same[table]);
      }
    }
  }

  std::vector<std::shared_ptr<const storage::TableSnapshot>> tables_;
  std::vector<std::vector<const storage::ColumnDefinition*>> definitions_;  // per table, by column
  std::vector<Part> parts_;
};

class MemoryColumn : public SourceReader {
 public:
  MemoryColumn(const std::vector<std::vector<Value>>& rows, size_t column, ValueType type)
      : rows_(rows), column_(column), type_(type) {}

  Status Read(std::span<const RowId> rows, Vector& out) override {
    out.Reset(type_, rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      out.Set(i, rows_[rows[i].value][column_]);
    }
    return Status::Ok();
  }

  Status Select(uint32_t, const storage::ColumnPredicate&, storage::BlockBits&) override {
    return UnsupportedError("rows in memory do not test their values");
  }

 private:
  const std::vector<std::vector<Value>>& rows_;
  size_t column_;
  ValueType type_;
};

class MemorySource : public RowSource {
 public:
  explicit MemorySource(VirtualTable table) : rows_(std::move(table.rows)) {
    for (const ResultColumn& column : table.columns) {
      SourceColumn source;
      source.name = column.name;
      source.type = column.type == ValueType::kText ? ValueType::kString : column.type;
      columns_.push_back(std::move(source));
    }
  }

  size_t part_count() const override { return 1; }
  uint32_t row_count(size_t) const override { return static_cast<uint32_t>(rows_.size()); }
  const storage::DeleteMap& deleted(size_t) const override { return none_deleted_; }
  uint64_t live_count() const override { return rows_.size(); }

  bool has_ids() const override { return false; }

  Result<std::unique_ptr<SourceReader>> OpenColumn(size_t, size_t column) const override {
    return std::unique_ptr<SourceReader>(
        std::make_unique<MemoryColumn>(rows_, column, columns_[column].type));
  }

  Result<bool> FindDocument(DocId, std::vector<RowRef>&) const override { return false; }

 private:
  std::vector<std::vector<Value>> rows_;
  storage::DeleteMap none_deleted_;
};

}  // namespace

std::shared_ptr<const RowSource> MakeTableSource(
    std::vector<std::shared_ptr<const storage::TableSnapshot>> tables) {
  return std::make_shared<TableSource>(std::move(tables));
}

std::shared_ptr<const RowSource> MakeMemorySource(VirtualTable table) {
  return std::make_shared<MemorySource>(std::move(table));
}

}  // namespace stoa::sql
