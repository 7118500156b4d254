#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/mysql/protocol.h"
#include "storage/base/result.h"

namespace stoa::daemon {

// One packet of the command phase: the code, and the rest as the code's parser below reads it.
struct Command {
  CommandCode code = CommandCode::kQuit;
  std::string_view arguments;
};

// kInvalid: 1835 for an empty packet, 1047 for a code that is not served.
Result<Command> ParseCommand(std::string_view payload);
// As PROCESSLIST shows it: "Query", "Execute", …
std::string_view CommandName(CommandCode code);

struct FieldListRequest {
  std::string_view table;
  std::string_view pattern;
};
Result<FieldListRequest> ParseFieldList(std::string_view arguments);

struct LongDataRequest {
  uint32_t statement = 0;
  uint16_t parameter = 0;
  std::string_view bytes;
};
Result<LongDataRequest> ParseLongData(std::string_view arguments);

// COM_STMT_CLOSE, COM_STMT_RESET, COM_PROCESS_KILL: one 32-bit number.
Result<uint32_t> ParseNumber(std::string_view arguments);

}  // namespace stoa::daemon
