#include "sql/exec/capture_sink.h"

namespace stoa::sql {

Status CaptureSink::Columns(std::span<const ResultColumn> columns) {
  table_.columns.assign(columns.begin(), columns.end());
  return Status::Ok();
}

Status CaptureSink::Row(std::span<const Cell> cells) {
  std::vector<Value>& row = table_.rows.emplace_back();
  row.reserve(cells.size());
  for (const Cell& cell : cells) {
    row.push_back(Value{cell.type, cell.integer, cell.real, std::string(cell.bytes)});
    bytes_ += sizeof(Value) + cell.bytes.size();
  }
  if (bytes_ > most_bytes_) {
    return LimitError("the rows of a sub-select take more than {} bytes, give it a LIMIT", most_bytes_);
  }
  return Status::Ok();
}

}  // namespace stoa::sql
