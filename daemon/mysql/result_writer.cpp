#include "daemon/mysql/result_writer.h"

#include "daemon/mysql/cell_encoder.h"
#include "daemon/mysql/column_definition.h"
#include "daemon/mysql/error_packet.h"
#include "daemon/mysql/protocol.h"
#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

constexpr size_t kSendSize = 64 << 10;
constexpr char kOkHeader = '\x00';
constexpr char kEofHeader = '\xfe';
constexpr char kNoDefault = '\xfb';

}  // namespace

void AppendOkPayload(char header, const sql::OkInfo& ok, uint16_t flags, std::string& out) {
  out.push_back(header);
  AppendLengthInteger(ok.affected_rows, out);
  AppendLengthInteger(ok.last_insert_id, out);
  AppendFixed(flags, out);
  AppendFixed(ok.warnings, out);
  if (!ok.info.empty()) {
    AppendLengthString(ok.info, out);
  }
}

bool ResultWriter::deprecate_eof() const { return (context_.capabilities & kClientDeprecateEof) != 0; }

uint16_t ResultWriter::Flags(bool more_results) const {
  const uint16_t more = more_results ? kStatusMoreResults : 0;
  return static_cast<uint16_t>(context_.flags.StatusFlags() | more);
}

void ResultWriter::EofPacket(uint16_t warnings, uint16_t flags) {
  std::string& out = context_.packets.Begin();
  out.push_back(kEofHeader);
  AppendFixed(warnings, out);
  AppendFixed(flags, out);
  context_.packets.End();
}

void ResultWriter::OkPacket(char header, const sql::OkInfo& ok) {
  AppendOkPayload(header, ok, Flags(ok.more_results), context_.packets.Begin());
  context_.packets.End();
}

Status ResultWriter::SendIfFull() {
  if (context_.packets.size() < kSendSize) {
    return Status::Ok();
  }
  Status sent = context_.output.Send(context_.packets);
  output_failed_ = output_failed_ || !sent.ok();
  return sent;
}

Status ResultWriter::Columns(std::span<const sql::ResultColumn> columns) {
  AppendLengthInteger(columns.size(), context_.packets.Begin());
  context_.packets.End();
  types_.clear();
  for (const sql::ResultColumn& column : columns) {
    types_.push_back(column.type);
    AppendColumnDefinition(column, context_.packets.Begin());
    context_.packets.End();
  }
  if (!deprecate_eof()) {
    EofPacket(0, Flags(false));
  }
  return SendIfFull();
}

Status ResultWriter::Row(std::span<const sql::Cell> cells) {
  if (cells.size() != types_.size()) {
    return InternalError("a row of {} cells under {} columns", cells.size(), types_.size());
  }
  std::string& out = context_.packets.Begin();
  if (context_.format == RowFormat::kText) {
    AppendTextRow(cells, out);
  } else {
    AppendBinaryRow(cells, types_, out);
  }
  context_.packets.End();
  ++rows_;
  return SendIfFull();
}

Status ResultWriter::End(const sql::ResultEnd& end) {
  if (deprecate_eof()) {
    OkPacket(kEofHeader, {0, 0, end.warnings, end.more_results, end.info});
  } else {
    EofPacket(end.warnings, Flags(end.more_results));
  }
  ++results_;
  complete_ = !end.more_results;
  return SendIfFull();
}

Status ResultWriter::Ok(const sql::OkInfo& ok) {
  OkPacket(kOkHeader, ok);
  ++results_;
  complete_ = !ok.more_results;
  return SendIfFull();
}

Status ResultWriter::Error(const Status& error) {
  AppendErrorPayload(error, context_.packets.Begin());
  context_.packets.End();
  ++results_;
  complete_ = true;
  return SendIfFull();
}

void ResultWriter::ColumnList(std::span<const sql::ResultColumn> columns) {
  for (const sql::ResultColumn& column : columns) {
    std::string& out = context_.packets.Begin();
    AppendColumnDefinition(column, out);
    out.push_back(kNoDefault);
    context_.packets.End();
  }
  Eof();
}

void ResultWriter::Eof() {
  if (deprecate_eof()) {
    OkPacket(kEofHeader, {});
  } else {
    EofPacket(0, Flags(false));
  }
  complete_ = true;
}

void ResultWriter::Prepared(uint32_t id, std::span<const sql::ResultColumn> columns, size_t parameters) {
  std::string& out = context_.packets.Begin();
  out.push_back(kOkHeader);
  AppendFixed(id, out);
  AppendFixed(static_cast<uint16_t>(columns.size()), out);
  AppendFixed(static_cast<uint16_t>(parameters), out);
  out.push_back('\0');
  AppendFixed(uint16_t{0}, out);
  context_.packets.End();
  for (size_t i = 0; i < parameters; ++i) {
    AppendParameterDefinition(context_.packets.Begin());
    context_.packets.End();
  }
  if (parameters > 0 && !deprecate_eof()) {
    EofPacket(0, Flags(false));
  }
  for (const sql::ResultColumn& column : columns) {
    AppendColumnDefinition(column, context_.packets.Begin());
    context_.packets.End();
  }
  if (!columns.empty() && !deprecate_eof()) {
    EofPacket(0, Flags(false));
  }
  complete_ = true;
}

}  // namespace stoa::daemon
