#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "storage/base/ids.h"
#include "storage/row_batch.h"
#include "storage/schema.h"

namespace stoa::storage {

class Table;
struct TableSnapshot;

// INSERT and REPLACE. With `replace` a row that has the same id goes in the same publish; without it one is
// an error (kExists, "duplicate id '7'"). Of the same id twice in one batch: error without, the last wins
// with `replace`.
struct InsertRows {
  RowBatch rows;
  bool replace = false;
};

// Ids that do not exist (any more) are passed over.
struct DeleteRows {
  std::vector<DocId> ids;
};

// Sets columns of existing rows: `columns[c]` has one value per id. Ids that do not exist are passed over.
struct UpdateRows {
  std::vector<DocId> ids;
  std::vector<ColumnValues> columns;
};

using Change = std::variant<InsertRows, DeleteRows, UpdateRows>;

struct TableChange {
  std::shared_ptr<Table> table;
  Change change;
};

// What a statement or a transaction does, in order; may span tables. Committed as a whole or not at all.
using WriteSet = std::vector<TableChange>;

}  // namespace stoa::storage
