#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"
#include "storage/table/write_set.h"

namespace stoa::storage {

// A change of the log: the table by the id it had when the change was committed.
struct LoggedChange {
  TableId table;
  Change change;
};

// The payload of a log record, docs/format/transaction.md. Values carry their column's id and type, so that
// they can be applied to a later definition of the table.
class WriteSetWriter {
 public:
  void Add(TableId table, const Change& change);
  std::string Finish() &&;

 private:
  std::string body_;
  uint64_t count_ = 0;
};

// kCorrupt with the offset in the payload.
Result<std::vector<LoggedChange>> DecodeWriteSet(std::string_view payload);

}  // namespace stoa::storage
