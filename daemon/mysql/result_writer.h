#pragma once

#include <cstdint>
#include <vector>

#include "daemon/mysql/packet.h"
#include "sql/session/result_sink.h"

namespace stoa::daemon {

// Where full buffers go. Called by the thread that runs the statement.
class PacketOutput {
 public:
  virtual ~PacketOutput() = default;
  // Takes the packets out of `packets` and sends them; may wait for the client. Not ok: the client is gone or
  // does not read; nothing more can be sent.
  virtual Status Send(PacketWriter& packets) = 0;
};

// The session's flags as the end of each result tells them.
class StatusFlagSource {
 public:
  virtual ~StatusFlagSource() = default;
  virtual uint16_t StatusFlags() const = 0;
};

enum class RowFormat : uint8_t { kText, kBinary };

// Turns the results of a statement into MySQL packets. Small results stay in `packets` for the caller to
// send; a full buffer goes to `output`. One thread at a time, one object per command.
class ResultWriter : public sql::ResultSink {
 public:
  struct Context {
    PacketWriter& packets;
    PacketOutput& output;
    const StatusFlagSource& flags;
    uint32_t capabilities = 0;
    RowFormat format = RowFormat::kText;
  };
  explicit ResultWriter(const Context& context) : context_(context) {}

  Status Columns(std::span<const sql::ResultColumn> columns) override;
  Status Row(std::span<const sql::Cell> cells) override;
  Status End(const sql::ResultEnd& end) override;
  Status Ok(const sql::OkInfo& ok) override;
  Status Error(const Status& error) override;

  // Answers that are not results of statements.
  void Eof();                                                   // COM_SET_OPTION
  void ColumnList(std::span<const sql::ResultColumn> columns);  // COM_FIELD_LIST
  void Prepared(uint32_t id, std::span<const sql::ResultColumn> columns, size_t parameters);

  // The answer is complete: the last call was Error(), or Ok() or End() without more results.
  bool complete() const { return complete_; }
  bool output_failed() const { return output_failed_; }
  uint64_t rows() const { return rows_; }
  size_t results() const { return results_; }

 private:
  bool deprecate_eof() const;
  uint16_t Flags(bool more_results) const;
  void EofPacket(uint16_t warnings, uint16_t flags);
  void OkPacket(char header, const sql::OkInfo& ok);
  Status SendIfFull();

  Context context_;
  std::vector<sql::ValueType> types_;
  bool complete_ = false;
  bool output_failed_ = false;
  uint64_t rows_ = 0;
  size_t results_ = 0;
};

// Payload of an OK packet; `header` is 0x00, or 0xfe where it stands for EOF.
void AppendOkPayload(char header, const sql::OkInfo& ok, uint16_t flags, std::string& out);

}  // namespace stoa::daemon
