#include "daemon/mysql/command.h"

#include "daemon/mysql/error_packet.h"
#include "daemon/mysql/wire.h"

namespace stoa::daemon {

Result<Command> ParseCommand(std::string_view payload) {
  if (payload.empty()) {
    return MalformedPacket("no command");
  }
  const auto code = static_cast<uint8_t>(payload[0]);
  Command command{static_cast<CommandCode>(code), payload.substr(1)};
  if (CommandName(command.code).empty()) {
    return UnknownCommand(code);
  }
  return command;
}

std::string_view CommandName(CommandCode code) {
  switch (code) {
    case CommandCode::kQuit:
      return "Quit";
    case CommandCode::kInitDb:
      return "Init DB";
    case CommandCode::kQuery:
      return "Query";
    case CommandCode::kFieldList:
      return "Field List";
    case CommandCode::kStatistics:
      return "Statistics";
    case CommandCode::kProcessKill:
      return "Kill";
    case CommandCode::kPing:
      return "Ping";
    case CommandCode::kChangeUser:
      return "Change user";
    case CommandCode::kStmtPrepare:
      return "Prepare";
    case CommandCode::kStmtExecute:
      return "Execute";
    case CommandCode::kStmtSendLongData:
      return "Long Data";
    case CommandCode::kStmtClose:
      return "Close stmt";
    case CommandCode::kStmtReset:
      return "Reset stmt";
    case CommandCode::kSetOption:
      return "Set option";
    case CommandCode::kResetConnection:
      return "Reset Connection";
  }
  return {};
}

Result<FieldListRequest> ParseFieldList(std::string_view arguments) {
  PayloadReader reader(arguments);
  FieldListRequest request;
  request.table = reader.NullTerminatedOrRest();
  request.pattern = reader.NullTerminatedOrRest();
  if (request.table.empty()) {
    return MalformedPacket("field list names no table");
  }
  return request;
}

Result<LongDataRequest> ParseLongData(std::string_view arguments) {
  PayloadReader reader(arguments);
  LongDataRequest request;
  request.statement = reader.Fixed<uint32_t>();
  request.parameter = reader.Fixed<uint16_t>();
  request.bytes = reader.Rest();
  if (reader.failed()) {
    return MalformedPacket("long data is too short");
  }
  return request;
}

Result<uint32_t> ParseNumber(std::string_view arguments) {
  PayloadReader reader(arguments);
  const uint32_t number = reader.Fixed<uint32_t>();
  if (reader.failed()) {
    return MalformedPacket("a number of four bytes is missing");
  }
  return number;
}

}  // namespace stoa::daemon
