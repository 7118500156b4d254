#include "sql/exec/source_readers.h"

#include <algorithm>
#include <tuple>

namespace stoa::sql {

Result<SourceReader*> SourceReaders::Column(size_t part, size_t column) {
  const auto at = std::lower_bound(open_.begin(), open_.end(), std::pair(part, column),
                                   [](const Open& open, const std::pair<size_t, size_t>& wanted) {
                                     return std::pair(open.part, open.column) < wanted;
                                   });
  if (at != open_.end() && at->part == part && at->column == column) {
    return at->reader.get();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<SourceReader> reader, source_.OpenColumn(part, column));
  SourceReader* opened = reader.get();
  if (open_.size() >= kMostOpen) {
    open_.clear();
    open_.push_back({part, column, std::move(reader)});
  } else {
    open_.insert(at, {part, column, std::move(reader)});
  }
  return opened;
}

Status SourceReaders::Read(size_t part, size_t column, std::span<const RowId> rows, Vector& out) {
  ASSIGN_OR_RETURN(SourceReader* const reader, Column(part, column));
  return reader->Read(rows, out);
}

Status SourceReaders::ReadIds(size_t part, std::span<const RowId> rows, Vector& out) {
  if (source_.has_ids()) {
    return Read(part, RowSource::kIdColumn, rows, out);
  }
  out.Reset(ValueType::kUint64, rows.size());
  std::transform(rows.begin(), rows.end(), out.ints().begin(),
                 [](RowId row) { return static_cast<int64_t>(row.value); });
  return Status::Ok();
}

void SourceReaders::Close() { open_.clear(); }

}  // namespace stoa::sql
