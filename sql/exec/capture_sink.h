#pragma once

#include <vector>

#include "sql/session/result_sink.h"
#include "sql/session/system_variables.h"

namespace stoa::sql {

// Keeps the first result set in memory: sub-selects, CREATE TABLE … LIKE … WITH DATA, SET x = (SELECT …).
class CaptureSink : public ResultSink {
 public:
  Status Columns(std::span<const ResultColumn> columns) override;
  Status Row(std::span<const Cell> cells) override;
  Status End(const ResultEnd&) override { return Status::Ok(); }
  Status Ok(const OkInfo&) override { return Status::Ok(); }
  Status Error(const Status& error) override { return error; }

  VirtualTable Take() { return std::move(table_); }

 private:
  VirtualTable table_;
};

}  // namespace stoa::sql
