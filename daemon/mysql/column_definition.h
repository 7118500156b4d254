#pragma once

#include <string>

#include "daemon/mysql/protocol.h"
#include "sql/session/result_sink.h"

namespace stoa::daemon {

// How a column of `type` travels.
WireType ColumnWireType(sql::ValueType type);
// Payload of a column definition packet.
void AppendColumnDefinition(const sql::ResultColumn& column, std::string& out);
// The definition of a parameter of a prepared statement: "?", a string.
void AppendParameterDefinition(std::string& out);

}  // namespace stoa::daemon
