#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/value.h"
#include "storage/base/status.h"

namespace stoa::sql {

struct ResultColumn {
  std::string name;
  ValueType type = ValueType::kString;
  std::string table;  // table and original name where known, else empty
  std::string original_name;
  uint32_t length = 0;  // most bytes of the text form; 0: by type
  bool is_bool = false;
};

// One cell; borrowed bytes are valid during the call only.
struct Cell {
  ValueType type = ValueType::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view bytes;  // kString, kText as they are; sets, vectors (and kJson, see below) in stored form
};

struct ResultEnd {
  uint16_t warnings = 0;
  bool more_results = false;
  std::string info;
};

struct OkInfo {
  uint64_t affected_rows = 0;
  uint64_t last_insert_id = 0;
  uint16_t warnings = 0;
  bool more_results = false;
  std::string info;
};

// Where the results of a statement go, in order: per result either Ok(), or Columns() Row()* End(), or
// Error() – also after some rows – which is the last call of the batch. The daemon writes MySQL packets;
// tests collect. A status from Columns() or Row() (client gone) makes the statement stop and return it.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual Status Columns(std::span<const ResultColumn> columns) = 0;
  virtual Status Row(std::span<const Cell> cells) = 0;
  virtual Status End(const ResultEnd& end) = 0;
  virtual Status Ok(const OkInfo& ok) = 0;
  virtual Status Error(const Status& error) = 0;
  // JSON cells come in stored form, for a statement that reads them again; else as texts (kString).
  virtual bool takes_stored_json() const { return false; }
};

}  // namespace stoa::sql
