#pragma once

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace stoa::daemon {

// Payload of an ERR packet: number, SQLSTATE and text of sql/sql_error.h.
void AppendErrorPayload(const Status& error, std::string& out);

// Errors of the protocol itself.
Status TooManyConnections();                    // 1040
Status MalformedPacket(std::string_view what);  // 1835
Status UnknownCommand(unsigned code);           // 1047
Status WrongArguments(std::string_view what);   // 1210
Status ServerShutdown();                        // 1053

}  // namespace stoa::daemon
