#pragma once

#include <cstdint>
#include <vector>

#include "sql/session/result_sink.h"
#include "sql/session/system_variables.h"

namespace stoa::sql {

// Keeps the first result set in memory: sub-selects, CREATE TABLE … LIKE … WITH DATA, SET x = (SELECT …).
class CaptureSink : public ResultSink {
 public:
  // A sub-select is read by an outer statement: JSON stays JSON, and it must fit in `most_bytes` of memory.
  static CaptureSink ForSubselect(uint64_t most_bytes) {
    CaptureSink sink;
    sink.stored_json_ = true;
    sink.most_bytes_ = most_bytes;
    return sink;
  }

  Status Columns(std::span<const ResultColumn> columns) override;
  Status Row(std::span<const Cell> cells) override;
  Status End(const ResultEnd&) override { return Status::Ok(); }
  Status Ok(const OkInfo&) override { return Status::Ok(); }
  Status Error(const Status& error) override { return error; }

  bool takes_stored_json() const override { return stored_json_; }

  VirtualTable Take() { return std::move(table_); }

 private:
  bool stored_json_ = false;
  uint64_t most_bytes_ = UINT64_MAX;
  uint64_t bytes_ = 0;
  VirtualTable table_;
};

}  // namespace stoa::sql
