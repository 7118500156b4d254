#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql/parser/ast.h"
#include "storage/row_batch.h"
#include "storage/table/table.h"
#include "storage/table/write_set.h"

namespace stoa::sql {

// SET j.a.b[0] = constant.
struct JsonPathUpdate {
  ColumnId column;
  const std::vector<storage::JsonStep>* path = nullptr;
  const ParsedExpr* value = nullptr;
};

// Makes the new values of JSON columns of which parts are set. Reads the rows of a snapshot, and over them
// what the open transaction has pending. One statement at a time.
class JsonPathUpdater {
 public:
  JsonPathUpdater(const storage::TableSnapshot& snapshot, const storage::Table& table,
                  const storage::WriteSet& pending)
      : snapshot_(snapshot), table_(table), pending_(pending) {}

  // One ColumnValues per column that `updates` name, with a value for each of `ids`. A part that a row does
  // not have, or has with another type, stays as it is in that row.
  Result<std::vector<storage::ColumnValues>> Apply(const std::vector<JsonPathUpdate>& updates,
                                                   const std::vector<DocId>& ids);

  // How many of the updates changed no row at all, and how many missed at least one.
  size_t refused_everywhere() const { return refused_everywhere_; }
  size_t refused_somewhere() const { return refused_somewhere_; }

 private:
  Result<std::string> CurrentValue(const storage::ColumnDefinition& column, DocId id);

  const storage::TableSnapshot& snapshot_;
  const storage::Table& table_;
  const storage::WriteSet& pending_;
  std::vector<std::unique_ptr<storage::ColumnReader>> readers_;  // of the current column, by part
  size_t refused_everywhere_ = 0;
  size_t refused_somewhere_ = 0;
};

}  // namespace stoa::sql
