#include "daemon/mysql/error_packet.h"

#include "daemon/mysql/wire.h"
#include "sql/sql_error.h"

namespace stoa::daemon {

void AppendErrorPayload(const Status& error, std::string& out) {
  const uint16_t number = sql::ErrorNumber(error);
  out.push_back('\xff');
  AppendFixed(number, out);
  out.push_back('#');
  out.append(sql::SqlState(number));
  out.append(sql::ErrorText(error));
}

Status TooManyConnections() { return {StatusCode::kLimit, "too many connections", 1040}; }

Status MalformedPacket(std::string_view what) {
  return {StatusCode::kInvalid, fmt::format("malformed communication packet: {}", what), 1835};
}

Status UnknownCommand(unsigned code) {
  return {StatusCode::kInvalid, fmt::format("unknown command (code={})", code), 1047};
}

Status WrongArguments(std::string_view what) {
  return {StatusCode::kInvalid, fmt::format("incorrect arguments to execute: {}", what), 1210};
}

Status ServerShutdown() { return {StatusCode::kCancelled, "server shutdown in progress", 1053}; }

}  // namespace stoa::daemon
