#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/mysql/protocol.h"
#include "sql/value.h"
#include "storage/base/result.h"

namespace stoa::daemon {

struct ParameterType {
  WireType type = WireType::kNull;
  bool is_unsigned = false;
};

// What the wire protocol remembers of one prepared statement between its commands; the statement itself is
// the SQL session's. One thread at a time.
class PreparedParameters {
 public:
  PreparedParameters() = default;
  PreparedParameters(std::string text, size_t count) : text_(std::move(text)), count_(count) {}

  const std::string& text() const { return text_; }
  size_t count() const { return count_; }

  // COM_STMT_SEND_LONG_DATA has no answer: what is wrong is told by the next execute.
  void AddLongData(uint16_t parameter, std::string_view bytes, uint64_t limit);
  // COM_STMT_RESET.
  void ForgetLongData();
  // The part of COM_STMT_EXECUTE behind the statement's id. 1210 when it does not fit the number of
  // parameters. Long data is used up, also by a failure.
  Result<std::vector<sql::Value>> Decode(std::string_view arguments);

 private:
  Result<std::vector<sql::Value>> DecodeAll(std::string_view arguments);

  std::string text_;
  size_t count_ = 0;
  std::vector<ParameterType> types_;  // of the last execute that sent them
  std::map<uint16_t, std::string> long_data_;
  uint64_t long_bytes_ = 0;
  Status long_error_;
};

// The prepared statements of a connection by id.
class PreparedStatements {
 public:
  static constexpr size_t kMaxStatements = 65536;

  bool full() const { return statements_.size() >= kMaxStatements; }
  void Add(uint32_t id, std::string text, size_t parameters) {
    statements_[id] = PreparedParameters(std::move(text), parameters);
  }
  // nullptr: no such statement.
  PreparedParameters* Find(uint32_t id);
  void Remove(uint32_t id) { statements_.erase(id); }
  void Clear() { statements_.clear(); }

 private:
  std::map<uint32_t, PreparedParameters> statements_;
};

}  // namespace stoa::daemon
